package classify

import (
	_ "embed"
	"strings"
	"sync"

	"claimdlq"
)

//go:embed x12.tsv
var x12TSV string

// Rule is one line of the table.
type Rule struct {
	Scope  string // TA1, IK501, IK502, AK901, AK905, STC or STATUS
	Code   string
	Result Result
	Class  claimdlq.Class
	Reason claimdlq.Reason
	Label  string // for people
}

type ruleKey struct{ scope, code string }

var table = sync.OnceValue(func() map[ruleKey]Rule {
	m := make(map[ruleKey]Rule)
	for r := range rules {
		m[ruleKey{r.Scope, r.Code}] = r
	}
	return m
})

// rules yields the lines of the embedded table in their order.
func rules(yield func(Rule) bool) {
	for line := range strings.Lines(x12TSV) {
		f := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if strings.HasPrefix(line, "#") || len(f) != 6 || f[0] == "scope" {
			continue
		}
		r := Rule{Scope: f[0], Code: f[1], Result: Result(f[2]), Class: classNamed(f[3]), Label: f[5]}
		for _, reason := range claimdlq.Reasons {
			if reason.String() == f[4] {
				r.Reason = reason
			}
		}
		if !yield(r) {
			return
		}
	}
}

func classNamed(s string) claimdlq.Class {
	for _, c := range []claimdlq.Class{claimdlq.Transient, claimdlq.Terminal, claimdlq.Poison} {
		if c.String() == s {
			return c
		}
	}
	return claimdlq.ClassNone
}

// Rules returns the table in the order of its file.
func Rules() []Rule {
	var all []Rule
	for r := range rules {
		all = append(all, r)
	}
	return all
}

// Lookup returns the rule of a code in a scope, and whether there is one.
func Lookup(scope, code string) (Rule, bool) {
	r, ok := table()[ruleKey{scope, code}]
	return r, ok
}
