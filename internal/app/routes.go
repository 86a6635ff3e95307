package app

import (
	"cmp"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"claimdlq"
	"claimdlq/flow/attempt"
	"claimdlq/retry"
	"claimdlq/target"
	"claimdlq/target/foldertarget"
	"claimdlq/target/httptarget"
)

// Endpoint says where claims go and how. What it leaves out comes from the next
// more general one: of the stream, or of everybody. One with a target of its own
// takes no status, authorization or fallback from there: they belong to the other
// target.
type Endpoint struct {
	// Target is an address (http:// or https://) or a folder.
	Target string
	// Status is where to ask what became of a delivery: an address with {isa13},
	// {sender}, {receiver} or {name} in it, or, for a folder, the folder into which
	// taken files are moved.
	Status string
	// Fallback takes what was never sent while the target's breaker is open, with an
	// authorization of its own.
	Fallback, FallbackAuthorization string
	// ContentType of what is posted. Default: application/edi-x12 for 837,
	// application/x-ncpdp for pharmacy claims.
	ContentType string
	// Authorization is sent in the header of that name. It is never shown.
	Authorization string
	// Workers is how many deliveries may be under way. Default: the stream's.
	Workers int
	// IdempotentResend: see target.Route. Default: for pharmacy claims only.
	IdempotentResend *bool
	// Breaker tunes the circuit breaker.
	Breaker *retry.Options
}

// over returns e with what it leaves out taken from the more general one.
func (e Endpoint) over(g Endpoint) Endpoint {
	if e.Target == "" {
		e.Target, e.Status, e.ContentType = g.Target, cmp.Or(e.Status, g.Status), cmp.Or(e.ContentType, g.ContentType)
		e.Authorization = cmp.Or(e.Authorization, g.Authorization)
		if e.Fallback == "" {
			e.Fallback, e.FallbackAuthorization = g.Fallback, g.FallbackAuthorization
		}
	}
	e.Workers = cmp.Or(e.Workers, g.Workers)
	e.IdempotentResend, e.Breaker = cmp.Or(e.IdempotentResend, g.IdempotentResend), cmp.Or(e.Breaker, g.Breaker)
	return e
}

// routes answers for each stream and partner. A target is made once.
type routes struct {
	endpoints map[string]Endpoint // by scope: see scopes
	now       func() time.Time

	mu    sync.Mutex
	made  map[string]target.Target // by stream, place and what goes along
	found map[[2]string]found
}

type found struct {
	route   target.Route
	breaker retry.Options
	ok      bool
}

// makeRoutes makes the targets that Options name, so that a mistake is said at the
// start and not at the first claim.
func makeRoutes(o Options) (*routes, error) {
	rs := &routes{endpoints: map[string]Endpoint{}, now: o.Now, made: map[string]target.Target{}, found: map[[2]string]found{}}
	where, err := byScope("target", o.Targets)
	if err != nil {
		return nil, err
	}
	status, err := byScope("status", o.Status)
	if err != nil {
		return nil, err
	}
	maps.Copy(rs.endpoints, o.Endpoints)
	for scope, w := range where {
		rs.endpoints[scope] = Endpoint{Target: w, Status: status[scope], Authorization: o.Authorization}
		delete(status, scope)
	}
	for scope := range status {
		return nil, &claimdlq.Error{Code: claimdlq.Invalid, Op: "read status", On: scope, Hint: "give its target with --target too"}
	}
	for scope := range rs.endpoints {
		for _, stream := range []string{claimdlq.StreamX12, claimdlq.StreamNCPDP} {
			if err := rs.check(scope, stream); err != nil {
				return nil, err
			}
		}
	}
	return rs, nil
}

// check makes the targets of a scope for a stream.
func (rs *routes) check(scope, stream string) error {
	if of, _, ok := strings.Cut(scope, "/"); (ok || isStream(scope)) && of != stream {
		return nil // it is another stream's
	}
	e := rs.endpoints[scope].over(rs.endpoints[stream]).over(rs.endpoints[""])
	for _, e := range []Endpoint{e, e.fallback()} {
		if e.Target == "" {
			continue
		}
		if _, err := rs.make(stream, e); err != nil {
			return err
		}
	}
	return nil
}

// fallback returns the fallback as an endpoint.
func (e Endpoint) fallback() Endpoint {
	return Endpoint{Target: e.Fallback, ContentType: e.ContentType, Authorization: e.FallbackAuthorization}
}

func isStream(scope string) bool {
	return scope == claimdlq.StreamX12 || scope == claimdlq.StreamNCPDP
}

// make returns the target of an endpoint, for a stream.
func (rs *routes) make(stream string, e Endpoint) (target.Target, error) {
	contentType := e.ContentType
	if contentType == "" && stream == claimdlq.StreamNCPDP {
		contentType = "application/x-ncpdp"
	}
	key := strings.Join([]string{e.Target, e.Status, contentType, e.Authorization}, "\x00")
	if t := rs.made[key]; t != nil {
		return t, nil
	}
	t, err := dial(e.Target, e.Status, contentType, e.Authorization, rs.now)
	if err == nil {
		rs.made[key] = t
	}
	return t, err
}

// dial returns the target at an address or in a folder.
func dial(where, status, contentType, authorization string, now func() time.Time) (target.Target, error) {
	if !isURL(where) {
		t, err := foldertarget.New(where, foldertarget.Options{Archive: status})
		if err != nil {
			return nil, err
		}
		return t, nil
	}
	h := http.Header{}
	if authorization != "" {
		h.Set("Authorization", authorization)
	}
	t, err := httptarget.New(where, httptarget.Options{Header: h, StatusURL: status, ContentType: contentType, Now: now})
	if err != nil {
		return nil, err
	}
	return t, nil
}

func isURL(where string) bool {
	return strings.HasPrefix(where, "http://") || strings.HasPrefix(where, "https://")
}

// byScope reads values such as "WHERE", for everybody, and "SCOPE=WHERE", for one
// stream or partner; the scope of the first is "".
func byScope(what string, specs []string) (map[string]string, error) {
	out := map[string]string{}
	for _, spec := range specs {
		scope, where := splitSpec(spec)
		if where == "" {
			return nil, &claimdlq.Error{Code: claimdlq.Invalid, Op: "read " + what, Hint: "--" + what + " takes WHERE, STREAM=WHERE or PARTNER=WHERE, where WHERE is an address or a folder"}
		}
		if _, twice := out[scope]; twice {
			return nil, &claimdlq.Error{Code: claimdlq.Invalid, Op: "read " + what, On: scope, Hint: "a partner or a stream has one, and one is for all others"}
		}
		out[scope] = where
	}
	return out, nil
}

// splitSpec cuts at the first "=" unless that belongs to an address or a path.
func splitSpec(spec string) (scope, where string) {
	before, after, found := strings.Cut(spec, "=")
	if !found || strings.ContainsAny(before, `/\`) {
		return "", spec
	}
	return strings.TrimSpace(before), after
}

// find implements target.Routes. The most specific of what is configured counts:
// the partner as records have it (ISA07:ISA08 or BIN:PCN), its ISA08 or BIN, the
// stream, everybody.
func (rs *routes) find(stream, partner string) (target.Route, bool) {
	f := rs.look(stream, partner)
	return f.route, f.ok
}

// breaker returns how the breaker of a partner is tuned.
func (rs *routes) breaker(stream, partner string) retry.Options {
	return rs.look(stream, partner).breaker
}

// mostPartners bounds what is remembered: partners come from claims.
const mostPartners = 10_000

func (rs *routes) look(stream, partner string) found {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	key := [2]string{stream, partner}
	f, ok := rs.found[key]
	if !ok {
		f = rs.resolve(stream, partner)
		if len(rs.found) < mostPartners {
			rs.found[key] = f
		}
	}
	return f
}

func (rs *routes) resolve(stream, partner string) (f found) {
	e := Endpoint{}
	for _, scope := range scopes(stream, partner) {
		e = e.over(rs.endpoints[scope])
	}
	if e.Breaker != nil {
		f.breaker = *e.Breaker
	}
	if e.Target == "" {
		return f
	}
	var err error
	if f.route.Target, err = rs.make(stream, e); err != nil {
		return f // it was made at the start: its folder has gone since
	}
	if e.Fallback != "" {
		if f.route.Fallback, err = rs.make(stream, e.fallback()); err != nil {
			return f
		}
	}
	f.route.Workers, f.ok = e.Workers, true
	f.route.IdempotentResend = stream == claimdlq.StreamNCPDP
	if e.IdempotentResend != nil {
		f.route.IdempotentResend = *e.IdempotentResend
	}
	return f
}

// scopes lists under which names a partner may be configured, the most specific
// first.
func scopes(stream, partner string) []string {
	part := attempt.Part(stream, partner)
	return []string{stream + "/" + partner, partner, stream + "/" + part, part, stream, ""}
}

// names reports whether the configuration names the partner.
func (rs *routes) names(stream, partner string) bool {
	for _, scope := range []string{stream + "/" + partner, partner} {
		if _, ok := rs.endpoints[scope]; ok {
			return true
		}
	}
	return false
}

// any reports whether there is a target.
func (rs *routes) any() bool {
	for _, e := range rs.endpoints {
		if e.Target != "" {
			return true
		}
	}
	return false
}
