package claimdlq

import "time"

// Policy holds the levers that decide how far a claim is tried.
type Policy struct {
	// MaxReceive counts deliveries: 5 is the first and four more. Default: 5.
	MaxReceive uint32
	// MaxReceiveLow is the budget after a failure that seldom passes, such as NCPDP
	// reject 99: it is never more than MaxReceive. Default: 2.
	MaxReceiveLow uint32
	// ReplayCap is how many replays a claim may have, over all its corrections.
	// Default: 3.
	ReplayCap uint32
	// Base and Cap shape the back-off min(Base*2^n, Cap), n the deliveries so far.
	// Default: 2 s and 60 s.
	Base, Cap time.Duration
	// Jitter spreads each back-off over (0, back-off], each wait as likely. It halves
	// the horizon on average. Default: off, the back-off is exact.
	Jitter bool
	// HoldMax is the longest that a partner is left alone because it asked for it
	// (Retry-After, an announced outage) before it is tried again. Default: 1 h.
	HoldMax time.Duration
	// Retention parks, and alarms about, what is unresolved for longer. Default: 14 d.
	Retention time.Duration
	// AckDeadline is how long a submission may wait for an acknowledgment before
	// it is in doubt. Default: 48 h.
	AckDeadline time.Duration
	// ShredAfter destroys payloads that nobody needs any more. Default: never.
	ShredAfter ShredAfter
}

// DefaultPolicy returns the defaults named in Policy.
func DefaultPolicy() Policy {
	return Policy{
		MaxReceive: 5, MaxReceiveLow: 2, ReplayCap: 3, Base: 2 * time.Second, Cap: time.Minute, HoldMax: time.Hour,
		Retention: 14 * 24 * time.Hour, AckDeadline: 48 * time.Hour,
	}
}

// Policies are the policies of the streams, by name; "" is that of all others.
type Policies map[string]Policy

// For returns the policy of a stream: its own, the common one, or the default.
func (p Policies) For(stream string) Policy {
	if own, ok := p[stream]; ok {
		return own
	}
	if common, ok := p[""]; ok {
		return common
	}
	return DefaultPolicy()
}

// Backoff returns the wait after the nth delivery: min(Base*2^n, Cap), 4 s after
// the first with the defaults, then 8 s, 16 s and 32 s.
func (p Policy) Backoff(n uint32) time.Duration {
	d := p.Base
	for range min(n, 63) { // no Cap is further from a Base of 1 ns
		if d > p.Cap/2 {
			return p.Cap
		}
		d *= 2
	}
	return min(d, p.Cap)
}

// Every method below is one step of a record's life. It returns the record as
// it will be; nothing has happened until a store commits it. A step that the
// table of moves forbids returns an error with code Refused, or Conflict where
// somebody else's step came first.

func (r Record) move(to State, now time.Time) (Record, error) {
	if !CanMove(r.State, to) {
		return r, r.refuse("move", r.State.String()+" to "+to.String())
	}
	r.State, r.Hold, r.UpdatedAt, r.NotBefore = to, HoldNone, now, time.Time{}
	return r, nil
}

func (r Record) refuse(what, why string) error {
	return &Error{Code: Refused, Op: what + " record " + r.ID.String(), On: why}
}

// Lease counts a delivery and marks the record as being delivered. The count is
// durable before the handler runs, so that no crash can add a delivery.
func (r Record) Lease(s SubmissionID, now time.Time) (Record, error) {
	n, err := r.move(StateLeased, now)
	n.AttemptCount++
	n.ReceiveCount++
	n.Submission = s
	return n, err
}

// Sent marks the record as handed to the payer: its fate is open until an
// acknowledgment, an inquiry or a person says otherwise.
func (r Record) Sent(now time.Time) (Record, error) {
	n, err := r.move(StateSubmitted, now)
	n.FateUnknown = true
	return n, err
}

// Doubt marks the record as sent with unknown fate.
func (r Record) Doubt(code Detail, now time.Time) (Record, error) {
	n, err := r.move(StateInDoubt, now)
	n.FateUnknown, n.Reason, n.Detail = true, OutcomeUnknown, code
	if n.FirstFailedAt.IsZero() {
		n.FirstFailedAt = now
	}
	return n, err
}

// Requeue puts the record back after a failure that certainly did not reach the
// payer, to be delivered not before the given time. What was quarantined after a
// delivery is released by Replay alone, which counts.
func (r Record) Requeue(code Detail, notBefore, now time.Time) (Record, error) {
	if r.State == StateQuarantined && r.AttemptCount > 0 {
		return r, r.refuse("requeue", "state "+r.State.String())
	}
	n, err := r.move(StateQueued, now)
	n.NotBefore, n.FateUnknown = notBefore, false
	n.Class, n.Detail = Transient, code
	if n.FirstFailedAt.IsZero() {
		n.FirstFailedAt = now
	}
	return n, err
}

// Free queues a leased record again and gives its delivery back: the other side
// announced an outage and looked at nothing, so that no budget is spent.
func (r Record) Free(code Detail, notBefore, now time.Time) (Record, error) {
	if r.State != StateLeased || r.ReceiveCount == 0 {
		return r, r.refuse("free", "state "+r.State.String())
	}
	n, err := r.Requeue(code, notBefore, now)
	n.FateUnknown = r.FateUnknown
	n.ReceiveCount--
	return n, err
}

// Fault is why a record is dead-lettered.
type Fault struct {
	Reason Reason
	Class  Class
	Detail Detail
	// RuleVersion is the version of the rules that judged it.
	RuleVersion string
}

// Quarantine dead-letters the record. Its fate is known: it is not with the payer.
func (r Record) Quarantine(f Fault, now time.Time) (Record, error) {
	n, err := r.move(StateQuarantined, now)
	n.Reason, n.Class, n.Detail = f.Reason, f.Class, f.Detail
	if f.RuleVersion != "" {
		n.RuleVersion = f.RuleVersion
	}
	if f.Reason != RetriesExhausted && f.Reason != Overflow {
		n.RefusedRevision = n.PayloadRevision
	}
	n.FateUnknown, n.Disposition, n.Answered = false, DispositionNone, ""
	if n.FirstFailedAt.IsZero() {
		n.FirstFailedAt = now
	}
	return n, err
}

// Correct gives a quarantined record its next payload revision, judged clean
// under the given rules.
func (r Record) Correct(ref PayloadRef, amountCents int64, ruleVersion string, now time.Time) (Record, error) {
	if r.State != StateQuarantined {
		return r, r.refuse("correct", "state "+r.State.String())
	}
	n, err := r.move(StateQuarantined, now)
	n.Payload, n.AmountCents, n.RuleVersion = ref, amountCents, ruleVersion
	n.PayloadRevision++
	return n, err
}

// ReplayResult is the guard's answer, spelled as the field spells it.
type ReplayResult string

// The guard's answers.
const (
	Replayed            ReplayResult = "replayed"
	DuplicateSuppressed ReplayResult = "duplicate_suppressed"
	ParkedAtCap         ReplayResult = "parked"
	ReplayNotFound      ReplayResult = "not_found"
	// NotCorrected: the payload is the one that was refused, and nothing that
	// refused it has changed.
	NotCorrected ReplayResult = "not_corrected"
	// InDoubtFirst: an earlier submission's fate must be settled first.
	InDoubtFirst ReplayResult = "in_doubt"
)

// GuardReplay decides whether the record may be replayed. cleared says that the
// cause lies outside the payload and is gone: rules that refused it now pass it,
// or a named person says that the payer's side was fixed. The order is fixed:
// what is settled or under way is a duplicate, then doubt, then the cap, then
// the need for a correction.
func (r Record) GuardReplay(p Policy, cleared bool) ReplayResult {
	switch r.State {
	case StateQueued, StateLeased, StateSubmitted, StateSettled, StateWithdrawn:
		return DuplicateSuppressed
	case StateInDoubt:
		return InDoubtFirst
	case StateParked:
		return ParkedAtCap
	case StateQuarantined:
	default:
		return ReplayNotFound
	}
	switch {
	case r.FateUnknown:
		return InDoubtFirst
	case r.ReplayCount >= p.ReplayCap+r.Unparked:
		return ParkedAtCap
	case r.Reason == RetriesExhausted, r.Reason == Overflow:
		// The payload was never the cause: it may go out again as it is.
	case r.PayloadRevision <= r.RefusedRevision && !cleared:
		return NotCorrected
	}
	return Replayed
}

// Replay releases the record for delivery: a new budget, one more replay. The
// caller has asked GuardReplay; the store's compare-and-set makes the answer hold.
func (r Record) Replay(ruleVersion string, now time.Time) (Record, error) {
	if r.State != StateQuarantined {
		return r, r.refuse("replay", "state "+r.State.String())
	}
	n, err := r.move(StateQueued, now)
	n.ReceiveCount, n.RuleVersion = 0, ruleVersion
	n.ReplayCount++
	return n, err
}

// Settle gives the record its final disposition.
func (r Record) Settle(d Disposition, code Detail, now time.Time) (Record, error) {
	n, err := r.move(StateSettled, now)
	n.Disposition, n.Detail, n.FateUnknown, n.Answered = d, code, false, ""
	return n, err
}

// Park takes the record out of reach of replays until a named person un-parks it.
// A reason given replaces the record's own only when it has none or it expired.
func (r Record) Park(reason Reason, now time.Time) (Record, error) {
	n, err := r.move(StateParked, now)
	n.FateUnknown = r.FateUnknown || r.State == StateSubmitted || r.State == StateInDoubt
	if n.Reason == ReasonNone || reason == Expired {
		n.Reason = reason
	}
	if n.FirstFailedAt.IsZero() {
		n.FirstFailedAt = now
	}
	return n, err
}

// Unpark returns a parked record to quarantine, with one more replay allowed, or
// to in_doubt where its fate was never learned.
func (r Record) Unpark(p Policy, now time.Time) (Record, error) {
	if r.State != StateParked {
		return r, r.refuse("unpark", "state "+r.State.String())
	}
	to := StateQuarantined
	if r.FateUnknown {
		to = StateInDoubt
	}
	n, err := r.move(to, now)
	if n.ReplayCount >= p.ReplayCap+n.Unparked {
		n.Unparked = n.ReplayCount - p.ReplayCap + 1
	}
	return n, err
}

// Part takes claims out of a transaction set's record because they now have
// records of their own. The set stays where it is.
func (r Record) Part(claims uint32, amountCents int64, now time.Time) (Record, error) {
	n, err := r.move(r.State, now)
	if claims > r.Claims {
		return r, r.refuse("part", "more claims than it has")
	}
	n.Hold, n.NotBefore = r.Hold, r.NotBefore
	n.Claims -= claims
	n.Parted += claims
	n.AmountCents -= amountCents
	return n, err
}

// Answer marks claims of a set as accepted by an acknowledgment, which may come
// before the end of the delivery is known. The fate of its other claims stays open.
func (r Record) Answer(ordinals []uint32, code Detail, now time.Time) (Record, error) {
	n, err := r.move(StateSubmitted, now)
	n.Answered, n.Detail, n.FateUnknown = r.Answered.With(ordinals...), code, true
	return n, err
}

// Held returns the queued record with the given hold; HoldNone releases it. A
// leased record is queued again by it: nothing was sent, the delivery stays counted.
func (r Record) Held(h Hold, now time.Time) (Record, error) {
	if r.State != StateQueued && r.State != StateLeased {
		return r, r.refuse("hold", "state "+r.State.String())
	}
	n, err := r.move(StateQueued, now)
	n.Hold, n.NotBefore = h, r.NotBefore
	return n, err
}

// Withdraw writes an unresolved record off.
func (r Record) Withdraw(now time.Time) (Record, error) { return r.move(StateWithdrawn, now) }
