package attempt

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"claimdlq"
	"claimdlq/flow/dlqlog"
	"claimdlq/phi"
	"claimdlq/store"
)

// ended is how a delivery ended for one member.
type ended struct {
	id        claimdlq.ID
	v         verdict
	unknown   bool // its answer had a reject code that is in no table
	recovered bool // an earlier delivery had earned what it says
}

// outcome is how a delivery ended, and the steps that follow from it.
type outcome struct {
	sub    claimdlq.Submission
	code   claimdlq.Detail
	ends   []ended   // one for each member that was delivered
	answer phi.Bytes // sealed with the outcome; empty if there is none
	// response is where the sealed answer is.
	response claimdlq.PayloadRef
	// done, if not nil, is told when it is durable, or why it is not.
	done chan error

	steps   store.Batch
	moved   []ended // those of ends that were applied, in the order of steps.Update
	waits   time.Time
	summary Summary
}

// spentOutcomes are those that are durable: their memory is used again.
var spentOutcomes = sync.Pool{New: func() any { return new(outcome) }}

func newOutcome() *outcome {
	o, _ := spentOutcomes.Get().(*outcome)
	return o
}

// freeOutcome gives it back; nobody may look at it any more.
func freeOutcome(o *outcome) {
	empty(&o.steps)
	*o = outcome{ends: o.ends[:0], moved: o.moved[:0], steps: o.steps}
	spentOutcomes.Put(o)
}

// apply finds the steps of the members that are leased still, each as it was read.
// Nothing is left to do where an answer was faster.
func (o *outcome) apply(members []claimdlq.Record, p claimdlq.Policy, now time.Time) error {
	empty(&o.steps)
	o.moved, o.waits = o.moved[:0], time.Time{}
	v, ends, again, told := verdict{code: o.code}, ends{}, 0, false
	for i := range members {
		e := o.of(members[i].ID)
		if e == nil {
			continue
		}
		n, err := e.v.step(members[i], now)
		if err != nil {
			return err
		}
		if e.v.again() {
			again++
			v.wait = max(v.wait, e.v.wait)
		}
		if !o.response.IsZero() {
			n.Response = o.response
		}
		ends[e.v.end] = true
		o.moved = append(o.moved, *e)
		o.steps.Update = append(o.steps.Update, n)
		told = o.audit(&members[i], &n, now) || told
	}
	if len(members) == 0 { // answered before the outcome was known: it arrived
		ends[endSent] = true
	}
	if again > 0 && again < len(o.moved) && o.sub.Stream == claimdlq.StreamNCPDP {
		o.part(now)
		ends[endAgain], ends[endResend] = false, false
	}
	s := v.closed(o.sub, ends, p, now)
	if s.State == claimdlq.SubmissionReady {
		o.waits = s.NotBefore
	}
	o.steps.Submissions = append(o.steps.Submissions, s)
	if !told {
		o.steps.Entries = append(o.steps.Entries, claimdlq.Entry{At: now, Actor: actor, Action: claimdlq.ActOutcome, Submission: s.ID, Detail: v.code})
	}
	o.summary = Summary{}
	o.summary.count(s)
	return nil
}

// of returns the end of a member; nil where it was not delivered.
func (o *outcome) of(id claimdlq.ID) *ended {
	for i := range o.ends {
		if o.ends[i].id == id {
			return &o.ends[i]
		}
	}
	return nil
}

// audit adds the audit entry of one member, and reports whether it says how the delivery
// ended. The members of an 837, which may be thousands, share one, but for those that are
// dead-lettered.
func (o *outcome) audit(from, to *claimdlq.Record, now time.Time) bool {
	action := claimdlq.ActOutcome
	switch {
	case to.State == claimdlq.StateQuarantined:
		action = claimdlq.ActEnqueue
	case o.sub.Stream != claimdlq.StreamNCPDP:
		return false
	}
	o.steps.Entries = append(o.steps.Entries, entry(action, o.sub.ID, from, to, now))
	return action == claimdlq.ActOutcome
}

// point makes the steps point at the sealed answer.
func (o *outcome) point(ref claimdlq.PayloadRef) {
	o.response = ref
	for i := range o.steps.Update {
		o.steps.Update[i].Response = ref
	}
}

// part gives each member that will be sent again a submission of its own: what came
// with it is settled, and must not be sent again.
func (o *outcome) part(now time.Time) {
	for i, e := range o.moved {
		if e.v.again() {
			notBefore := now.Add(e.v.wait)
			s := single(o.sub, e.id, notBefore, now)
			s.Last = e.v.code
			o.steps.NewSubmissions = append(o.steps.NewSubmissions, s)
			if i == 0 || o.waits.IsZero() || notBefore.Before(o.waits) {
				o.waits = notBefore
			}
		}
	}
}

func (s *Summary) add(o Summary) {
	s.Sent += o.Sent
	s.Requeued += o.Requeued
	s.InDoubt += o.InDoubt
	s.Dead += o.Dead
	s.Held += o.Held
}

func (s *Summary) count(sub claimdlq.Submission) {
	switch sub.State {
	case claimdlq.SubmissionReady:
		s.Requeued++
	case claimdlq.SubmissionInDoubt:
		s.InDoubt++
	case claimdlq.SubmissionDead:
		s.Dead++
	default:
		s.Sent++
	}
}

// tell says what has become durable: in the log, in the figures, to who listens.
func (a *Attempt) tell(ctx context.Context, o *outcome) {
	f := a.stream(o.sub.Stream)
	for i := range o.moved {
		e, r := &o.moved[i], &o.steps.Update[i]
		result := e.v.result()
		switch result {
		case DLQPoison, DLQRejected, DLQExhausted:
			f.dead.Add(1)
		case InDoubt:
			f.doubts.Add(1)
		case Requeued, Terminal, Sent, Settled:
		}
		if r.ReceiveCount > 1 {
			f.retries.Add(1)
		}
		if e.recovered {
			f.recovered.Add(1)
		}
		if e.unknown {
			f.unknown.Add(1)
		}
		a.line(ctx, r, result, e.v.wait)
		if a.o.Ended != nil {
			a.o.Ended(*r, result)
		}
	}
}

// result names the verdict.
func (v *verdict) result() Result {
	switch v.end {
	case endSent:
		return Sent
	case endSettled:
		if v.disposition == claimdlq.Rejected {
			return Terminal
		}
		return Settled
	case endAgain, endResend:
		return Requeued
	case endSpent:
		return DLQExhausted
	case endDead:
		if v.fault.Reason == claimdlq.FatalSyntax {
			return DLQPoison
		}
		return DLQRejected
	case endDoubt:
	}
	return InDoubt
}

// line logs the end of a delivery in the words of its stream.
func (a *Attempt) line(ctx context.Context, r *claimdlq.Record, result Result, wait time.Duration) {
	if r.Stream != claimdlq.StreamNCPDP {
		if r.State == claimdlq.StateQuarantined {
			dlqlog.Enqueued(ctx, a.log(), *r)
		}
		if r.State == claimdlq.StateInDoubt {
			dlqlog.Doubt(ctx, a.log(), *r)
		}
		return
	}
	if quiet := result == Terminal || result == Requeued; quiet && !a.o.RxLog.Enabled(ctx, slog.LevelInfo) {
		return
	}
	switch result {
	case Terminal:
		dlqlog.RxTerminal(ctx, a.o.RxLog, *r)
	case DLQPoison:
		dlqlog.RxPoison(ctx, a.o.RxLog, *r)
	case DLQExhausted:
		dlqlog.RxExhausted(ctx, a.o.RxLog, *r)
	case InDoubt:
		dlqlog.Doubt(ctx, a.o.RxLog, *r)
	case Requeued:
		dlqlog.RxRequeue(ctx, a.o.RxLog, *r, wait)
	case DLQRejected:
		dlqlog.Enqueued(ctx, a.log(), *r)
	case Sent, Settled:
	}
}

// spent tells of members that were dead-lettered without a delivery.
func (a *Attempt) spent(ctx context.Context, dead []claimdlq.Record) {
	for i := range dead {
		r := &dead[i]
		result := DLQExhausted
		switch {
		case r.State == claimdlq.StateParked:
			dlqlog.Alarm(ctx, a.log(), dlqlog.AlarmDoubt, *r)
			continue
		case r.Reason != claimdlq.RetriesExhausted:
			result = DLQRejected
		}
		a.stream(r.Stream).dead.Add(1)
		a.line(ctx, r, result, 0)
	}
}
