package settle

import (
	"strconv"

	"claimdlq"
	"claimdlq/flow/envelope"
	"claimdlq/store"
)

// maxCandidates bounds how many submissions or sets one number may stand for.
const maxCandidates = 1000

// wasSent reports whether some of the submission's bytes may have left us.
func wasSent(s claimdlq.Submission) bool {
	switch s.State {
	case claimdlq.SubmissionReady, claimdlq.SubmissionLeased:
		return s.Digest != claimdlq.Digest{} // an identical re-send
	}
	return true
}

// open reports whether an answer to the submission is still awaited.
func open(s claimdlq.Submission) bool {
	return s.State != claimdlq.SubmissionAnswered && s.State != claimdlq.SubmissionDead
}

// find returns the one submission under ref that fits. Of several the one that
// still waits for an answer is meant; if that does not tell, none.
func (j *job) find(ref claimdlq.Ref, fits func(claimdlq.Submission) bool) (claimdlq.Submission, bool, error) {
	found, err := j.Store.FindSubmissions(j.ctx, ref, maxCandidates)
	if err != nil {
		return claimdlq.Submission{}, false, err
	}
	var all, waiting []claimdlq.Submission
	for _, s := range found {
		if !wasSent(s) || !fits(s) {
			continue
		}
		all = append(all, s)
		if open(s) {
			waiting = append(waiting, s)
		}
	}
	switch {
	case len(all) == 1:
		return all[0], true, nil
	case len(waiting) == 1:
		return waiting[0], true, nil
	}
	return claimdlq.Submission{}, false, nil
}

// members returns all the submission's records, in order.
func (j *job) members(s claimdlq.Submission) ([]claimdlq.Record, error) {
	var out []claimdlq.Record
	for _, run := range s.Members {
		for id := run.First; id <= run.Last; id++ {
			r, err := j.Store.Get(j.ctx, id)
			if err != nil {
				return nil, err
			}
			out = append(out, r)
		}
	}
	return out, nil
}

// awaited reports whether the record still waits for the fate of this submission.
func awaited(s claimdlq.Submission, r claimdlq.Record) bool {
	if r.Submission != s.ID {
		return false
	}
	switch r.State {
	case claimdlq.StateLeased, claimdlq.StateSubmitted, claimdlq.StateInDoubt:
		return true
	}
	return r.State == claimdlq.StateQueued && r.FateUnknown
}

// arrived frees the submission and its members from doubt: whatever answers it
// proves that the interchange arrived, and it arrives whole.
func (j *job) arrived(s claimdlq.Submission, code claimdlq.Detail) error {
	if s.State == claimdlq.SubmissionSent && s.Last == code {
		return nil
	}
	return retried(func() error {
		s, err := j.Store.Submission(j.ctx, s.ID)
		if err != nil {
			return err
		}
		if s.State == claimdlq.SubmissionInDoubt {
			return j.undoubted(s, code, everyone)
		}
		s.Last = code
		_, err = j.Store.Commit(j.ctx, store.Batch{
			Submissions: []claimdlq.Submission{s}, Entries: []claimdlq.Entry{j.acknowledged(s, code)},
		})
		return err
	})
}

// found is arrived on the word of who was asked about members in doubt: it moves them
// whatever is known of the others. They may be in doubt beside what waits for its answer,
// or since a person took them back from where they had been put away. Errors: Conflict
// where others are being delivered, whose end says how the submission stands.
func (j *job) found(s claimdlq.Submission, code claimdlq.Detail, of func(claimdlq.ID) bool) error {
	return retried(func() error {
		s, err := j.Store.Submission(j.ctx, s.ID)
		if err != nil {
			return err
		}
		if underWay(s) {
			return &claimdlq.Error{
				Code: claimdlq.Conflict, Op: "settle submission " + strconv.FormatUint(uint64(s.ID), 10),
				On: "others of it are being delivered", Hint: "try again when they have been",
			}
		}
		return j.undoubted(s, code, of)
	})
}

// underWay reports whether the submission is being delivered, or will be.
func underWay(s claimdlq.Submission) bool {
	return s.State == claimdlq.SubmissionReady || s.State == claimdlq.SubmissionLeased || s.State == claimdlq.SubmissionSending
}

// undoubted lets every member in doubt that is meant wait for its answer, with a deadline.
func (j *job) undoubted(s claimdlq.Submission, code claimdlq.Detail, of func(claimdlq.ID) bool) error {
	members, err := j.members(s)
	if err != nil {
		return err
	}
	m := &moves{j: j}
	for _, r := range members {
		if r.State != claimdlq.StateInDoubt || r.Submission != s.ID || !of(r.ID) {
			continue
		}
		n, err := r.Sent(j.now())
		if err != nil {
			return err
		}
		m.update(claimdlq.ActAcknowledge, r, n)
	}
	s.State, s.Last, s.NotBefore = claimdlq.SubmissionSent, code, j.now().Add(j.Policies.For(s.Stream).AckDeadline)
	m.batch.Submissions = []claimdlq.Submission{s}
	m.batch.Entries = append(m.batch.Entries, j.acknowledged(s, code))
	return m.commit()
}

func (j *job) acknowledged(s claimdlq.Submission, code claimdlq.Detail) claimdlq.Entry {
	return claimdlq.Entry{At: j.now(), Actor: j.by.Actor, Action: claimdlq.ActAcknowledge, Submission: s.ID, Detail: code}
}

// close marks the submissions answered whose every member's fate is known.
func (j *job) close() error {
	for id := range j.closed {
		err := retried(func() error {
			s, err := j.Store.Submission(j.ctx, id)
			if err != nil || !open(s) || underWay(s) {
				return err
			}
			members, err := j.members(s)
			if err != nil {
				return err
			}
			waits := false
			for _, r := range members {
				switch {
				case r.State == claimdlq.StateInDoubt && r.Submission == 0:
					return nil // it is being handed over, and does not know yet what carries it
				case !awaited(s, r):
				case r.State != claimdlq.StateSubmitted || s.State == claimdlq.SubmissionSent:
					return nil
				default:
					waits = true
				}
			}
			s.State, s.NotBefore = claimdlq.SubmissionAnswered, s.SentAt
			if waits { // the doubt beside it had kept the deadline from running
				s.State, s.NotBefore = claimdlq.SubmissionSent, j.now().Add(j.Policies.For(s.Stream).AckDeadline)
			}
			_, err = j.Store.Commit(j.ctx, store.Batch{Submissions: []claimdlq.Submission{s}})
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// groupOf returns the group in which the record went out.
func groupOf(s claimdlq.Submission, r claimdlq.Record) (claimdlq.GroupControl, bool) {
	if len(s.Groups) == 1 {
		return s.Groups[0], true
	}
	n, ok := envelope.Number(r.GroupID)
	for _, g := range s.Groups {
		if ok && g.Number == n {
			return g, true
		}
	}
	return claimdlq.GroupControl{}, false
}
