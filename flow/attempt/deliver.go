package attempt

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"claimdlq"
	"claimdlq/flow/dlqlog"
	"claimdlq/flow/envelope"
	"claimdlq/retry"
	"claimdlq/store"
	"claimdlq/target"
)

// run is one delivery of one submission.
type run struct {
	a          *Attempt
	ctx        context.Context
	ids        []*claimdlq.Identity
	s          claimdlq.Submission
	parts      []envelope.Part
	proof      claimdlq.Proof
	held       []byte // the content, where it is small enough
	doubted    bool   // an earlier delivery of the same bytes may have arrived
	idempotent bool
	probe      bool // it is the one that a breaker lets through to look
	done       Summary
}

// deliver takes one submission through lease, intent, delivery and outcome. A
// conflict means that somebody else has it: it is left to him.
func (a *Attempt) deliver(ctx context.Context, ids []*claimdlq.Identity, s claimdlq.Submission) (Summary, error) {
	r := &run{a: a, ctx: ctx, ids: ids, s: s, doubted: s.Digest != claimdlq.Digest{}}
	err := r.deliver()
	if errors.Is(err, claimdlq.Conflict) {
		err = nil
	}
	return r.done, err
}

func (r *run) deliver() error {
	route, ok := r.a.o.Routes(r.s.Stream, r.s.Partner)
	if !ok {
		return r.hold(claimdlq.HoldTarget, "NO_TARGET", r.a.now().Add(r.a.o.HoldFor))
	}
	again, ok, probe := r.a.allow(r.s.Partner, r.a.now())
	if !ok {
		return r.hold(claimdlq.HoldBreaker, "BREAKER_OPEN", again)
	}
	r.probe = probe
	defer func() { r.a.release(r.s.Partner, r.probe) }()
	r.idempotent = route.IdempotentResend
	if err := r.lease(); err != nil {
		return err
	}
	digest, err := r.compose()
	switch {
	case err != nil:
		return err
	case len(r.parts) == 0:
		r.done.Dead++
		return r.a.close(r.ctx, r.s)
	case r.doubted && !r.identical(digest):
		r.idempotent = false // other bytes must never go out under these numbers
		return r.finish(claimdlq.Outcome{Code: claimdlq.NewDetail("DIGEST_MISMATCH")})
	}
	if err := r.intent(digest.sums[0], digest.size); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.ctx, r.a.o.Timeout)
	defer cancel()
	d := route.Target.Deliver(ctx, envelope.Parcel(ctx, r.a.o.Vault, r.proof, r.s, r.parts, r.held))
	return r.end(d)
}

// end makes the outcome durable, and passes on what came back with it.
func (r *run) end(d target.Delivery) error {
	k := d.Outcome.Kind
	res := retry.Result{Probe: r.probe, Failed: k == claimdlq.OutcomeTransient || k == claimdlq.OutcomeUnknownKind}
	if res.Failed {
		res.Hold = retry.Hold(r.a.o.Policies.For(r.s.Stream), retry.Failure{RetryAfter: d.Outcome.RetryAfter})
	}
	r.a.report(r.s.Partner, res, r.a.now())
	r.probe = false // reported: there is no place to free
	// What was sent was sent: a caller who gives up must not leave it unsaid.
	r.ctx = context.WithoutCancel(r.ctx)
	if err := r.finish(d.Outcome); err != nil {
		return err
	}
	if d.Answer.Len() == 0 || r.a.o.Answer == nil {
		return nil
	}
	err := r.a.o.Answer(r.ctx, d.Answer)
	if errors.Is(err, claimdlq.Refused) { // it is no acknowledgment: the delivery is none the worse for it
		r.a.log().LogAttrs(r.ctx, slog.LevelWarn, "Answer to a delivery was refused", slog.Uint64("submission", uint64(r.s.ID)), slog.Any("error", err))
		return nil
	}
	return err
}

// hold keeps the submission back without spending budget.
func (r *run) hold(h claimdlq.Hold, code string, until time.Time) error {
	b := store.Batch{}
	if r.s.Last.String() != code { // say so once on every record
		members, err := r.a.members(r.ctx, r.s, deliverable)
		if err != nil {
			return err
		}
		for _, m := range members {
			n, err := m.Held(h, r.a.now())
			if err != nil {
				return err
			}
			b.Update = append(b.Update, n)
		}
	}
	r.s.Last, r.s.NotBefore = claimdlq.NewDetail(code), until
	b.Submissions = []claimdlq.Submission{r.s}
	_, err := r.a.o.Store.Commit(r.ctx, b)
	r.done.Held++
	return err
}

// lease counts the delivery on every member, durably, before anything happens.
// Members whose budget is spent, by deliveries that a crash cut short, are
// dead-lettered instead.
func (r *run) lease() error {
	now := r.a.now()
	members, err := r.a.members(r.ctx, r.s, deliverable)
	if err != nil {
		return err
	}
	b := store.Batch{}
	var leased, dead []claimdlq.Record
	for _, m := range members {
		if m.ReceiveCount >= r.a.o.Policies.For(r.s.Stream).MaxReceive {
			n, err := r.spent(m, now)
			if err != nil {
				return err
			}
			action := claimdlq.ActEnqueue
			if n.State == claimdlq.StateParked {
				action = claimdlq.ActPark
				dlqlog.Alarm(r.ctx, r.a.log(), dlqlog.AlarmDoubt, n)
			} else {
				dead = append(dead, n)
			}
			b.Update = append(b.Update, n)
			b.Entries = append(b.Entries, entry(action, r.s.ID, m, n, now))
			continue
		}
		n, err := m.Lease(r.s.ID, now)
		if err != nil {
			return err
		}
		leased = append(leased, n)
		b.Update = append(b.Update, n)
		b.Entries = append(b.Entries, entry(claimdlq.ActLease, r.s.ID, m, n, now))
	}
	r.s.State, r.s.LeaseUntil = claimdlq.SubmissionLeased, now.Add(r.a.o.Timeout+time.Minute)
	r.s.Receives++
	b.Submissions = []claimdlq.Submission{r.s}
	receipt, err := r.a.o.Store.Commit(r.ctx, b)
	if err != nil {
		return err
	}
	r.s.Revision++
	r.proof = receipt.Proof
	r.a.enqueued(r.ctx, dead)
	for i := range leased {
		leased[i].Revision++
	}
	r.parts, err = r.a.parts(r.ctx, leased)
	return err
}

// spent dead-letters a member whose budget went on deliveries that never ended.
// One that may have arrived is parked with its doubt: un-parking leads to in_doubt.
func (r *run) spent(m claimdlq.Record, now time.Time) (claimdlq.Record, error) {
	code := m.Detail
	if code.IsZero() {
		code = claimdlq.NewDetail("LEASE_LAPSED")
	}
	if m.FateUnknown {
		n, err := m.Park(claimdlq.OutcomeUnknown, now)
		n.Reason, n.Detail = claimdlq.OutcomeUnknown, code
		return n, err
	}
	return m.Quarantine(claimdlq.Fault{Reason: claimdlq.RetriesExhausted, Class: claimdlq.Transient, Detail: code}, now)
}

// intent makes durable that from here on it may have been sent.
func (r *run) intent(digest claimdlq.Digest, size int64) error {
	now := r.a.now()
	r.s.State, r.s.Digest, r.s.Bytes = claimdlq.SubmissionSending, digest, size
	r.s.LeaseUntil = now.Add(r.a.o.Timeout + time.Minute)
	_, err := r.a.o.Store.Commit(r.ctx, store.Batch{
		Submissions: []claimdlq.Submission{r.s},
		Entries:     []claimdlq.Entry{{At: now, Actor: actor, Action: claimdlq.ActIntent, Submission: r.s.ID}},
	})
	if err == nil {
		r.s.Revision++
	}
	return err
}

const actor = "system:attempt"

func entry(a claimdlq.Action, s claimdlq.SubmissionID, from, to claimdlq.Record, now time.Time) claimdlq.Entry {
	return claimdlq.Entry{
		At: now, Actor: actor, Action: a, Record: to.ID, Submission: s,
		PayloadRevision: to.PayloadRevision, Detail: to.Detail, From: from.State, To: to.State,
	}
}
