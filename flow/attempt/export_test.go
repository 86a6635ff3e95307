package attempt

import (
	"time"

	"claimdlq"
)

// Decision is a verdict in words, for tests.
type Decision struct {
	End         string
	Disposition claimdlq.Disposition
	Reason      claimdlq.Reason
	Class       claimdlq.Class
	Wait        time.Duration
}

var endNames = map[end]string{
	endSent: "sent", endSettled: "settled", endAgain: "again", endResend: "resend", endDoubt: "doubt", endDead: "dead", endSpent: "spent",
}

// Decide is decide.
func Decide(o claimdlq.Outcome, receives uint32, doubted, idempotent bool, p claimdlq.Policy) Decision {
	v := decide(delivery{outcome: o, receives: receives, doubted: doubted, idempotent: idempotent}, p)
	return Decision{endNames[v.end], v.disposition, v.fault.Reason, v.fault.Class, v.wait}
}
