package settle

import (
	"claimdlq"
	"claimdlq/classify"
	"claimdlq/flow/dlqlog"
	"claimdlq/store"
	"claimdlq/wire/x12ack"
)

// ta1 does what a TA1 says about a whole interchange.
func (j *job) ta1(a x12ack.Answer) error {
	ref := store.InterchangeRef(a.Envelope, a.ISA13)
	s, ok, err := j.find(ref, func(claimdlq.Submission) bool { return true })
	if err == nil && !ok && a.Envelope.Date != "" { // TA102 and TA103 as a tie-break
		s, ok, err = j.find(ref, func(s claimdlq.Submission) bool {
			return s.Envelope.Date == a.Envelope.Date && s.Envelope.Time == a.Envelope.Time
		})
	}
	if err != nil {
		return err
	}
	if !ok {
		j.miss(1, "TA1:ORPHAN")
		return nil
	}
	switch a.Result {
	case classify.Accepted, classify.AcceptedWithErrors, classify.Pending:
		j.result.Pending++
		return j.arrived(s, a.Detail())
	case classify.AlreadyReceived, classify.Duplicate:
		if s.State == claimdlq.SubmissionInDoubt || s.Receives > 1 {
			j.result.Pending++
			return j.arrived(s, a.Detail()) // the copy whose fate was not known
		}
		// We sent it once and knew that it arrived: somebody else has used the
		// number. Whether this content is with the payer, nobody knows.
		return j.doubt(s, a.Detail())
	case classify.TryLater:
		return j.requeueAll(s, a)
	case classify.Rejected:
		return j.rejectAll(s, a)
	}
	return nil
}

// rejectAll quarantines every member that still waits.
func (j *job) rejectAll(s claimdlq.Submission, a x12ack.Answer) error {
	return j.moveAll(s, claimdlq.SubmissionDead, a.Detail(), func(m *moves, r claimdlq.Record) error {
		return m.quarantine(r, faultOf(a))
	})
}

func (m *moves) quarantine(r claimdlq.Record, f claimdlq.Fault) error {
	n, err := r.Quarantine(f, m.j.now())
	if err != nil {
		return err
	}
	m.update(claimdlq.ActAcknowledge, r, n)
	return nil
}

// doubt puts every member that waits into doubt, with an alarm.
func (j *job) doubt(s claimdlq.Submission, code claimdlq.Detail) error {
	return j.moveAll(s, claimdlq.SubmissionInDoubt, code, func(m *moves, r claimdlq.Record) error {
		if r.State == claimdlq.StateInDoubt {
			return nil
		}
		n, err := r.Doubt(code, j.now())
		if err != nil {
			return err
		}
		m.update(claimdlq.ActAcknowledge, r, n)
		dlqlog.Alarm(j.ctx, j.Log, dlqlog.AlarmOverdue, n)
		return nil
	})
}

// moveAll moves every member that still waits, and the submission with them.
func (j *job) moveAll(s claimdlq.Submission, to claimdlq.SubmissionState, code claimdlq.Detail, move func(*moves, claimdlq.Record) error) error {
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
		for _, r := range members {
			if awaited(s, r) {
				if err := move(m, r); err != nil {
					return err
				}
			}
		}
		if m.empty() {
			return nil // it was said before, or everything has been answered since
		}
		s.State, s.Last = to, code
		m.batch.Submissions = append(m.batch.Submissions, s)
		return m.commit()
	})
}
