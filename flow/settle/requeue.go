package settle

import (
	"cmp"

	"claimdlq"
	"claimdlq/flow/envelope"
	"claimdlq/wire/x12ack"
)

// tryLater returns the record as queued once more after the payer said "not now", or
// as dead-lettered where its budget is spent. It is certain that the payer does
// not have it, unless another sending may have arrived that the answer is not about:
// then it stays in doubt. What only another pipeline has sent is not sent from here without
// a replay, which sees what else there is of the claim.
func (j *job) tryLater(r claimdlq.Record, code claimdlq.Detail) (claimdlq.Record, error) {
	now := j.now()
	if r.Format != claimdlq.FormatNCPDP {
		s, err := j.Store.Submission(j.ctx, r.Submission)
		switch {
		case err != nil:
			return r, err
		case s.Receives == 0:
			return j.notSent(r, code)
		case s.Receives > 1 && doubted(r):
			if r.State == claimdlq.StateInDoubt {
				return r, nil
			}
			return r.Doubt(code, now)
		}
	}
	if r.ReceiveCount >= j.Policies.For(r.Stream).MaxReceive {
		return r.Quarantine(claimdlq.Fault{Reason: claimdlq.RetriesExhausted, Class: claimdlq.Transient, Detail: code}, now)
	}
	return r.Requeue(code, now.Add(j.Policies.For(r.Stream).Backoff(r.ReceiveCount)), now)
}

// resubmission returns a submission under new numbers for records of one group of
// an earlier one. One record alone gets a BHT03 of its own, so that its 277CA can
// be told from that of the first sending.
func (j *job) resubmission(s claimdlq.Submission, g claimdlq.GroupControl, members []claimdlq.IDRange, alone bool, first claimdlq.Record) (claimdlq.Submission, error) {
	n, err := envelope.Allocate(j.ctx, j.Store, s.Envelope, g.Sender, g.Receiver)
	if err != nil {
		return claimdlq.Submission{}, err
	}
	now := j.now()
	env := s.Envelope
	env.Date, env.Time, g.Number = now.Format("060102"), now.Format("1504"), n
	return claimdlq.Submission{
		State: claimdlq.SubmissionReady, Replay: alone, Partner: cmp.Or(s.Partner, first.Partner), Stream: cmp.Or(s.Stream, first.Stream),
		Envelope: env, ISA13: n, Groups: []claimdlq.GroupControl{g}, Members: members, CreatedAt: now, NotBefore: first.NotBefore,
	}, nil
}

// requeueAll sends everything that still waits again under new numbers: the payer
// got only a part of the interchange (TA1 023). The stored copy is whole.
func (j *job) requeueAll(s claimdlq.Submission, a x12ack.Answer) error {
	numbers := map[claimdlq.GroupControl]claimdlq.Submission{} // kept over a conflict: none is wasted
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
		doubt := false
		byGroup := map[claimdlq.GroupControl][]claimdlq.Record{}
		for _, r := range members {
			if !awaited(s, r) {
				continue
			}
			n, err := j.tryLater(r, a.Detail())
			if err != nil {
				return err
			}
			if n.State == r.State {
				continue
			}
			m.update(claimdlq.ActAcknowledge, r, n)
			doubt = doubt || n.State == claimdlq.StateInDoubt
			if n.State == claimdlq.StateQueued {
				g, _ := groupOf(s, r)
				byGroup[g] = append(byGroup[g], n)
			}
		}
		if m.empty() {
			return nil
		}
		for g, rs := range byGroup {
			sub, ok := numbers[g]
			if !ok {
				if sub, err = j.resubmission(s, g, nil, s.Replay && len(rs) == 1, rs[0]); err != nil {
					return err
				}
				numbers[g] = sub
			}
			sub.Members = runs(rs)
			m.batch.NewSubmissions = append(m.batch.NewSubmissions, sub)
		}
		s.State, s.Last = claimdlq.SubmissionDead, a.Detail()
		if doubt {
			s.State = claimdlq.SubmissionInDoubt
		}
		m.batch.Submissions = append(m.batch.Submissions, s)
		return m.commit()
	})
}

// runs returns the records' ids, in order, as runs.
func runs(rs []claimdlq.Record) []claimdlq.IDRange {
	var out []claimdlq.IDRange
	for _, r := range rs {
		if n := len(out); n > 0 && out[n-1].Last+1 == r.ID {
			out[n-1].Last = r.ID
			continue
		}
		out = append(out, claimdlq.IDRange{First: r.ID, Last: r.ID})
	}
	return out
}
