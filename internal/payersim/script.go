package payersim

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"claimdlq"
)

// Script says how the payer behaves. Use ParseScript.
type Script struct {
	answer       string // body, box, none
	ta1          bool
	set999       bool
	claim277     bool
	dedupe       bool // 837
	payAgain     bool // pharmacy
	anyNumber    bool
	envelopeOnly bool
	anyBatch     bool
	rebills      bool
	canary       bool
	counts       bool   // some rule counts the tries of a claim
	unmatched    string // 511-FB for a reversal of nothing
	seed         uint64
	rules        []rule
}

// rule is one line about a subject.
type rule struct {
	subject string
	which   selector
	field   string // claim: such as cpt or ndc; which is then unused
	value   string
	from    time.Duration // time
	to      time.Duration
	act     action
}

// action is what a rule does.
type action struct {
	verb  string
	code  string // TA104, IK502, STC, 112-AN
	note  string // TA105
	count int    // HTTP status, or how many interchanges late
	wait  time.Duration

	codes []string // 511-FB
	text  string   // 504-F4 or 526-FQ
	taken bool     // rejected, though it was taken
	tries int      // only the first so many times that a claim comes; 0: always
}

// ParseScript reads a script; see ScriptHelp. The empty script is a payer that
// works. Errors: Invalid, with the line.
func ParseScript(text string) (*Script, error) {
	s := &Script{answer: "body", ta1: true, set999: true, claim277: true, rebills: true, unmatched: "84", seed: 1}
	n := 0
	for line := range strings.Lines(text) {
		n++
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if !s.line(words) {
			return nil, &claimdlq.Error{Code: claimdlq.Invalid, Op: "read the payer's script", On: "line " + strconv.Itoa(n), Hint: "payersim --help shows the rules"}
		}
	}
	return s, nil
}

// line reads one line and reports whether it could.
func (s *Script) line(w []string) bool {
	if len(w) == 2 && s.setting(w[0], w[1]) {
		return true
	}
	if len(w) < 3 {
		return false
	}
	r := rule{subject: w[0]}
	var ok bool
	switch w[0] {
	case "time":
		ok = r.window(w[1]) && r.act.time(w[2:])
	case "request":
		ok = r.which.parse(w[1]) && r.act.request(w[2:])
	case "interchange":
		ok = r.which.parse(w[1]) && r.act.interchange(w[2:])
	case "set":
		ok = r.which.parse(w[1]) && len(w) == 4 && w[2] == "reject" && number(w[3])
		r.act = action{verb: w[2], code: w[len(w)-1]}
	case "claim":
		ok = r.claims(w[1]) && (r.stc(w[2:]) || r.pharmacy(w[2:]))
		s.counts = s.counts || r.act.tries > 0
	case "transmission":
		ok = r.which.parse(w[1]) && r.act.transmission(w[2:])
	}
	s.rules = append(s.rules, r)
	return ok
}

func (s *Script) setting(name, value string) bool {
	onOff := func(p *bool, on, off string) bool {
		*p = value == on
		return value == on || value == off
	}
	switch name {
	case "answer":
		s.answer = value
		return slices.Contains([]string{"body", "box", "none"}, value)
	case "acks":
		s.ta1, s.set999, s.claim277 = false, false, false
		for v := range strings.SplitSeq(value, ",") {
			switch v {
			case "ta1":
				s.ta1 = true
			case "999":
				s.set999 = true
			case "277ca":
				s.claim277 = true
			default:
				return false
			}
		}
		return true
	case "dedupe":
		s.payAgain = value == "off"
		return onOff(&s.dedupe, "on", "off")
	case "batches":
		return onOff(&s.anyBatch, "any", "check")
	case "rebills":
		return onOff(&s.rebills, "on", "off")
	case "canary":
		return onOff(&s.canary, "on", "off")
	case "unmatched":
		s.unmatched = value
		return rejectCode(value)
	case "interchanges":
		return onOff(&s.anyNumber, "any", "check")
	case "guide":
		return onOff(&s.envelopeOnly, "off", "on")
	case "seed":
		n, err := strconv.ParseUint(value, 10, 64)
		s.seed = n
		return err == nil
	}
	return false
}

func (r *rule) window(s string) bool {
	a, b, ok := strings.Cut(s, "-")
	from, errA := time.ParseDuration(a)
	to, errB := time.ParseDuration(b)
	r.from, r.to = from, to
	return ok && errA == nil && errB == nil && from >= 0 && from < to
}

func (r *rule) claims(s string) bool {
	field, value, ok := strings.Cut(s, "=")
	if !ok {
		return r.which.parse(s)
	}
	r.field, r.value = field, value
	return value != "" && (slices.Contains(x12Fields, field) || slices.Contains(rxFields, field))
}

// x12Fields are the fields by which an 837 claim is picked.
var x12Fields = []string{"cpt", "diag", "clm01", "member"}

// stc reads what becomes of an 837 claim.
func (r *rule) stc(w []string) bool {
	r.act = action{verb: w[0], code: w[len(w)-1]}
	return len(w) == 2 && w[0] == "stc" && status(w[1]) && (r.field == "" || slices.Contains(x12Fields, r.field))
}

func (a *action) time(w []string) bool {
	if len(w) == 1 && w[0] == "down" {
		a.verb = "down"
		return true
	}
	return a.status(w) || a.rejects(w)
}

func (a *action) status(w []string) bool {
	if w[0] != "status" || len(w) != 2 && (len(w) != 4 || w[2] != "retry") {
		return false
	}
	n, err := strconv.Atoi(w[1])
	a.verb, a.count = "status", n
	if len(w) == 4 {
		seconds, err := strconv.Atoi(w[3])
		if err != nil || seconds < 0 {
			return false
		}
		a.wait = time.Duration(seconds) * time.Second
	}
	return err == nil && n >= 200 && n <= 599
}

func (a *action) request(w []string) bool {
	switch {
	case len(w) == 1 && slices.Contains([]string{"reset", "cut", "drop", "hang"}, w[0]):
		a.verb = w[0]
		return true
	case len(w) == 2 && (w[0] == "latency" || w[0] == "late"):
		d, err := time.ParseDuration(w[1])
		a.verb, a.wait = w[0], d
		return err == nil && d >= 0
	}
	return a.status(w)
}

func (a *action) interchange(w []string) bool {
	a.verb = w[0]
	switch {
	case w[0] == "ta1" && len(w) == 3:
		a.code, a.note = w[1], w[2]
		return slices.Contains([]string{"A", "E", "R"}, a.code) && len(a.note) == 3 && number(a.note)
	case w[0] == "acks" && len(w) == 2:
		a.code = w[1]
		return slices.Contains([]string{"none", "twice", "unknown"}, a.code)
	case w[0] == "acks" && len(w) == 3 && w[1] == "late":
		a.code = "late"
		if n, err := strconv.Atoi(w[2]); err == nil {
			a.count = n
			return n > 0
		}
		d, err := time.ParseDuration(w[2])
		a.wait = d
		return err == nil && d > 0
	}
	return false
}

func number(s string) bool { _, err := strconv.ParseUint(s, 10, 16); return err == nil }

// status reports whether s is a claim status such as A7:562 or A7:562:85.
func status(s string) bool {
	parts := strings.Split(s, ":")
	return (len(parts) == 2 || len(parts) == 3) && len(parts[0]) == 2 && number(parts[1]) &&
		strings.ContainsAny(parts[0][:1], "ADEPFR") && strings.ToUpper(s) == s
}
