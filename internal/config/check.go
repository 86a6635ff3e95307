package config

import (
	"crypto/tls"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"claimdlq/internal/loopback"
)

// finish fills in what depends on other keys and checks keys against each other.
func (r *reader) finish() {
	c := &r.config
	for _, d := range []*draft{&r.x12, &r.ncpdp} {
		path := "streams." + d.route.Stream
		r.checkPolicy(path+".policy", d)
		d.route.Breaker.HoldMax = d.policy.HoldMax
		if d.route.Workers == 0 {
			d.route.Workers = c.Workers
		}
		r.checkRoute(path, &d.route)
		c.Streams[d.route.Stream] = Stream{Route: d.route, Policy: d.policy, Folder: d.folder}
	}
	r.readPartners()
	r.checkFolders()
	r.checkListen()
	r.checkSignIn()
	r.checkReceivers()
	c.overrides = hide(r.overrides)
}

func (r *reader) checkPolicy(path string, d *draft) {
	p := &d.policy
	if p.MaxReceiveLow > p.MaxReceive {
		if r.isGiven(path + ".max_receive_low") {
			r.wrongAt(path+".max_receive_low", fmt.Sprintf("must not be more than max_receive, which is %d", p.MaxReceive))
		}
		p.MaxReceiveLow = p.MaxReceive
	}
	if p.Base > p.Cap {
		at := path + ".base"
		if !r.isGiven(at) {
			at = path + ".cap"
		}
		r.wrongAt(at, fmt.Sprintf("base must not be longer than cap: they are %s and %s", sayspan(p.Base), sayspan(p.Cap)))
	}
}

// checkRoute checks the keys of one stream or partner against each other and fills
// the breaker in.
func (r *reader) checkRoute(path string, to *Route) {
	b := &to.Breaker
	at := path + ".breaker."
	if r.isGiven(at+"tier") && r.isGiven(at+"slow_after") {
		r.wrongAt(at+"tier", "tier and slow_after say the same: give one of them")
	}
	filled := b.WithDefaults()
	if r.isGiven(at+"min_samples") && b.MinSamples > filled.Window {
		r.wrongAt(at+"min_samples", fmt.Sprintf("must not be more than window, which is %d", filled.Window))
	}
	if r.isGiven(at+"max_open") && b.MaxOpen < filled.Open {
		r.wrongAt(at+"max_open", "must not be shorter than open, which is "+sayspan(filled.Open))
	}
	*b = filled
	r.needs(path, "status", "target", to.Target)
	r.needs(path, "fallback", "target", to.Target)
	r.needsAddress(path, "authorization_file", "target", to.Target)
	r.needsAddress(path, "fallback_authorization_file", "fallback", to.Fallback)
	if to.Status != "" && to.Target != "" && isURL(to.Status) != isURL(to.Target) && (r.isGiven(path+".status") || r.isGiven(path+".target")) {
		r.wrongAt(path+".status", "must be an address where target is one, and a folder where target is one")
	}
	if to.Fallback != "" && to.Fallback == to.Target && (r.isGiven(path+".fallback") || r.isGiven(path+".target")) {
		r.wrongAt(path+".fallback", "must not be the target")
	}
}

// needs says that a key makes no sense without another. A key that was given and is
// wrong has its own fault.
func (r *reader) needs(path, key, other, value string) {
	if value == "" && r.isGiven(path+"."+key) && !r.isGiven(path+"."+other) {
		r.wrongAt(path+"."+key, "goes with "+other)
	}
}

func (r *reader) needsAddress(path, key, other, value string) {
	r.needs(path, key, other, value)
	if value != "" && !isURL(value) && r.isGiven(path+"."+key) {
		r.wrongAt(path+"."+key, "goes with an address, and "+other+" is a folder")
	}
}

// checkFolders keeps input folders apart from each other and from where anything
// goes: what is delivered must not be taken in again.
func (r *reader) checkFolders() {
	used := map[string]string{}
	for _, t := range r.config.Routes() {
		path := "streams." + t.Stream
		if t.Partner != "" {
			path = under("partners", t.Partner)
		}
		for key, s := range map[string]string{"target": t.Target, "status": t.Status, "fallback": t.Fallback} {
			if s != "" && !isURL(s) && used[filepath.Clean(s)] == "" {
				used[filepath.Clean(s)] = path + "." + key
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.config.Streams)) {
		folder := r.config.Streams[name].Folder
		if folder == "" {
			continue
		}
		path := "streams." + name + ".folder"
		if other := used[filepath.Clean(folder)]; other != "" {
			r.wrongAt(path, "must be a folder of its own, and is that of "+other)
		}
		used[filepath.Clean(folder)] = path
	}
}

func (r *reader) checkListen() {
	c := &r.config
	if (c.TLS.Cert == "") != (c.TLS.Key == "") {
		for _, key := range []string{"tls.cert", "tls.key"} {
			if !r.isGiven(key) {
				r.wrongAt(key, "must be said: cert and key go together")
			}
		}
	}
	if c.TLS.Cert != "" && c.TLS.Key != "" {
		if _, err := tls.LoadX509KeyPair(c.TLS.Cert, c.TLS.Key); err != nil {
			r.wrongAt("tls.cert", "cert and key must be a certificate in PEM and the key that belongs to it")
		}
	}
	if c.TLS.Off && (r.isGiven("tls.cert") || r.isGiven("tls.key")) {
		r.wrongAt("tls.off", "must be false where there are cert and key")
	}
	if c.TLS.SelfSigned && (c.TLS.Off || r.isGiven("tls.cert") || r.isGiven("tls.key")) {
		r.wrongAt("tls.self_signed", "must be alone in tls")
	}
	if c.PayloadListen != "" && c.PayloadListen == c.Listen && !strings.HasSuffix(c.Listen, ":0") {
		r.wrongAt("payload_listen", "must be another address than listen")
	}
	if !loopback.Address(c.Listen) && !r.isGiven("token_file") {
		r.wrongAt("token_file", "must be said: other machines can reach listen, which is not a loopback address")
	}
	for _, key := range []string{"listen", "payload_listen"} {
		at := c.Listen
		if key == "payload_listen" {
			at = c.PayloadListen
		}
		if at != "" && !loopback.Address(at) && !c.TLS.Off && !r.isGiven("tls.cert") && !r.isGiven("tls.key") {
			r.wrongAt("tls.cert", "must be said: other machines can reach "+key+"; or tls.off: true where something in front of it encrypts")
			return
		}
	}
}
