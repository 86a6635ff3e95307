package app

import (
	"net/http"
	"strings"

	"claimdlq"
	"claimdlq/target"
	"claimdlq/target/foldertarget"
	"claimdlq/target/httptarget"
)

// targets says where each partner's claims go.
type targets struct {
	byPartner map[string]target.Target // key: ISA07:ISA08 or ISA08
	fallback  target.Target
}

// makeTargets makes the targets that Options name.
func makeTargets(o Options) (targets, error) {
	ts := targets{byPartner: map[string]target.Target{}}
	where, err := byPartner("target", o.Targets)
	if err != nil {
		return ts, err
	}
	status, err := byPartner("status", o.Status)
	if err != nil {
		return ts, err
	}
	for partner, w := range where {
		t, err := dial(w, status[partner], o)
		if err != nil {
			return ts, err
		}
		if partner == "" {
			ts.fallback = t
		} else {
			ts.byPartner[partner] = t
		}
		delete(status, partner)
	}
	for partner := range status {
		return ts, &claimdlq.Error{Code: claimdlq.Invalid, Op: "read status", On: partner, Hint: "give its target with --target too"}
	}
	return ts, nil
}

// dial returns the target at an address or in a folder.
func dial(where, status string, o Options) (target.Target, error) {
	if !isURL(where) {
		t, err := foldertarget.New(where, foldertarget.Options{Archive: status})
		if err != nil {
			return nil, err
		}
		return t, nil
	}
	h := http.Header{}
	if o.Authorization != "" {
		h.Set("Authorization", o.Authorization)
	}
	t, err := httptarget.New(where, httptarget.Options{Header: h, StatusURL: status, Now: o.Now})
	if err != nil {
		return nil, err
	}
	return t, nil
}

func isURL(where string) bool {
	return strings.HasPrefix(where, "http://") || strings.HasPrefix(where, "https://")
}

// byPartner reads values such as "WHERE", for every partner, and
// "PARTNER=WHERE", for one; the partner of the first is "".
func byPartner(what string, specs []string) (map[string]string, error) {
	out := map[string]string{}
	for _, spec := range specs {
		partner, where := splitSpec(spec)
		if where == "" {
			return nil, &claimdlq.Error{Code: claimdlq.Invalid, Op: "read " + what, Hint: "--" + what + " takes URL, FOLDER, PARTNER=URL or PARTNER=FOLDER"}
		}
		if _, twice := out[partner]; twice {
			return nil, &claimdlq.Error{Code: claimdlq.Invalid, Op: "read " + what, On: partner, Hint: "a partner has one, and one is for all others"}
		}
		out[partner] = where
	}
	return out, nil
}

// splitSpec cuts at the first "=" unless that belongs to an address or a path.
func splitSpec(spec string) (partner, where string) {
	before, after, found := strings.Cut(spec, "=")
	if !found || strings.ContainsAny(before, `/\`) {
		return "", spec
	}
	return strings.TrimSpace(before), after
}

// find returns the route to a partner, which is ISA07:ISA08 as records have it.
func (ts targets) find(_, partner string) (target.Route, bool) {
	if t, ok := ts.byPartner[partner]; ok {
		return target.Route{Target: t}, true
	}
	if _, receiver, ok := strings.Cut(partner, ":"); ok {
		if t, ok := ts.byPartner[receiver]; ok {
			return target.Route{Target: t}, true
		}
	}
	return target.Route{Target: ts.fallback}, ts.fallback != nil
}

// any reports whether there is a target.
func (ts targets) any() bool { return ts.fallback != nil || len(ts.byPartner) > 0 }
