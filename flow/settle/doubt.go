package settle

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"claimdlq"
	"claimdlq/flow/audited"
	"claimdlq/flow/dlqlog"
	"claimdlq/flow/envelope"
	"claimdlq/store"
)

// Inquire asks the target whether the interchange that carried the record
// arrived, and acts on a clear answer for every member that is in doubt: it
// arrived, it was refused, or it did not arrive and is delivered again with the
// same bytes and numbers, within the budget. known is false where the target
// answered and cannot tell; then nothing changes. A pharmacy payer that may be sent the
// identical bytes again is asked by them, and what it answers settles the claim. Errors:
// NotFound; Refused where the record is not in doubt, or a later claim of its fill is
// decided, which the same bytes would undo, or an earlier one is not; Unavailable without a target, and
// where the target could not be reached or did not answer: On is the outcome's code, such
// as HTTP_503 or TIMEOUT, and the record is as it was; Conflict while an inquiry about it
// is under way.
func (t *Settle) Inquire(ctx context.Context, by claimdlq.By, id claimdlq.ID) (r claimdlq.Record, known bool, err error) {
	j := t.job(ctx, by)
	s, err := j.inDoubt(id, "inquire about record ")
	if err != nil {
		return r, false, err
	}
	route, ok := j.Routes(s.Stream, s.Partner)
	if !ok {
		return r, false, &claimdlq.Error{Code: claimdlq.Unavailable, Op: "inquire about record " + id.String(), On: "no target for its partner", Hint: "configure a target"}
	}
	if s.Stream == claimdlq.StreamNCPDP {
		if known, err = j.inquireRx(s, route); err != nil {
			return r, known, err
		}
		r, err = j.Store.Get(ctx, id)
		return r, known, err
	}
	parts, proof, err := j.doubtful(s)
	if err != nil {
		return r, false, err
	}
	o, told := route.For(s).Inquire(ctx, envelope.Parcel(ctx, j.Vault, proof, s, parts, nil))
	if known, err = j.asked(s, o, told); err != nil {
		return r, false, err
	}
	r, err = j.Store.Get(ctx, id)
	return r, known, err
}

// asked acts on what a status query brought.
func (j *job) asked(s claimdlq.Submission, o claimdlq.Outcome, told bool) (known bool, err error) {
	switch {
	case told && !o.Ambiguous:
		return true, j.told(s, o)
	case told:
		return false, nil
	}
	return false, unanswered(s, o)
}

// errNoAnswer is the cause of an inquiry's error where the target did not answer.
var errNoAnswer = errors.New("no answer")

// unanswered returns an error where the outcome says that the target could not be
// reached, did not answer in time, or looks at nothing now; nil where it answered.
func unanswered(s claimdlq.Submission, o claimdlq.Outcome) error {
	if o.Code.IsZero() || o.Kind != claimdlq.OutcomeTransient && o.Kind != claimdlq.OutcomeUnknownKind {
		return nil
	}
	return &claimdlq.Error{
		Code: claimdlq.Unavailable, Op: "inquire about submission " + strconv.FormatUint(uint64(s.ID), 10), On: o.Code.String(),
		Hint: "nothing has changed: try again later", Err: errNoAnswer,
	}
}

// inDoubt returns the submission whose fate the record waits for.
func (j *job) inDoubt(id claimdlq.ID, op string) (claimdlq.Submission, error) {
	r, err := j.Store.Get(j.ctx, id)
	if err != nil {
		return claimdlq.Submission{}, err
	}
	if r.State != claimdlq.StateInDoubt {
		return claimdlq.Submission{}, &claimdlq.Error{Code: claimdlq.Refused, Op: op + id.String(), On: "state " + r.State.String(), Hint: "only a record in doubt has an open fate"}
	}
	return j.Store.Submission(j.ctx, r.Submission)
}

// doubtful returns the submission's members that are in doubt, opened for the
// target's comparison, which is audited.
func (j *job) doubtful(s claimdlq.Submission) (parts []envelope.Part, proof claimdlq.Proof, err error) {
	members, err := j.members(s)
	if err != nil {
		return nil, proof, err
	}
	var opened []claimdlq.Record
	for _, r := range members {
		if r.State != claimdlq.StateInDoubt || r.Submission != s.ID {
			continue
		}
		p, err := envelope.PartOf(j.ctx, j.Store, r)
		if err != nil {
			return nil, proof, err
		}
		parts, opened = append(parts, p), append(opened, r)
	}
	proof, err = audited.Open(j.ctx, j.Store, j.by, claimdlq.ActOpen, j.now(), opened...)
	return parts, proof, err
}

// told acts on what the target says about a submission in doubt.
func (j *job) told(s claimdlq.Submission, o claimdlq.Outcome) error {
	switch o.Kind {
	case claimdlq.OutcomeSubmitted, claimdlq.OutcomeAccepted, claimdlq.OutcomeDuplicate, claimdlq.OutcomePaid, claimdlq.OutcomeReversed:
		return j.found(s, o.Code, everyone)
	case claimdlq.OutcomeRejected:
		return j.lost(s, everyone, claimdlq.SubmissionDead, o.Code, func(r claimdlq.Record) (claimdlq.Record, error) {
			return r.Quarantine(claimdlq.Fault{Reason: claimdlq.SemanticReject, Class: claimdlq.Terminal, Detail: o.Code}, j.now())
		})
	case claimdlq.OutcomePoison:
		return j.lost(s, everyone, claimdlq.SubmissionDead, o.Code, func(r claimdlq.Record) (claimdlq.Record, error) {
			return r.Quarantine(claimdlq.Fault{Reason: claimdlq.FatalSyntax, Class: claimdlq.Poison, Detail: o.Code}, j.now())
		})
	case claimdlq.OutcomeTransient:
		return j.lost(s, everyone, claimdlq.SubmissionReady, o.Code, func(r claimdlq.Record) (claimdlq.Record, error) {
			return j.tryLater(r, o.Code)
		})
	case claimdlq.OutcomeUnknownKind:
	}
	return nil
}

// everyone is of all members of a submission.
func everyone(claimdlq.ID) bool { return true }

// meant returns of which members of the submission a person speaks who speaks of the
// record: an interchange arrives whole or not at all, but what each claim of a pharmacy's
// transmission did stands by itself.
func meant(s claimdlq.Submission, id claimdlq.ID) func(claimdlq.ID) bool {
	if s.Stream == claimdlq.StreamNCPDP {
		return func(m claimdlq.ID) bool { return m == id }
	}
	return everyone
}

// lost moves every member in doubt that is meant, and the submission to the given state: nobody
// has its bytes. Ready means the same bytes under the same numbers once more.
func (j *job) lost(s claimdlq.Submission, of func(claimdlq.ID) bool, to claimdlq.SubmissionState, code claimdlq.Detail, step func(claimdlq.Record) (claimdlq.Record, error)) error {
	return retried(func() error {
		s, err := j.Store.Submission(j.ctx, s.ID)
		if err != nil {
			return err
		}
		members, err := j.members(s)
		if err != nil {
			return err
		}
		m := &moves{j: j}
		queued, waits, doubt := false, false, false
		for _, r := range members {
			waits = waits || r.State == claimdlq.StateSubmitted && r.Submission == s.ID
			if r.State != claimdlq.StateInDoubt || r.Submission != s.ID {
				continue
			}
			if !of(r.ID) {
				doubt = true
				continue
			}
			n, err := step(r)
			if err != nil {
				return err
			}
			if n.State == r.State {
				doubt = true
				continue
			}
			queued = queued || n.State == claimdlq.StateQueued
			s.NotBefore = n.NotBefore
			m.update(claimdlq.ActResolve, r, n)
		}
		s.State, s.Last = claimdlq.SubmissionDead, code
		if doubt {
			s.State = claimdlq.SubmissionInDoubt
		}
		if waits { // another of it is with the payer, and its deadline runs
			s.State, s.NotBefore = claimdlq.SubmissionSent, j.now().Add(j.Policies.For(s.Stream).AckDeadline)
		}
		if to == claimdlq.SubmissionReady && queued {
			s.State = to
			if s.Stream != claimdlq.StreamNCPDP { // which always goes out as the same bytes
				s.Digest, s.Bytes = claimdlq.Digest{}, 0
			}
		}
		m.batch.Submissions = []claimdlq.Submission{s}
		return m.commit()
	})
}

// Resolve settles a doubt on the word of a named person, for every record that
// went out in the same interchange and is in doubt: an interchange arrives whole or
// not at all. Of a pharmacy claim it says that what it did stands, or not, and speaks of
// that one alone. What arrived waits for its acknowledgment again; what did not is
// quarantined and may be replayed as it is. Errors: NotFound; Refused where the
// record is not in doubt, or without a person's name and reason, or where a pharmacy
// claim arrived and an earlier one of its fill is not decided; Conflict while an
// inquiry about it, or a delivery of what went out with it, is under way.
func (t *Settle) Resolve(ctx context.Context, by claimdlq.By, id claimdlq.ID, has bool) (claimdlq.Record, error) {
	op := "resolve record "
	if err := audited.Named(by, op+id.String()); err != nil {
		return claimdlq.Record{}, err
	}
	if strings.HasPrefix(by.Actor, "system:") {
		return claimdlq.Record{}, &claimdlq.Error{Code: claimdlq.Refused, Op: op + id.String(), On: "by a stage", Hint: "only a person may say what became of it"}
	}
	j := t.job(ctx, by)
	s, err := j.inDoubt(id, op)
	if err != nil {
		return claimdlq.Record{}, err
	}
	t.asks.mu.RLock() // no inquiry begins meanwhile
	defer t.asks.mu.RUnlock()
	if t.asks.asked(id) {
		return claimdlq.Record{}, asking(s)
	}
	if has {
		if err = j.mayStand(s, id, op+id.String()); err == nil {
			err = j.found(s, arrived, meant(s, id))
		}
	} else {
		err = j.lost(s, meant(s, id), claimdlq.SubmissionDead, claimdlq.NewDetail("RESOLVED:NOT_ARRIVED"), j.notArrived)
	}
	if err != nil {
		return claimdlq.Record{}, err
	}
	return j.Store.Get(ctx, id)
}

// arrived is the code of a submission of which a person said so.
var arrived = claimdlq.NewDetail("RESOLVED:ARRIVED")

// notArrived quarantines a record whose payload nobody has found wanting.
func (j *job) notArrived(r claimdlq.Record) (claimdlq.Record, error) {
	return j.notSent(r, claimdlq.NewDetail("RESOLVED:NOT_ARRIVED"))
}

// notSent is notArrived for the given code.
func (j *job) notSent(r claimdlq.Record, code claimdlq.Detail) (claimdlq.Record, error) {
	n, err := r.Quarantine(claimdlq.Fault{Reason: claimdlq.OutcomeUnknown, Class: claimdlq.Transient, Detail: code}, j.now())
	n.RefusedRevision = r.RefusedRevision
	return n, err
}

// Overdue puts what has waited for its acknowledgment past the deadline into
// doubt, with an alarm for each record. It returns how many records.
func (t *Settle) Overdue(ctx context.Context) (int, error) {
	j := t.job(ctx, claimdlq.System("settle"))
	late := 0
	for {
		due, err := j.Store.Due(ctx, store.DueQuery{State: claimdlq.SubmissionSent, Now: j.now(), Limit: maxCandidates})
		if err != nil {
			return late, err
		}
		for _, s := range due {
			n, err := j.overdue(s)
			late += n
			if err != nil {
				return late, err
			}
		}
		if len(due) < maxCandidates {
			return late, nil
		}
	}
}

func (j *job) overdue(s claimdlq.Submission) (late int, err error) {
	code := claimdlq.NewDetail("ACK_OVERDUE")
	err = retried(func() error {
		late = 0
		s, err := j.Store.Submission(j.ctx, s.ID)
		if err != nil || s.State != claimdlq.SubmissionSent {
			return err
		}
		members, err := j.members(s)
		if err != nil {
			return err
		}
		b := store.Batch{}
		for _, r := range members {
			if r.State != claimdlq.StateSubmitted || r.Submission != s.ID {
				continue
			}
			n, err := r.Doubt(code, j.now())
			if err != nil {
				return err
			}
			b.Update = append(b.Update, n)
			b.Entries = append(b.Entries, j.entry(claimdlq.ActOutcome, r, n))
		}
		s.State = claimdlq.SubmissionAnswered // if nobody waits any more
		if late = len(b.Update); late > 0 {
			s.State, s.Last = claimdlq.SubmissionInDoubt, code
		}
		b.Submissions = []claimdlq.Submission{s}
		if _, err := j.Store.Commit(j.ctx, b); err != nil {
			return err
		}
		for _, r := range b.Update {
			l := j.logFor(r)
			dlqlog.Alarm(j.ctx, l, dlqlog.AlarmOverdue, r)
			dlqlog.Doubt(j.ctx, l, r)
		}
		return nil
	})
	return late, err
}
