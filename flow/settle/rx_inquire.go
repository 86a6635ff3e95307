package settle

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"claimdlq"
	"claimdlq/classify"
	"claimdlq/flow/answer"
	"claimdlq/flow/audited"
	"claimdlq/flow/dlqlog"
	"claimdlq/flow/envelope"
	"claimdlq/flow/lineage"
	"claimdlq/phi"
	"claimdlq/store"
	"claimdlq/target"
)

// inquireRx asks what became of a pharmacy transmission in doubt by sending the
// identical bytes once more: a payer that has the claim answers so. Where some of its
// members are decided, each that is not is sent alone: what came with it may have been
// reversed or corrected since, and would be billed anew. It is no delivery of the
// budget, for the claim is not queued; that it happens is audited before. known is false
// where the payer gave no clear answer: then the record is as it was. Errors: Unavailable
// where it gave none; Conflict while it is being asked already; Refused where a record
// was overtaken, or waits for another, and is not asked about.
func (j *job) inquireRx(s claimdlq.Submission, route target.Route) (known bool, err error) {
	q, err := j.question(s)
	if err != nil {
		return false, err
	}
	if !route.IdempotentResend {
		return j.statusRx(q, route)
	}
	entered := q.doubtful
	if !j.asks.enter(entered) {
		return false, asking(s)
	}
	defer func() { err = cmp.Or(err, j.keptBack(j.asks.leave(entered))) }()
	// What moved before this was said has moved; nothing of it moves by an answer until
	// the inquiry has come back.
	if q, err = j.question(s); err != nil {
		return false, err
	}
	q.doubtful = slices.DeleteFunc(q.doubtful, func(r claimdlq.Record) bool {
		return !slices.ContainsFunc(entered, func(e claimdlq.Record) bool { return e.ID == r.ID })
	})
	stale := j.current(&q)
	if stale != nil && !errors.Is(stale, errOvertaken) {
		return false, stale
	}
	known = true
	for _, l := range q.letters() {
		if err := j.ctx.Err(); err != nil {
			return false, err
		}
		k, err := j.askAlone(q, l, route)
		if err != nil {
			return false, err
		}
		known = known && k
	}
	return known && stale == nil, stale
}

// question is what an inquiry is about.
type question struct {
	sub      claimdlq.Submission
	members  []claimdlq.Record
	doubtful []claimdlq.Record
}

// question reads the submission and those of its members that are in doubt.
func (j *job) question(s claimdlq.Submission) (q question, err error) {
	if q.sub, err = j.Store.Submission(j.ctx, s.ID); err != nil {
		return q, err
	}
	if q.members, err = j.members(q.sub); err != nil {
		return q, err
	}
	for _, r := range q.members {
		if r.State == claimdlq.StateInDoubt && r.Submission == s.ID {
			q.doubtful = append(q.doubtful, r)
		}
	}
	return q, nil
}

// letters returns what is sent together: the transmission as it went out where all of it
// is in doubt, else each transaction that is.
func (q question) letters() [][]claimdlq.Record {
	if len(q.doubtful) == len(q.members) {
		return [][]claimdlq.Record{q.doubtful}
	}
	var out [][]claimdlq.Record
	for i := range q.doubtful {
		out = append(out, q.doubtful[i:i+1])
	}
	return out
}

// askAlone sends one letter and does what is answered.
func (j *job) askAlone(q question, letter []claimdlq.Record, route target.Route) (known bool, err error) {
	s, proof, err := j.askRx(q.sub.ID, letter)
	if err != nil {
		return false, err
	}
	raw, err := envelope.RxBytes(j.ctx, j.Vault, proof, s, letter)
	if err != nil {
		return false, err
	}
	same, err := j.promised(q, proof, letter, raw)
	if err != nil {
		return false, err
	}
	if !same {
		return false, otherBytes()
	}
	d := route.For(s).Deliver(j.ctx, envelope.RxParcel(s, raw))
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
	return j.answeredRx(s.ID, letter, raw, d.Answer)
}

func otherBytes() error {
	return &claimdlq.Error{
		Code: claimdlq.Corrupt, Op: "inquire about submission", On: "the bytes are not those that were sent",
		Hint: "ask the payer, then: claimdlq resolve",
	}
}

// statusRx asks by a status query, which sends nothing again.
func (j *job) statusRx(q question, route target.Route) (known bool, err error) {
	s, proof, err := j.askRx(q.sub.ID, q.members)
	if err != nil {
		return false, err
	}
	raw, err := envelope.RxBytes(j.ctx, j.Vault, proof, s, asSent(s, q.members))
	if err != nil {
		return false, err
	}
	if !j.identical(s.Digest, raw) {
		return false, otherBytes()
	}
	o, told := route.For(s).Inquire(j.ctx, envelope.RxParcel(s, raw))
	return j.asked(s, o, told)
}

// promised reports whether the bytes are those of a delivery: as the intent has them, or
// the record, or cut out of those of the intent. A lease without an intent has sent
// nothing, and promised nothing: what is in doubt then is a delivery before it, of the
// same bytes.
func (j *job) promised(q question, proof claimdlq.Proof, letter []claimdlq.Record, raw phi.Bytes) (bool, error) {
	s := q.sub
	if s.Digest == (claimdlq.Digest{}) || j.identical(s.Digest, raw) {
		return true, nil
	}
	if len(letter) == len(q.members) {
		return false, nil
	}
	if j.identical(letter[0].Digest, raw) {
		return true, nil
	}
	whole, err := envelope.RxBytes(j.ctx, j.Vault, proof, s, asSent(s, q.members))
	if err != nil {
		return false, err
	}
	return j.identical(s.Digest, whole), nil
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
// why. An inquiry is a delivery of the submission, though none of a budget: an answer
// that comes late may be to any of them.
func (j *job) askRx(id claimdlq.SubmissionID, letter []claimdlq.Record) (s claimdlq.Submission, proof claimdlq.Proof, err error) {
	err = retried(func() error {
		if s, err = j.Store.Submission(j.ctx, id); err != nil {
			return err
		}
		code := claimdlq.NewDetail("INQUIRY")
		if s.Digest == (claimdlq.Digest{}) {
			code = claimdlq.NewDetail("INQUIRY:NO_INTENT")
		}
		s.Receives = max(s.Receives, 1) + 1 // who doubts it has sent it
		b := store.Batch{Submissions: []claimdlq.Submission{s}}
		for _, r := range letter {
			b.Entries = append(b.Entries, j.entry(claimdlq.ActOpen, r, r))
		}
		b.Entries = append(b.Entries, claimdlq.Entry{
			At: j.now(), Actor: j.by.Actor, Action: claimdlq.ActIntent, Submission: s.ID, Detail: code,
			Note: audited.Note(j.by.Reason),
		})
		receipt, err := j.Store.Commit(j.ctx, b)
		proof = receipt.Proof
		return err
	})
	s.Revision++
	return s, proof, err
}

// identical reports whether the bytes have the digest, under whichever term it was made.
func (j *job) identical(d claimdlq.Digest, raw phi.Bytes) bool {
	return slices.ContainsFunc(j.ids, func(id *claimdlq.Identity) bool { return id.Digest(raw.Reveal()) == d })
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

// answeredRx does what the answer to an inquiry says of the records that were asked
// about. The answer is sealed before anything follows from it. known says that the fate
// of each is known now, or waited for.
func (j *job) answeredRx(id claimdlq.SubmissionID, letter []claimdlq.Record, sent, got phi.Bytes) (known bool, err error) {
	var in answer.Reader
	in.Reset(sent.Reveal(), got.Reveal())
	var ref claimdlq.PayloadRef
	err = retried(func() error {
		s, err := j.Store.Submission(j.ctx, id)
		if err != nil {
			return err
		}
		m := &moves{j: j}
		var code claimdlq.Detail
		if known, code, err = j.decideRx(m, letter, &in); err != nil {
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
		s.Last = code
		if err := j.standsNow(m, &s); err != nil {
			return err
		}
		m.batch.Submissions = append(m.batch.Submissions, s)
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

// decideRx moves the records that were asked about. One that a person moved meanwhile is
// moved as a late answer would move it. known says that none is left in doubt; code is
// what was said of the last.
func (j *job) decideRx(m *moves, letter []claimdlq.Record, in *answer.Reader) (known bool, code claimdlq.Detail, err error) {
	known = true
	for _, asked := range letter {
		r, err := j.Store.Get(j.ctx, asked.ID)
		if err != nil {
			return false, code, err
		}
		stands := rxStanding(r)
		res := in.Result(envelope.RxOrdinal(r, len(letter)), j.Rx, stands == standsWaiting)
		code = res.Outcome().Code
		if stands == standsClosed {
			if contradicts(r, res) {
				dlqlog.Alarm(j.ctx, j.logFor(r), dlqlog.AlarmOrphan, r)
			}
			continue
		}
		n, acts, err := j.inquired(r, stands, res)
		if err != nil {
			return false, code, err
		}
		if !acts {
			known = known && r.State != claimdlq.StateInDoubt
			continue
		}
		m.update(claimdlq.ActResolve, r, n)
	}
	return known, code, nil
}

// inquired is rxStep for the answer to an inquiry. A payer that has these very bytes says
// D. One that refuses them because the fill is paid means the payment of another record
// of ours where one stands, and not one that this record had earned.
func (j *job) inquired(r claimdlq.Record, stands standing, res classify.NCPDPResult) (claimdlq.Record, bool, error) {
	if res.Class == classify.NCPDPAlreadyPaid && !res.Says('D') {
		other, err := j.paidBesides(r)
		if err != nil {
			return r, false, err
		}
		if other && stands == standsWaiting {
			n, err := r.Settle(claimdlq.Rejected, res.Code, j.now())
			return n, true, err
		}
	}
	if res.Class == classify.NCPDPAlreadyReversed && r.Detail == codeS && r.Batch != 0 {
		mates, err := j.Store.Lookup(j.ctx, r.Batch, lineage.MaxMates)
		if err != nil || lineage.ReversedBefore(mates, r) {
			return r, false, err // it says again what it said before: a person has to ask
		}
	}
	return j.rxStep(r, stands, res)
}

// codeS is the answer "duplicate of approved".
var codeS = claimdlq.NewDetail("AN_S")

// standsNow gives the submission the state of what is left of it after the moves: in
// doubt as long as a member is, with a deadline while one waits for the payer's answer.
func (j *job) standsNow(m *moves, s *claimdlq.Submission) error {
	if underWay(*s) {
		return nil // others of it are under way: their delivery says how it stands
	}
	members, err := j.members(*s)
	if err != nil {
		return err
	}
	doubt, waits, newly := false, false, false
	for _, r := range members {
		for _, n := range m.batch.Update {
			if n.ID == r.ID {
				newly = newly || n.State == claimdlq.StateSubmitted && r.State != n.State
				r = n
			}
		}
		doubt = doubt || r.Submission == s.ID && r.State == claimdlq.StateInDoubt
		waits = waits || r.Submission == s.ID && r.State == claimdlq.StateSubmitted
	}
	switch {
	case waits && (newly || s.State != claimdlq.SubmissionSent):
		s.State, s.NotBefore = claimdlq.SubmissionSent, j.now().Add(j.Policies.For(s.Stream).AckDeadline)
	case !waits && !doubt:
		s.State, s.NotBefore = claimdlq.SubmissionAnswered, s.SentAt
	}
	return nil
}
