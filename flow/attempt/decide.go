package attempt

import (
	"math/rand/v2"
	"time"

	"claimdlq"
	"claimdlq/classify"
	"claimdlq/retry"
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

// ends are those that occurred among the members of a submission.
type ends [endSpent + 1]bool

// verdict is a decision about a delivery.
type verdict struct {
	end         end
	disposition claimdlq.Disposition
	fault       claimdlq.Fault
	code        claimdlq.Detail
	wait        time.Duration
	free        bool // the delivery does not count
}

// delivery is what decide needs to know about a delivery that ended.
type delivery struct {
	outcome    claimdlq.Outcome
	receives   uint32 // of the member, this delivery counted
	doubted    bool   // an earlier delivery of the same bytes may have arrived
	idempotent bool
	probe      bool // it was a breaker's question
	// answered: the payer's own answer to the claim decided, and not the way to it.
	answered bool
	budget   classify.Budget // of a transient answer
}

// decide says what becomes of a member. It is pure but for the jitter: the one place
// where an outcome of a delivery turns into a step.
func decide(d delivery, p claimdlq.Policy) verdict {
	o := d.outcome
	v := verdict{code: o.Code}
	if v.code.IsZero() {
		v.code = claimdlq.NewDetail(o.Kind.String())
	}
	switch o.Kind {
	case claimdlq.OutcomeSubmitted:
		v.end = endSent
	case claimdlq.OutcomeDuplicate:
		// That the target had it already proves that it arrived, not what came of it,
		// unless it is the payer who says so.
		v.end = endSent
		if d.answered {
			v.end, v.disposition = endSettled, claimdlq.DuplicateOfPaid
		}
	case claimdlq.OutcomePaid:
		v.end, v.disposition = endSettled, claimdlq.Paid
	case claimdlq.OutcomeAccepted:
		v.end, v.disposition = endSettled, claimdlq.Accepted
	case claimdlq.OutcomeReversed:
		v.end, v.disposition = endSettled, claimdlq.Reversed
	case claimdlq.OutcomeRejected, claimdlq.OutcomePoison:
		return refused(d, v)
	case claimdlq.OutcomeTransient, claimdlq.OutcomeUnknownKind:
		return failed(d, v, p)
	default:
		v.end = endDoubt
	}
	return v
}

// refused says what becomes of a member that was refused. The payer's final no to what
// a claim says is its end; a refusal on the way to the payer says nothing of an earlier
// delivery, nor of the claim: somebody must look.
func refused(d delivery, v verdict) verdict {
	switch {
	case d.answered && d.outcome.Kind == claimdlq.OutcomeRejected:
		v.end, v.disposition = endSettled, claimdlq.Rejected
	case d.doubted && !d.answered:
		v.end = endDoubt
	case d.outcome.Kind == claimdlq.OutcomeRejected:
		v.end, v.fault = endDead, claimdlq.Fault{Reason: claimdlq.SemanticReject, Class: claimdlq.Terminal, Detail: v.code}
	default:
		v.end, v.fault = endDead, claimdlq.Fault{Reason: claimdlq.FatalSyntax, Class: claimdlq.Poison, Detail: v.code}
	}
	return v
}

// failed says what becomes of a member that was not delivered, or may not have been.
func failed(d delivery, v verdict, p claimdlq.Policy) verdict {
	if d.answered && d.outcome.Kind == claimdlq.OutcomeUnknownKind {
		v.end = endDoubt // an answer that contradicts itself: a person decides
		return v
	}
	if d.budget == classify.BudgetLow {
		p.MaxReceive = min(p.MaxReceive, p.MaxReceiveLow)
	}
	next := retry.After(p, d.receives, retry.Failure{
		RetryAfter: d.outcome.RetryAfter, Window: d.budget == classify.BudgetWindow, Probe: d.probe,
	}, chance{})
	v.wait, v.free = next.Wait, next.Free
	unknown := d.doubted || d.outcome.Ambiguous || d.outcome.Kind == claimdlq.OutcomeUnknownKind
	switch {
	case unknown && (next.Spent || !d.idempotent):
		v.end = endDoubt
	case unknown:
		v.end = endResend
	case next.Spent:
		v.end = endSpent
		v.fault = claimdlq.Fault{Reason: claimdlq.RetriesExhausted, Class: claimdlq.Transient, Detail: v.code}
	default:
		v.end = endAgain
	}
	return v
}

// chance is the source of the jitter.
type chance struct{}

// Uint64 implements rand.Source.
func (chance) Uint64() uint64 { return rand.Uint64() } //nolint:gosec // spreads load; nothing depends on its being unguessable

// step applies the verdict to the member.
func (v verdict) step(r claimdlq.Record, now time.Time) (claimdlq.Record, error) {
	switch v.end {
	case endSent:
		return r.Sent(now)
	case endSettled:
		return r.Settle(v.disposition, v.code, now)
	case endAgain, endResend:
		again := r.Requeue
		if v.free {
			again = r.Free
		}
		n, err := again(v.code, now.Add(v.wait), now)
		n.FateUnknown = v.end == endResend
		return n, err
	case endDoubt:
		return r.Doubt(v.code, now)
	case endDead, endSpent:
		return r.Quarantine(v.fault, now)
	}
	return r, &claimdlq.Error{Code: claimdlq.Internal, Op: "apply outcome"}
}

// again reports whether the member waits for another delivery.
func (v verdict) again() bool { return v.end == endAgain || v.end == endResend }

// closed returns the submission as it is after its members moved. The ends are those
// that occurred; one that will be sent again outweighs all others.
func (v verdict) closed(s claimdlq.Submission, ends ends, p claimdlq.Policy, now time.Time) claimdlq.Submission {
	s.LeaseUntil, s.Last = time.Time{}, v.code
	switch {
	case ends[endAgain] || ends[endResend]:
		s.State, s.NotBefore = claimdlq.SubmissionReady, now.Add(v.wait)
		if !ends[endResend] && s.Stream != claimdlq.StreamNCPDP { // nobody has seen these bytes: the next may differ
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
