package classify

import (
	_ "embed"
	"strings"
	"sync"

	"claimdlq"
)

//go:embed ncpdp.tsv
var ncpdpTSV string

// NCPDPVersion names the table of reject codes, for a record's rule version.
const NCPDPVersion = "ncpdp-2026.1"

// Budget says how a transient failure spends deliveries.
type Budget uint8

// The budgets.
const (
	BudgetNone   Budget = iota // not transient
	BudgetNormal               // one delivery each
	BudgetLow                  // one each, and few of them: it seldom passes
	BudgetWindow               // none: a planned outage has an end
)

var budgetNames = [...]string{"none", "normal", "low", "window"}

// String returns the budget as it is spelled in the table.
func (b Budget) String() string {
	if int(b) < len(budgetNames) {
		return budgetNames[b]
	}
	return budgetNames[0]
}

// Reject is a reject code, 511-FB, in its normal form; see NormalReject.
type Reject [3]byte

// String returns the code if it could be one, one to three letters and digits;
// anything else is "?": it may be part of a value.
func (r Reject) String() string {
	n := 0
	for ; n < len(r) && r[n] != 0; n++ {
		if c := r[n]; (c < '0' || c > '9') && (c < 'A' || c > 'Z') {
			return "?"
		}
	}
	return string(r[:n])
}

// NormalReject brings a reject code into its normal form: without blanks and the
// asterisk with which a clearinghouse marks its own, a single digit with a zero
// before it. ok is false where no code is left ("", 0, 00); what is longer
// than a code is "?", which no table knows.
func NormalReject(b []byte) (r Reject, ok bool) {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '*') {
		b = b[1:]
	}
	for len(b) > 0 && b[len(b)-1] == ' ' {
		b = b[:len(b)-1]
	}
	switch {
	case len(b) == 0, len(b) <= 3 && allZero(b):
		return Reject{}, false
	case len(b) > len(r):
		return Reject{'?'}, true
	case len(b) == 1 && b[0] >= '0' && b[0] <= '9':
		return Reject{'0', b[0]}, true
	}
	copy(r[:], b)
	return r, true
}

func allZero(b []byte) bool {
	for _, c := range b {
		if c != '0' {
			return false
		}
	}
	return true
}

// RejectRule is one line of the table of reject codes.
type RejectRule struct {
	Code      Reject
	Class     NCPDPClass // Terminal, Poison, Transient or AlreadyPaid
	Ambiguous bool
	Budget    Budget
	Family    string
	Label     string          // for people, in our own words
	Detail    claimdlq.Detail // such as FB_92
}

var familyLabels = map[string]string{
	"m_i":                 "a field is missing or invalid",
	"bad_format":          "a field has the wrong form",
	"count_limit":         "a count is over its limit",
	"count_mismatch":      "a count is not the number of its repeats",
	"not_used":            "a field is sent that this transaction does not use",
	"order":               "fields or segments are in the wrong order",
	"segment_missing":     "a segment is missing or invalid",
	"business":            "refused under the plan's rules",
	"reserved":            "a code that is not in use",
	"value_not_supported": "a value that the payer does not take",
	"vista_local":         "a code of one pharmacy system's own",
}

var rejectTable = sync.OnceValue(func() map[Reject]RejectRule {
	m := make(map[Reject]RejectRule, 1400)
	for _, r := range RejectRules() {
		m[r.Code] = r
	}
	return m
})

// RejectRules returns the table in the order of its file.
func RejectRules() (all []RejectRule) {
	for line := range strings.Lines(ncpdpTSV) {
		f := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if strings.HasPrefix(line, "#") || len(f) != 6 || f[0] == "code" {
			continue
		}
		code, ok := NormalReject([]byte(f[0]))
		class := rejectClass(f[1])
		if !ok || class == NCPDPNone {
			continue
		}
		r := RejectRule{Code: code, Class: class, Ambiguous: f[2] == "1", Family: f[4], Label: f[5], Detail: rejectDetail(code)}
		for i, name := range budgetNames {
			if name == f[3] {
				r.Budget = Budget(i)
			}
		}
		if r.Label == "" {
			r.Label = familyLabels[r.Family]
		}
		all = append(all, r)
	}
	return all
}

func rejectClass(s string) NCPDPClass {
	for _, c := range []NCPDPClass{NCPDPTerminal, NCPDPPoison, NCPDPTransient, NCPDPAlreadyPaid} {
		if c.String() == s {
			return c
		}
	}
	return NCPDPNone
}

func rejectDetail(r Reject) claimdlq.Detail {
	if s := r.String(); s != "?" && s != "" {
		return claimdlq.NewDetail("FB_" + s)
	}
	return claimdlq.NewDetail("FB_UNREADABLE")
}

// LookupReject returns the rule of a reject code, and whether the table has it.
func LookupReject(r Reject) (RejectRule, bool) {
	rule, ok := rejectTable()[r]
	return rule, ok
}
