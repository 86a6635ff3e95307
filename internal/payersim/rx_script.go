package payersim

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// rxFields are the fields by which a pharmacy claim is picked.
var rxFields = []string{"ndc", "rx", "member", "bin", "pcn", "pharmacy", "code"}

// pharmacy reads what becomes of a pharmacy claim.
func (r *rule) pharmacy(w []string) bool {
	if r.field != "" && !slices.Contains(rxFields, r.field) {
		return false
	}
	a := &r.act
	*a = action{verb: w[0]}
	w, ok := a.countTries(w)
	if !ok {
		return false
	}
	switch {
	case len(w) == 1:
		return slices.Contains([]string{"pay", "capture", "defer", "clash"}, w[0])
	case w[0] == "status":
		a.code = w[1]
		return len(w) == 2 && len(a.code) == 1 && a.code >= "0" && a.code <= "Z"
	}
	return a.rejects(w)
}

// countTries takes "tries N" off the end of a rule.
func (a *action) countTries(w []string) ([]string, bool) {
	n := len(w)
	if n < 3 || w[n-2] != "tries" {
		return w, true
	}
	tries, err := strconv.Atoi(w[n-1])
	a.tries = tries
	return w[:n-2], err == nil && tries > 0
}

// rejects reads "reject CODES [taken] [text WORDS]".
func (a *action) rejects(w []string) bool {
	if w[0] != "reject" || len(w) < 2 {
		return false
	}
	a.verb, a.codes = w[0], strings.Split(w[1], ",")
	w = w[2:]
	if len(w) > 0 && w[0] == "taken" {
		a.taken, w = true, w[1:]
	}
	for _, c := range a.codes {
		if !rejectCode(c) {
			return false
		}
	}
	return a.words(w)
}

// words reads "text WORDS", or nothing.
func (a *action) words(w []string) bool {
	if len(w) == 0 {
		return true
	}
	a.text = strings.Join(w[1:], " ")
	for _, c := range []byte(a.text) {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return w[0] == "text" && a.text != "" && len(a.text) <= 200
}

// transmission reads what becomes of a transmission.
func (a *action) transmission(w []string) bool {
	a.verb = w[0]
	switch {
	case w[0] == "other":
		a.code = w[len(w)-1]
		return len(w) == 2 && slices.Contains([]string{"A3", "A9", "B1", "D1", "D2"}, a.code)
	case w[0] == "reject" && (len(w) == 1 || w[1] == "text"):
		return a.words(w[1:])
	case w[0] == "reject":
		return a.rejects(w) && !a.taken
	}
	return len(w) == 1 && slices.Contains([]string{"echo", "html", "cut", "empty", "framed"}, w[0])
}

// rejectCode reports whether s can stand in 511-FB: one to three letters and
// digits, with the asterisk of a clearinghouse's own.
func rejectCode(s string) bool {
	code := strings.TrimPrefix(s, "*")
	if code == "" || len(s) > 3 {
		return false
	}
	for _, c := range []byte(code) {
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return true
}

// outageCodes returns what every pharmacy claim is answered at a time.
func (s *Script) outageCodes(elapsed time.Duration) (*action, bool) {
	for i := range s.rules {
		if r := &s.rules[i]; r.subject == "time" && r.act.verb == "reject" && elapsed >= r.from && elapsed < r.to {
			return &r.act, true
		}
	}
	return nil, false
}
