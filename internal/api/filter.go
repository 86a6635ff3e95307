package api

import (
	"strings"
	"time"

	"claimdlq"
	"claimdlq/internal/auth"
	"claimdlq/store"
)

// Selection is how records are selected, in queries.
type Selection struct {
	State     string `query:"state" enum:"queued,leased,submitted,in_doubt,quarantined,parked,settled,withdrawn"`
	Reason    string `query:"reason" enum:"FATAL_SYNTAX,RETRIES_EXHAUSTED,SEMANTIC_REJECT,OUTCOME_UNKNOWN,OVERFLOW,EXPIRED"`
	Detail    string `query:"detail" maxLength:"64" pattern:"^[A-Z0-9_:.-]{1,64}$" doc:"A cause, such as IK4:SV102."`
	Partner   string `query:"partner" maxLength:"64" doc:"ISA07:ISA08 or BIN:PCN."`
	Stream    string `query:"stream" enum:"837,ncpdp,acks"`
	Format    string `query:"format" enum:"unreadable,837p,837i,837d,x12,ack,ncpdp"`
	OlderThan string `query:"older_than" maxLength:"16" pattern:"^[0-9]{1,6}(s|m|h|d)$" doc:"What first failed, or came in, longer ago: 90m, 36h, 14d."`
}

// filter returns the selection as the store has it.
func (q *Selection) filter(now time.Time) (store.Filter, error) {
	f := store.Filter{Detail: claimdlq.NewDetail(q.Detail), Partner: q.Partner, Stream: q.Stream}
	var err error
	if q.State != "" {
		if f.State, err = claimdlq.ParseState(q.State); err != nil {
			return f, err
		}
	}
	if q.Reason != "" {
		if f.Reason, err = claimdlq.ParseReason(q.Reason); err != nil {
			return f, err
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
			return f, invalid("read request", "older_than", "a number and s, m, h or d, such as 36h")
		}
		f.Older = now.Add(-age)
	}
	return f, nil
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
