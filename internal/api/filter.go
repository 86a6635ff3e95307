package api

import (
	"cmp"
	"strings"
	"time"

	"claimdlq"
	"claimdlq/internal/auth"
	"claimdlq/internal/background"
	"claimdlq/store"
)

// Selection is how records are selected, in queries.
type Selection struct {
	State  string `query:"state" enum:"queued,leased,submitted,in_doubt,quarantined,parked,settled,withdrawn"`
	Stream string `query:"stream" enum:"837,ncpdp,acks"`
	Format string `query:"format" enum:"unreadable,837p,837i,837d,x12,ack,ncpdp"`

	Match
}

// Waiting is a selection that says what holds the records, too. Nobody acts on those:
// they go by themselves.
type Waiting struct {
	Selection

	Hold string `query:"hold" enum:"target,breaker,lineage,stopped" doc:"Queued records that wait for this, looked for record by record. Of all that waits for a partner the 256 next in turn show it."`
}

func (q *Waiting) selection(now time.Time) (background.Selection, error) {
	sel, err := q.Selection.selection(now)
	if err != nil || q.Hold == "" {
		return sel, err
	}
	sel.Filter.State = cmp.Or(sel.Filter.State, claimdlq.StateQueued) // nothing else is held
	sel.Hold, err = claimdlq.ParseHold(q.Hold)
	return sel, err
}

// Match is what queries and bodies select by alike.
type Match struct {
	Reason      string `query:"reason" json:"reason,omitempty" enum:"FATAL_SYNTAX,RETRIES_EXHAUSTED,SEMANTIC_REJECT,OUTCOME_UNKNOWN,OVERFLOW,EXPIRED"`
	Detail      string `query:"detail" json:"detail,omitempty" maxLength:"64" pattern:"^[A-Z0-9_:.-]{1,64}$" doc:"A cause, such as IK4:SV102."`
	Partner     string `query:"partner" json:"partner,omitempty" maxLength:"64" doc:"ISA07:ISA08 or BIN:PCN."`
	OlderThan   string `query:"older_than" json:"older_than,omitempty" maxLength:"16" pattern:"^[0-9]{1,6}(s|m|h|d)$" doc:"What first failed, or came in, longer ago: 90m, 36h, 14d."`
	RuleVersion string `query:"rule_version" json:"rule_version,omitempty" maxLength:"64" doc:"Which rules judged it last. This and the amounts are looked for record by record."`
	AmountMin   int64  `query:"amount_min_cents" json:"amount_min_cents,omitempty" minimum:"0"`
	AmountMax   int64  `query:"amount_max_cents" json:"amount_max_cents,omitempty" minimum:"0" doc:"0 is no bound."`
}

// selection returns it as the store, jobs and recipes have it.
func (q *Selection) selection(now time.Time) (background.Selection, error) {
	sel := background.Selection{
		Filter:      store.Filter{Detail: claimdlq.NewDetail(q.Detail), Partner: q.Partner, Stream: q.Stream},
		RuleVersion: q.RuleVersion, MinCents: q.AmountMin, MaxCents: q.AmountMax,
	}
	f := &sel.Filter
	var err error
	if q.State != "" {
		if f.State, err = claimdlq.ParseState(q.State); err != nil {
			return sel, err
		}
	}
	if q.Reason != "" {
		if f.Reason, err = claimdlq.ParseReason(q.Reason); err != nil {
			return sel, err
		}
	}
	for x := claimdlq.FormatUnreadable; q.Format != "" && x <= claimdlq.FormatNCPDP; x++ {
		if x.String() == q.Format {
			f.Format = &x
		}
	}
	if q.OlderThan != "" {
		age, ok := ageOf(q.OlderThan)
		if !ok {
			return sel, invalid("read request", "older_than", "a number and s, m, h or d, such as 36h")
		}
		f.Older = now.Add(-age)
	}
	return sel, nil
}

// ageOf reads 90m, 36h or 14d, up to 999,999 days.
func ageOf(s string) (time.Duration, bool) {
	units := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour}
	if s == "" {
		return 0, false
	}
	unit, n := units[s[len(s)-1]], int64(0)
	digits := s[:len(s)-1]
	if unit == 0 || digits == "" || len(digits) > 6 || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	for _, c := range digits {
		n = n*10 + int64(c-'0')
	}
	const longest = 100 * 365 * 24 * time.Hour
	if n > int64(longest/unit) {
		return longest, true
	}
	return time.Duration(n * int64(unit)), true
}

// everything reports whether somebody may see every partner's things.
func everything(p auth.Principal) bool { return p.Covers("") }
