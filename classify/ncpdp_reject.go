package classify

import "claimdlq"

// tally collects the codes of one reject.
type tally struct {
	n                              int
	terminal, poison, paid, trans  RejectRule // the first of each class
	hasTerm, hasPoison, hasPaid    bool
	hasTrans, onlyNN, saw85, sawNN bool
	ambiguous, low, window, normal bool
	suspect                        bool
	result                         NCPDPResult // its flags
}

// rejected judges a reject by its codes.
func (rules *NCPDPRules) rejected(a NCPDPAnswer) NCPDPResult {
	if r, ok := rules.byText(a); ok {
		return r
	}
	t := tally{onlyNN: true}
	for _, b := range a.Rejects {
		if code, ok := NormalReject(b); ok {
			t.add(rules, a, code)
		}
	}
	if t.n == 0 {
		return suspect(codeNoCodes)
	}
	return t.verdict(a)
}

// Codes with a meaning of their own.
var (
	code31, code83, code84, code792 = Reject{'3', '1'}, Reject{'8', '3'}, Reject{'8', '4'}, Reject{'7', '9', '2'}
	code85, code87, codeNN          = Reject{'8', '5'}, Reject{'8', '7'}, Reject{'N', 'N'}
)

func (t *tally) add(rules *NCPDPRules, a NCPDPAnswer, code Reject) {
	t.n++
	rule, known := LookupReject(code)
	if !known {
		rule = RejectRule{Code: code, Class: NCPDPTerminal, Detail: rejectDetail(code)}
	}
	if o, ok := rules.byCode(a, code); ok {
		rule.Class, rule.Ambiguous, rule.Budget = o.Class, o.Ambiguous, o.Budget
		t.result.Overridden, known = true, true
	} else {
		rule = inContext(rule, a.Code)
		t.suspect = t.suspect || code == code87 && !isReversal(a.Code)
	}
	t.result.Unknown = t.result.Unknown || !known
	t.flags(code)
	t.onlyNN = t.onlyNN && (code == codeNN || rule.Class == NCPDPTransient)
	switch rule.Class {
	case NCPDPTransient:
		keep(&t.trans, &t.hasTrans, rule)
		t.ambiguous = t.ambiguous || rule.Ambiguous
		t.low = t.low || rule.Budget == BudgetLow
		t.window = t.window || rule.Budget == BudgetWindow
		t.normal = t.normal || rule.Budget == BudgetNormal
	case NCPDPPoison:
		keep(&t.poison, &t.hasPoison, rule)
	case NCPDPAlreadyPaid, NCPDPNothingToReverse:
		keep(&t.paid, &t.hasPaid, rule)
	case NCPDPSuspect: // an override says so
		t.suspect = true
	default:
		keep(&t.terminal, &t.hasTerm, rule)
	}
}

func keep(to *RejectRule, has *bool, rule RejectRule) {
	if !*has {
		*to, *has = rule, true
	}
}

// inContext refines the codes that mean "already done" by what was asked.
func inContext(rule RejectRule, asked [2]byte) RejectRule {
	reversal := isReversal(asked)
	switch rule.Code {
	case code31, code84:
		rule.Class = NCPDPTerminal
		if reversal {
			rule.Class = NCPDPNothingToReverse
		}
	case code83, code792:
		if reversal {
			rule.Class = NCPDPTerminal
		}
	}
	return rule
}

func (t *tally) flags(code Reject) {
	switch code {
	case Reject{'1', 'V'}, Reject{'1', 'W'}, Reject{'8', '2', '4'}, Reject{'R', 'V'}:
		t.result.Split = true
	case Reject{'1', 'T'}, Reject{'1', 'X'}:
		t.result.Config = true
	case Reject{'7', '9', '3'}:
		t.result.Stop = true
	case code85:
		t.saw85 = true
	case codeNN:
		t.sawNN = true
	}
}

// verdict weighs the codes. What the plan decided beats what is wrong with the
// form, for it proves that the form was read; both beat a transient code. "Already
// paid" beside another refusal is the refusal, unless an earlier delivery of ours
// has an unknown fate: then that one was paid.
func (t *tally) verdict(a NCPDPAnswer) NCPDPResult {
	r := t.result
	switch {
	case t.suspect:
		return suspect(codeClash)
	case t.hasPaid && (a.AfterAmbiguous || !t.hasTerm && !t.hasPoison):
		r.Class, r.Code = t.paid.Class, t.paid.Detail
		r.Recovered, r.Verify = a.AfterAmbiguous, !a.AfterAmbiguous
	case t.hasTerm && t.sawNN && t.saw85 && t.hasTrans && t.onlyNN && !t.hasPoison:
		r = t.transient(r)
		r.Code = rejectDetail(code85)
	case t.hasTerm:
		r.Class, r.Code = NCPDPTerminal, t.terminal.Detail
	case t.hasPoison:
		r.Class, r.Code = NCPDPPoison, t.poison.Detail
	default:
		r = t.transient(r)
	}
	return r
}

// transient takes the most careful of the budgets; a window counts only where
// every code says that the outage is planned.
func (t *tally) transient(r NCPDPResult) NCPDPResult {
	r.Class, r.Code, r.Ambiguous = NCPDPTransient, t.trans.Detail, t.ambiguous
	switch {
	case t.low:
		r.Budget = BudgetLow
	case t.normal:
		r.Budget = BudgetNormal
	case t.window:
		r.Budget = BudgetWindow
	default:
		r.Budget = BudgetNormal
	}
	return r
}

// CodesOf returns the reject codes of an answer in their normal form, in order.
func CodesOf(rejects [][]byte) []string {
	out := []string{}
	for _, b := range rejects {
		if code, ok := NormalReject(b); ok {
			out = append(out, code.String())
		}
	}
	return out
}

// NCPDPTransport classifies the body of an answer that is no response at all. A
// web page means that something on the way answered; a page that names a bad
// gateway or a gateway's time-out is ambiguous, for the claim was sent on. A
// request that came back, and anything else, is suspect.
func NCPDPTransport(page, gateway bool) NCPDPResult {
	if !page {
		return suspect(claimdlq.NewDetail("ANSWER_UNREADABLE"))
	}
	return NCPDPResult{Class: NCPDPTransient, Ambiguous: gateway, Budget: BudgetNormal, Code: claimdlq.NewDetail("ANSWER_HTML")}
}
