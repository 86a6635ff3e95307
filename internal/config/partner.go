package config

import (
	"errors"
	"strings"

	"claimdlq"
	"claimdlq/classify"
)

func (r *reader) partners(n *node) { r.partner = n }

// readPartners reads the partners once the streams are known.
func (r *reader) readPartners() {
	if r.partner == nil {
		return
	}
	for _, n := range r.partner.items {
		stream := r.partnerStream(n)
		from := r.ncpdp.route
		if stream == StreamX12 {
			from = r.x12.route
		}
		if stream != "" {
			if what := partnerName(stream, n.name); what != "" {
				r.wrong(n, what)
			}
		}
		from.Partner = n.name
		r.config.Partners[n.name] = r.readPartner(n, from)
	}
}

// partnerStream returns the stream that a partner names, or the only one.
func (r *reader) partnerStream(n *node) string {
	if c := n.child("stream"); c != nil && c.kind != none {
		if c.text == StreamX12 || c.text == StreamNCPDP {
			return c.text
		}
		return "" // reading it says what is wrong
	}
	x12, ncpdp := r.isGiven("streams."+StreamX12), r.isGiven("streams."+StreamNCPDP)
	switch {
	case x12 && !ncpdp:
		return StreamX12
	case ncpdp && !x12:
		return StreamNCPDP
	}
	if n.kind == mapping {
		r.missing(n, "stream", "must be said where there are two streams, or none: 837 or ncpdp")
	}
	return ""
}

func (r *reader) readPartner(n *node, route Route) Route {
	if c := n.child("target"); c != nil && c.kind != none {
		route.Target, route.Status, route.Fallback = "", "", ""
		route.Authorization, route.FallbackAuthorization = Secret{}, Secret{}
	} else if c := n.child("fallback"); c != nil && c.kind != none {
		route.FallbackAuthorization = Secret{}
	}
	var stream string
	fields := append(object{{"stream", oneOf(&stream, StreamX12, StreamNCPDP)}}, routeFields(&route)...)
	fields = append(fields, field{"overrides", sequence(func(r *reader, c *node) {
		if route.Stream == StreamX12 {
			r.wrong(c, "go with ncpdp only")
			return
		}
		r.readOverrides(c, n.name)
	})})
	before := r.faults.count()
	fields.read(r, n)
	r.checkRoute(n.path, &route)
	if route.Target == "" && !route.Stopped && r.faults.count() == before && !r.isGiven("streams."+route.Stream+".target") {
		r.missing(n, "target", "must be said: neither the partner nor its stream has one")
	}
	return route
}

var budgets = []classify.Budget{classify.BudgetNormal, classify.BudgetLow, classify.BudgetWindow}

// readOverrides reads a list of classification rules for a partner, BIN or BIN:PCN;
// "" is for all.
func (r *reader) readOverrides(n *node, partner string) {
	bin, pcn, _ := strings.Cut(partner, ":")
	for _, item := range n.items {
		o := classify.NCPDPOverride{BIN: bin, PCN: pcn}
		before := r.faults.count()
		object{
			{"code", leaf(func(s string) string { o.Code = s; return "" })},
			{"prefix", leaf(func(s string) string { o.Prefix = s; return "" })},
			{"class", class(&o.Class)},
			{"ambiguous", yesNo(&o.Ambiguous)},
			{"budget", budget(&o.Budget)},
		}.read(r, item)
		if r.faults.count() > before {
			continue
		}
		if _, err := classify.NewNCPDPRules([]classify.NCPDPOverride{o}); err != nil {
			what := "is no rule"
			if e, ok := errors.AsType[*claimdlq.Error](err); ok && e.Hint != "" {
				what = e.Hint
			}
			r.wrong(item, what)
			continue
		}
		r.overrides = append(r.overrides, o)
	}
}

func class(to *classify.NCPDPClass) leaf {
	return func(s string) string {
		for _, c := range []classify.NCPDPClass{
			classify.NCPDPTerminal, classify.NCPDPPoison, classify.NCPDPTransient,
			classify.NCPDPAlreadyPaid, classify.NCPDPSettled, classify.NCPDPSuspect,
		} {
			if c.String() == s {
				*to = c
				return ""
			}
		}
		return "must be TERMINAL, POISON, TRANSIENT, ALREADY_PAID, SETTLED or SUSPECT"
	}
}

func budget(to *classify.Budget) leaf {
	return func(s string) string {
		for _, b := range budgets {
			if b.String() == s {
				*to = b
				return ""
			}
		}
		return "must be normal, low or window"
	}
}
