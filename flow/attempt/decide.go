package attempt

import (
	"time"

	"claimdlq"
)

// end is what an outcome means for one member of a submission, or for the whole.
type end uint8

const (
	endSent    end = iota + 1 // wait for the acknowledgment
	endSettled                // adjudicated at once
	endAgain                  // queued again after back-off; it certainly did not arrive
	endResend                 // queued again, identical, as its own inquiry
	endDoubt                  // nobody knows
	endDead                   // refused
	endSpent                  // the budget is spent
)

// verdict is a decision about a delivery.
type verdict struct {
	end         end
	disposition claimdlq.Disposition
	fault       claimdlq.Fault
	code        claimdlq.Detail
	wait        time.Duration
}

// delivery is what decide needs to know about a delivery that ended.
type delivery struct {
	outcome    claimdlq.Outcome
	receives   uint32 // of the member, this delivery counted
	doubted    bool   // an earlier delivery of the same bytes may have arrived
	idempotent bool
}

// decide says what becomes of a member. It is pure: the one place where an
// outcome of a delivery turns into a step.
func decide(d delivery, p claimdlq.Policy) verdict {
	o := d.outcome
	v := verdict{code: o.Code}
	if v.code.IsZero() {
		v.code = claimdlq.NewDetail(o.Kind.String())
	}
	switch o.Kind {
	case claimdlq.OutcomeSubmitted, claimdlq.OutcomeDuplicate:
		// That the target had it already proves that it arrived, not what came of it.
		v.end = endSent
	case claimdlq.OutcomePaid:
		v.end, v.disposition = endSettled, claimdlq.Paid
	case claimdlq.OutcomeAccepted:
		v.end, v.disposition = endSettled, claimdlq.Accepted
	case claimdlq.OutcomeReversed:
		v.end, v.disposition = endSettled, claimdlq.Reversed
	case claimdlq.OutcomeRejected:
		v.end, v.fault = endDead, claimdlq.Fault{Reason: claimdlq.SemanticReject, Class: claimdlq.Terminal, Detail: v.code}
	case claimdlq.OutcomePoison:
		v.end, v.fault = endDead, claimdlq.Fault{Reason: claimdlq.FatalSyntax, Class: claimdlq.Poison, Detail: v.code}
	case claimdlq.OutcomeTransient, claimdlq.OutcomeUnknownKind:
		return failed(d, v, p)
	default:
		v.end = endDoubt
	}
	return v
}

// failed says what becomes of a member that was not delivered, or may not have been.
func failed(d delivery, v verdict, p claimdlq.Policy) verdict {
	unknown := d.doubted || d.outcome.Ambiguous || d.outcome.Kind == claimdlq.OutcomeUnknownKind
	spent := d.receives >= p.MaxReceive
	v.wait = max(p.Backoff(d.receives), d.outcome.RetryAfter)
	switch {
	case unknown && (spent || !d.idempotent):
		v.end = endDoubt
	case unknown:
		v.end = endResend
	case spent:
		v.end = endSpent
		v.fault = claimdlq.Fault{Reason: claimdlq.RetriesExhausted, Class: claimdlq.Transient, Detail: v.code}
	default:
		v.end = endAgain
	}
	return v
}

// step applies the verdict to the member.
func (v verdict) step(r claimdlq.Record, now time.Time) (claimdlq.Record, error) {
	switch v.end {
	case endSent:
		return r.Sent(now)
	case endSettled:
		return r.Settle(v.disposition, v.code, now)
	case endAgain:
		return r.Requeue(v.code, now.Add(v.wait), now)
	case endResend:
		n, err := r.Requeue(v.code, now.Add(v.wait), now)
		n.FateUnknown = true
		return n, err
	case endDoubt:
		return r.Doubt(v.code, now)
	case endDead, endSpent:
		return r.Quarantine(v.fault, now)
	}
	return r, &claimdlq.Error{Code: claimdlq.Internal, Op: "apply outcome"}
}

// submission returns the submission as it is after its members moved. The ends
// are those that occurred; one that will be sent again outweighs all others.
func (v verdict) submission(s claimdlq.Submission, ends map[end]bool, p claimdlq.Policy, now time.Time) claimdlq.Submission {
	s.LeaseUntil, s.Last = time.Time{}, v.code
	switch {
	case ends[endAgain] || ends[endResend]:
		s.State, s.NotBefore = claimdlq.SubmissionReady, now.Add(v.wait)
		if !ends[endResend] { // nobody has seen these bytes: the next may differ
			s.Digest, s.Bytes = claimdlq.Digest{}, 0
		}
	case ends[endSent]:
		s.State, s.SentAt, s.NotBefore = claimdlq.SubmissionSent, now, now.Add(p.AckDeadline)
	case ends[endDoubt]:
		s.State = claimdlq.SubmissionInDoubt
	case ends[endSettled]:
		s.State, s.SentAt = claimdlq.SubmissionAnswered, now
	default:
		s.State = claimdlq.SubmissionDead
	}
	return s
}
