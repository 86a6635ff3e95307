package attempt

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"claimdlq"
	"claimdlq/classify"
	"claimdlq/flow/answer"
	"claimdlq/retry"
	"claimdlq/store"
	"claimdlq/target"
)

// worker delivers one submission after the other. What it uses again and again is its
// own.
type worker struct {
	s   *session
	a   *Attempt
	ids []*claimdlq.Identity
	// digests are one for each of ids.
	digests []*claimdlq.DigestWriter
	rx      answer.Reader
	results []classify.NCPDPResult
}

func newWorker(s *session) *worker { return &worker{s: s, a: s.a} }

func (w *worker) loop() {
	for j := range w.s.jobs {
		if w.ids == nil {
			w.ids = clones(w.a.o.Identities)
			for _, id := range w.ids {
				w.digests = append(w.digests, id.NewDigest())
			}
		}
		if j.sub.Stream == claimdlq.StreamNCPDP {
			w.deliverRx(j)
			w.rx.Reset(nil, nil) // it holds claims
		} else {
			w.deliver(j)
		}
		w.s.free.Add(1)
		w.s.kick()
	}
}

// deliver takes an 837 through intent, delivery and outcome. Its lane is busy until the
// outcome is durable and what came back with it is applied: one interchange of a partner
// after the other.
func (w *worker) deliver(j *job) {
	defer w.a.Wake() // it may be due again, and was not looked at while it was under way
	defer w.s.landed(j.sub.ID)
	defer func() { w.a.leave(j.permit) }()
	r := &run{w: w, a: w.a, ctx: w.s.work, ids: w.ids, job: j}
	if err := r.deliver(); err != nil {
		w.s.trouble(err)
	}
}

// send hands the parcel to the target that it is for, and measures how long it took.
func (w *worker) send(j *job, p target.Parcel) (target.Delivery, time.Duration) {
	ctx, cancel := context.WithTimeout(w.s.work, w.a.o.Timeout)
	defer cancel()
	to := j.route.Target
	if j.sub.Fallback && j.route.Fallback != nil {
		to = j.route.Fallback
	}
	began := w.a.o.Now()
	d := to.Deliver(ctx, p)
	return d, w.a.o.Now().Sub(began)
}

// report tells the breaker how a delivery ended.
func (w *worker) report(j *job, r retry.Result, members int) {
	f := w.a.stream(j.sub.Stream)
	f.deliveries.Add(int64(members))
	if r.Failed {
		f.failures.Add(int64(members))
	}
	w.a.report(&j.permit, r, w.a.o.Now())
}

// transportResult is what a breaker learns from an outcome without an answer.
func (w *worker) transportResult(j *job, o claimdlq.Outcome, took time.Duration) retry.Result {
	r := retry.Result{Latency: took, Failed: o.Kind == claimdlq.OutcomeTransient || o.Kind == claimdlq.OutcomeUnknownKind}
	if r.Failed {
		r.Hold = retry.Hold(w.a.o.Policies.For(j.sub.Stream), retry.Failure{RetryAfter: o.RetryAfter})
	}
	return r
}

// intend makes durable that from here on it may have been sent.
func (w *worker) intend(j *job, digest claimdlq.Digest, size int64) error {
	now := w.a.now()
	s := j.sub
	s.State, s.Digest, s.Bytes = claimdlq.SubmissionSending, digest, size
	s.LeaseUntil = now.Add(w.a.o.Timeout + time.Minute)
	_, err := w.a.o.Store.Commit(w.s.work, store.Batch{
		Submissions: []claimdlq.Submission{s},
		Entries:     []claimdlq.Entry{{At: now, Actor: actor, Action: claimdlq.ActIntent, Submission: s.ID}},
	})
	if err == nil {
		j.sub = s
		j.sub.Revision++
		j.intent = true
	}
	return err
}

// verdicts decides the same for every member.
func (w *worker) verdicts(o *outcome, j *job, out claimdlq.Outcome, probe bool) {
	policy := w.a.o.Policies.For(j.sub.Stream)
	o.code = decide(delivery{outcome: out, receives: 1}, policy).code
	for i := range j.members {
		m := &j.members[i]
		doubted := m.FateUnknown || j.doubted && j.sub.Stream != claimdlq.StreamNCPDP
		o.ends = append(o.ends, ended{id: m.ID, v: decide(delivery{
			outcome: out, receives: m.ReceiveCount, doubted: doubted, idempotent: j.route.IdempotentResend, probe: probe,
		}, policy)})
	}
}

// done waits until the outcome is durable, and passes on what came back with it.
func (w *worker) done(o *outcome, d target.Delivery) error {
	o.done = make(chan error, 1)
	w.s.outcomes <- o
	if err := <-o.done; err != nil {
		return err
	}
	if d.Answer.Len() == 0 || w.a.o.Answer == nil {
		return nil
	}
	err := w.a.o.Answer(w.s.keep, d.Answer)
	if errors.Is(err, claimdlq.Refused) { // it is no acknowledgment: the delivery is none the worse for it
		w.a.log().LogAttrs(w.s.keep, slog.LevelWarn, "Answer to a delivery was refused", slog.Uint64("submission", uint64(o.sub.ID)), slog.Any("error", err))
		return nil
	}
	return err
}

// stops reports whether an answer asks that the payer be left alone.
func stops(r classify.NCPDPResult) bool {
	return r.Stop || r.Class == classify.NCPDPTransient && r.Budget == classify.BudgetWindow
}
