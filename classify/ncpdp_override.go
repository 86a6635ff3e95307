package classify

import (
	"bytes"
	"errors"
	"fmt"

	"claimdlq"
)

// NCPDPOverride is a partner's own rule: payers use codes in their own ways, and
// some say in a text what their code hides. Exactly one of Code and Prefix is set.
type NCPDPOverride struct {
	// BIN and PCN choose the partner; an empty one is any. The most specific rule
	// wins: BIN with PCN, then BIN, then PCN, then any; of two alike the first.
	BIN, PCN string
	// Code is a reject code, 511-FB.
	Code string
	// Prefix is the beginning of a message, 504-F4 or 526-FQ, letters in either case.
	// It is compared and never copied, logged or shown: messages hold names.
	Prefix string
	// Class stands in place of the table's: TERMINAL, POISON, TRANSIENT,
	// ALREADY_PAID, SETTLED or SUSPECT.
	Class NCPDPClass
	// Ambiguous and Budget go with TRANSIENT; an unset budget is normal.
	Ambiguous bool
	Budget    Budget
}

// NCPDPRules are the overrides of all partners. Nil is none. They are read only
// and safe for concurrent use.
type NCPDPRules struct {
	codes  map[Reject][]NCPDPOverride
	prefix []NCPDPOverride
}

// NewNCPDPRules checks the overrides and names every fault at once, by its place in
// the list. Errors: Invalid.
func NewNCPDPRules(list []NCPDPOverride) (*NCPDPRules, error) {
	rules := &NCPDPRules{codes: make(map[Reject][]NCPDPOverride)}
	var faults []error
	for i, o := range list {
		if hint := o.fault(); hint != "" {
			faults = append(faults, &claimdlq.Error{
				Code: claimdlq.Invalid, Op: "read override", On: fmt.Sprintf("number %d", i+1), Hint: hint,
			})
			continue
		}
		if o.Class == NCPDPTransient && o.Budget == BudgetNone {
			o.Budget = BudgetNormal
		}
		if o.Code == "" {
			rules.prefix = append(rules.prefix, o)
			continue
		}
		code, _ := NormalReject([]byte(o.Code)) // fault has seen that it is one
		rules.codes[code] = append(rules.codes[code], o)
	}
	return rules, errors.Join(faults...)
}

func (o NCPDPOverride) fault() string {
	code, isCode := NormalReject([]byte(o.Code))
	switch o.Class {
	case NCPDPTerminal, NCPDPPoison, NCPDPTransient, NCPDPAlreadyPaid, NCPDPSettled, NCPDPSuspect:
	default:
		return "class must be TERMINAL, POISON, TRANSIENT, ALREADY_PAID, SETTLED or SUSPECT"
	}
	switch {
	case (o.Code == "") == (o.Prefix == ""):
		return "either a code or a prefix, not both and not neither"
	case o.Code != "" && (!isCode || code.String() == "?"):
		return "a reject code has one to three letters and digits"
	case o.Prefix != "" && len(o.Prefix) < 3:
		return "a prefix needs three characters at least, or it meets every message"
	case o.Class == NCPDPSettled && o.Code != "":
		return "a reject code cannot settle a claim; use ALREADY_PAID"
	case o.Class != NCPDPTransient && (o.Ambiguous || o.Budget != BudgetNone):
		return "ambiguous and budget go with TRANSIENT only"
	case o.BIN != "" && (len(o.BIN) != 6 && len(o.BIN) != 8 || !onlyDigits(o.BIN)):
		return "a BIN has six digits"
	}
	return ""
}

func onlyDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// rank is how specific the override is for the partner; 0 if it is for another.
func (o *NCPDPOverride) rank(a *NCPDPAnswer) int {
	n := 1
	if o.BIN != "" {
		if o.BIN != string(a.BIN) {
			return 0
		}
		n += 2
	}
	if o.PCN != "" {
		if o.PCN != string(bytes.TrimSpace(a.PCN)) {
			return 0
		}
		n++
	}
	return n
}

func (rules *NCPDPRules) byCode(a NCPDPAnswer, code Reject) (best NCPDPOverride, ok bool) {
	if rules == nil {
		return best, false
	}
	top := 0
	for _, o := range rules.codes[code] {
		if n := o.rank(&a); n > top {
			best, top = o, n
		}
	}
	return best, top > 0
}

// byText finds a rule for one of the answer's messages.
func (rules *NCPDPRules) byText(a NCPDPAnswer) (NCPDPResult, bool) {
	if rules == nil {
		return NCPDPResult{}, false
	}
	var best NCPDPOverride
	top := 0
	for _, o := range rules.prefix {
		n := o.rank(&a)
		if n <= top {
			continue
		}
		for _, text := range a.Texts {
			if len(text) >= len(o.Prefix) && bytes.EqualFold(text[:len(o.Prefix)], []byte(o.Prefix)) {
				best, top = o, n
				break
			}
		}
	}
	if top == 0 {
		return NCPDPResult{}, false
	}
	r := NCPDPResult{Class: best.Class, Ambiguous: best.Ambiguous, Budget: best.Budget, Code: codeText, Overridden: true}
	switch best.Class {
	case NCPDPAlreadyPaid:
		r.Recovered, r.Verify = a.AfterAmbiguous, !a.AfterAmbiguous
	case NCPDPSuspect:
		r.Ambiguous = true
	case NCPDPSettled:
		r.outcome = claimdlq.OutcomeAccepted
		if isReversal(a.Code) {
			r.outcome = claimdlq.OutcomeReversed
		}
	default:
	}
	return r, true
}
