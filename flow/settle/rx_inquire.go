package settle

import (
	"context"
	"slices"

	"claimdlq"
	"claimdlq/flow/answer"
	"claimdlq/flow/audited"
	"claimdlq/flow/envelope"
	"claimdlq/phi"
	"claimdlq/store"
	"claimdlq/target"
)

// inquireRx asks what became of a pharmacy transmission in doubt by sending the
// identical bytes once more: a payer that has the claim answers so. It is no delivery
// of the budget, for the claim is not queued; that it happens is audited before. known
// is false where the payer gave no clear answer: then the record is as it was. Errors:
// Unavailable where it gave none.
func (j *job) inquireRx(s claimdlq.Submission, route target.Route) (known bool, err error) {
	members, err := j.members(s)
	if err != nil {
		return false, err
	}
	proof, err := j.askRx(s, members)
	if err != nil {
		return false, err
	}
	raw, err := envelope.RxBytes(j.ctx, j.Vault, proof, s, asSent(s, members))
	if err != nil {
		return false, err
	}
	if !j.identical(s, raw) {
		return false, &claimdlq.Error{
			Code: claimdlq.Corrupt, Op: "inquire about submission", On: "the bytes are not those that were sent",
			Hint: "ask the payer, then: claimdlq resolve",
		}
	}
	parcel, t := envelope.RxParcel(s, raw), route.For(s)
	if !route.IdempotentResend {
		o, told := t.Inquire(j.ctx, parcel)
		return j.asked(s, o, told)
	}
	d := t.Deliver(j.ctx, parcel)
	// What was sent was sent: a caller who gives up must not leave its end unsaid.
	ctx := j.ctx
	j.ctx = context.WithoutCancel(ctx)
	defer func() { j.ctx = ctx }()
	if d.Answer.Len() == 0 {
		if err := j.silent(s, d.Outcome.Code); err != nil {
			return false, err
		}
		return false, unanswered(s, d.Outcome)
	}
	return j.answeredRx(s, raw, d.Answer)
}

// asSent returns the members as they were when they went out together. One whose fate
// is known may have been corrected since and point elsewhere; one in doubt has not.
func asSent(s claimdlq.Submission, members []claimdlq.Record) []claimdlq.Record {
	i := slices.IndexFunc(members, func(r claimdlq.Record) bool {
		return r.State == claimdlq.StateInDoubt && r.Submission == s.ID
	})
	if len(members) == 1 || i < 0 {
		return members
	}
	out := slices.Clone(members)
	for n := range out {
		out[n].Payload, out[n].PayloadRevision = members[i].Payload, members[i].PayloadRevision
	}
	return out
}

// askRx makes durable that the payloads are opened and sent once more, by whom and
// why.
func (j *job) askRx(s claimdlq.Submission, members []claimdlq.Record) (claimdlq.Proof, error) {
	b := store.Batch{}
	for _, r := range members {
		b.Entries = append(b.Entries, j.entry(claimdlq.ActOpen, r, r))
	}
	b.Entries = append(b.Entries, claimdlq.Entry{
		At: j.now(), Actor: j.by.Actor, Action: claimdlq.ActIntent, Submission: s.ID, Detail: claimdlq.NewDetail("INQUIRY"),
		Note: audited.Note(j.by.Reason),
	})
	receipt, err := j.Store.Commit(j.ctx, b)
	return receipt.Proof, err
}

// identical reports whether the bytes are those of the intent, under whichever term
// it was made.
func (j *job) identical(s claimdlq.Submission, raw phi.Bytes) bool {
	return slices.ContainsFunc(j.ids, func(id *claimdlq.Identity) bool { return id.Digest(raw.Reveal()) == s.Digest })
}

// silent keeps the doubt, and what the inquiry met.
func (j *job) silent(s claimdlq.Submission, code claimdlq.Detail) error {
	if code.IsZero() {
		code = claimdlq.NewDetail("NO_ANSWER")
	}
	_, err := j.Store.Commit(j.ctx, store.Batch{Entries: []claimdlq.Entry{{
		At: j.now(), Actor: j.by.Actor, Action: claimdlq.ActOutcome, Submission: s.ID, Detail: code,
		Note: audited.Note(j.by.Reason),
	}}})
	return err
}

// answeredRx does what the answer to an inquiry says of the members in doubt. The
// answer is sealed before anything follows from it. known says that the fate of each
// is known now, or waited for.
func (j *job) answeredRx(s claimdlq.Submission, sent, got phi.Bytes) (known bool, err error) {
	var in answer.Reader
	in.Reset(sent.Reveal(), got.Reveal())
	var ref claimdlq.PayloadRef
	err = retried(func() error {
		s, err := j.Store.Submission(j.ctx, s.ID)
		if err != nil {
			return err
		}
		members, err := j.members(s)
		if err != nil {
			return err
		}
		m := &moves{j: j}
		var code claimdlq.Detail
		if known, code, err = j.decideRx(m, s, members, &in); err != nil {
			return err
		}
		if len(m.batch.Update) == 0 {
			return j.silent(s, code)
		}
		if ref.IsZero() {
			if ref, err = j.sealed(got); err != nil {
				return err
			}
		}
		for i := range m.batch.Update {
			m.batch.Update[i].Response = ref
		}
		m.submission(s, code, known)
		return m.commit()
	})
	return known, err
}

// sealed makes an answer durable.
func (j *job) sealed(b phi.Bytes) (claimdlq.PayloadRef, error) {
	ref, err := j.Vault.Stage(b)
	if err != nil {
		return ref, err
	}
	return ref, j.Vault.Sync(j.ctx)
}

// submission notes what was said last of the submission, and that every member's fate
// is known where it is.
func (m *moves) submission(s claimdlq.Submission, code claimdlq.Detail, known bool) {
	for i := range m.batch.Submissions {
		if m.batch.Submissions[i].ID == s.ID { // it waits for another answer
			m.batch.Submissions[i].Last = code
			return
		}
	}
	s.Last = code
	if known {
		s.State, s.NotBefore = claimdlq.SubmissionAnswered, s.SentAt
	}
	m.batch.Submissions = append(m.batch.Submissions, s)
}

// decideRx moves the members in doubt, and those that were held back and turn out to be
// with the payer: they went out once more too. known says that no member is left in
// doubt; code is what was said of the last that was.
func (j *job) decideRx(m *moves, s claimdlq.Submission, members []claimdlq.Record, in *answer.Reader) (known bool, code claimdlq.Detail, err error) {
	known = true
	for _, r := range members {
		stands := rxStanding(r)
		doubtful := r.State == claimdlq.StateInDoubt
		if r.Submission != s.ID || !doubtful && stands != standsHeld {
			continue
		}
		res := in.Result(envelope.RxOrdinal(r, len(members)), j.Rx, doubtful)
		if doubtful {
			code = res.Outcome().Code
		}
		n, acts, err := j.rxStep(r, stands, res)
		if err != nil {
			return false, code, err
		}
		if !acts {
			known = known && !doubtful
			continue
		}
		m.update(claimdlq.ActResolve, r, n)
		if n.State == claimdlq.StateSubmitted {
			if err := j.rxWaits(m, r); err != nil {
				return false, code, err
			}
		}
	}
	return known, code, nil
}
