package settle

import (
	"errors"
	"time"

	"claimdlq"
	"claimdlq/classify"
	"claimdlq/flow/answer"
	"claimdlq/flow/audited"
	"claimdlq/flow/envelope"
	"claimdlq/flow/lineage"
	"claimdlq/wire/ncpdp"
)

// rxAtOnce is how many responses are matched under one audit commit and moved in
// another.
const rxAtOnce = 256

// processRx does what the responses of a file say.
func (j *job) processRx(file *answers, raw []byte, ref claimdlq.PayloadRef, all []rxRange) error {
	for len(all) > 0 {
		n := min(rxAtOnce, len(all))
		var as []*rxAnswer
		for _, at := range all[:n] {
			m := ncpdp.Parse(raw[at.from:at.to])
			if answersIn(m) == 0 {
				file.unreadable(m)
				continue
			}
			sealed := claimdlq.PayloadRef{Unit: ref.Unit, Offset: ref.Offset + int64(at.from), Length: int64(at.to - at.from)}
			for tx := range answersIn(m) {
				as = append(as, newRxAnswer(m, tx+1, sealed))
			}
		}
		if err := j.rxSome(as); err != nil {
			return err
		}
		all = all[n:]
	}
	return j.close()
}

// unreadable notes a response that cannot be read.
func (a *answers) unreadable(m *ncpdp.Message) {
	if !a.fault.IsZero() {
		return
	}
	a.fault = claimdlq.NewDetail("NCPDP:UNREADABLE")
	if f, bad := m.Fault(); bad {
		a.fault = f.Detail()
	}
}

// rxSome matches some answers and makes what they say happen in one commit; where
// somebody else moves a record meanwhile, one by one.
func (j *job) rxSome(as []*rxAnswer) error {
	seen := map[claimdlq.ID]*rxCandidate{}
	for _, a := range as {
		if err := j.rxCandidates(a, seen); err != nil {
			return err
		}
	}
	if err := j.rxOpen(seen); err != nil {
		return err
	}
	err := j.rxTogether(as...)
	if !errors.Is(err, claimdlq.Conflict) {
		return err
	}
	for _, a := range as {
		if err := j.rxOne(a); err != nil {
			return err
		}
	}
	return nil
}

// rxTogether makes what the answers say happen in one commit. No inquiry begins
// meanwhile.
func (j *job) rxTogether(as ...*rxAnswer) error {
	j.asks.mu.RLock()
	defer j.asks.mu.RUnlock()
	m := &moves{j: j}
	for _, a := range as {
		if err := j.rxAnswered(m, a); err != nil {
			return err
		}
	}
	if err := m.commit(); err != nil {
		return err
	}
	j.rxMissed(m)
	return nil
}

// rxOpen opens the payloads of the candidates; that this happens is audited first.
func (j *job) rxOpen(seen map[claimdlq.ID]*rxCandidate) error {
	if len(seen) == 0 {
		return nil
	}
	rs := make([]claimdlq.Record, 0, len(seen))
	for _, c := range seen {
		rs = append(rs, c.record)
	}
	proof, err := audited.Open(j.ctx, j.Store, j.by, claimdlq.ActOpen, j.now(), rs...)
	if err != nil {
		return err
	}
	for _, c := range seen {
		if err := c.open(j, proof); err != nil {
			return err
		}
	}
	return nil
}

// rxOne does what one answer says, with the records as they are now.
func (j *job) rxOne(a *rxAnswer) error {
	return retried(func() error {
		for _, c := range a.found {
			r, err := j.Store.Get(j.ctx, c.record.ID)
			if err != nil {
				return err
			}
			if r.Payload == c.record.Payload && r.Response == c.record.Response {
				c.record = r
				continue
			}
			*c = rxCandidate{record: r}
			if err := j.rxOpen(map[claimdlq.ID]*rxCandidate{r.ID: c}); err != nil {
				return err
			}
		}
		return j.rxTogether(a)
	})
}

// rxMissed counts the orphans among answers that were done with.
func (j *job) rxMissed(m *moves) {
	for _, code := range m.orphans {
		j.miss(1, code)
	}
}

// rxAnswered adds what an answer does to the moves.
func (j *job) rxAnswered(m *moves, a *rxAnswer) error {
	found := a.match()
	switch {
	case found.said:
		return nil
	case found.orphan != "":
		m.orphans = append(m.orphans, found.orphan)
		return nil
	}
	r := found.c.record
	if j.asks.holds(r.ID, a) {
		m.pending++
		return nil
	}
	stands := rxStanding(r)
	res := answer.Read(found.c.alone.Raw(), a.alone, 1, j.Rx, stands == standsWaiting)
	if stands == standsClosed {
		if contradicts(r, res) {
			m.orphans = append(m.orphans, "NCPDP:CONTRADICTS")
		}
		return nil
	}
	if res.Class == classify.NCPDPSuspect || res.Class == classify.NCPDPNone {
		m.orphans = append(m.orphans, res.Code.String())
		return nil
	}
	other, err := j.ofAnother(found.c, res)
	if err != nil {
		return err
	}
	if other {
		j.late(m, r, res)
		return nil
	}
	n, acts, err := j.rxStep(r, stands, res)
	if err != nil {
		return err
	}
	if !acts {
		m.pending++
		return nil
	}
	n.Response = a.at
	m.update(claimdlq.ActAcknowledge, r, n)
	if n.State == claimdlq.StateSubmitted {
		return j.rxWaits(m, r)
	}
	if r.Submission != 0 {
		j.closed[r.Submission] = true
	}
	return nil
}

// ofAnother reports whether a late answer may be to another delivery than the one whose
// fate is open, or to another claim. A refusal may, where the claim went out more than
// once, in this record or in an earlier one: a payer may refuse a claim and pay it when it
// comes again. A yes may be older than what an earlier record has done since
// (lineage.Outdated). A partial fill and its completion have one number, and an answer
// does not say which it means: nobody knows whether the other one is with another
// pipeline.
func (j *job) ofAnother(c *rxCandidate, res classify.NCPDPResult) (bool, error) {
	r := c.record
	mates, err := j.mates(r)
	if err != nil {
		return false, err
	}
	expected, err := j.expected(r)
	if err != nil {
		return false, err
	}
	if c.partial() && !expected {
		return true, nil
	}
	switch res.Outcome().Kind {
	case claimdlq.OutcomeRejected, claimdlq.OutcomePoison:
		vouched := expected && r.Response.IsZero() // a person has seen that it stands
		if vouched {
			return true, nil
		}
		return j.refusesAnother(r, mates)
	case claimdlq.OutcomePaid, claimdlq.OutcomeAccepted, claimdlq.OutcomeReversed, claimdlq.OutcomeDuplicate, claimdlq.OutcomeSubmitted:
		if expected {
			return false, nil
		}
		return j.outdated(r, mates, res.Class == classify.NCPDPNothingToReverse)
	case claimdlq.OutcomeTransient, claimdlq.OutcomeUnknownKind:
	}
	return false, nil
}

// expected reports whether the payer said that it has captured the record and will answer,
// or a person that it arrived, who has seen that what it did stands.
func (j *job) expected(r claimdlq.Record) (bool, error) {
	if r.State != claimdlq.StateSubmitted || r.Submission == 0 || !r.Response.IsZero() {
		return r.State == claimdlq.StateSubmitted && !r.Response.IsZero(), nil
	}
	s, err := j.Store.Submission(j.ctx, r.Submission)
	return s.Last == arrived, err
}

// outdated is ofAnother for a yes. That there was nothing to reverse (none) is older than
// any payment that stands.
func (j *job) outdated(r claimdlq.Record, mates []claimdlq.Record, none bool) (bool, error) {
	given := true // by another pipeline: of a delivery of ours in doubt nobody says when it was sent
	if r.Submission != 0 {
		s, err := j.Store.Submission(j.ctx, r.Submission)
		if err != nil {
			return false, err
		}
		given = !s.SentAt.IsZero() && r.Response.IsZero()
	}
	return lineage.Outdated(mates, r, given) || none && lineage.PaidBesides(mates, r), nil
}

// refusesAnother is ofAnother for a refusal.
func (j *job) refusesAnother(r claimdlq.Record, mates []claimdlq.Record) (bool, error) {
	switch {
	case !r.FateUnknown:
		return false, nil
	case lineage.Unanswered(mates, r):
		return true, nil
	case r.ReceiveCount > 1 || r.Submission == 0:
		return r.ReceiveCount > 1, nil
	}
	s, err := j.Store.Submission(j.ctx, r.Submission) // inquiries are counted there
	return s.Receives > 1, err
}

// mates returns the records of the record's fill.
func (j *job) mates(r claimdlq.Record) ([]claimdlq.Record, error) {
	if r.Batch == 0 {
		return nil, nil
	}
	return j.Store.Lookup(j.ctx, r.Batch, lineage.MaxMates)
}

// late leaves the record in doubt, and notes in the audit log what came.
func (j *job) late(m *moves, r claimdlq.Record, res classify.NCPDPResult) {
	e := j.entry(claimdlq.ActAcknowledge, r, r)
	e.Detail = claimdlq.NewDetail("LATE:" + res.Code.String())
	m.batch.Entries = append(m.batch.Entries, e)
	m.pending++
}

// rxStep returns the record as the answer leaves it, and false where it changes
// nothing. What waits takes any answer; what we hold back only one that says that the
// payer has it after all. "Not now" frees nothing from doubt: it is the answer to one
// delivery, and the fate of another may be the one in doubt.
func (j *job) rxStep(r claimdlq.Record, stands standing, res classify.NCPDPResult) (claimdlq.Record, bool, error) {
	o, now, waits := res.Outcome(), j.now(), stands == standsWaiting
	switch o.Kind {
	case claimdlq.OutcomePaid, claimdlq.OutcomeAccepted, claimdlq.OutcomeReversed, claimdlq.OutcomeDuplicate, claimdlq.OutcomeRejected:
		if !waits && (res.Verify || o.Kind == claimdlq.OutcomeRejected) { // it may mean another pharmacy's claim
			return r, false, nil
		}
		n, err := r.Settle(rxDisposition(o.Kind), o.Code, now)
		return n, true, err
	case claimdlq.OutcomePoison:
		if !waits {
			return r, false, nil
		}
		n, err := r.Quarantine(claimdlq.Fault{
			Reason: claimdlq.FatalSyntax, Class: claimdlq.Poison, Detail: o.Code, RuleVersion: envelope.RxRules,
		}, now)
		return n, true, err
	case claimdlq.OutcomeSubmitted:
		return rxKept(r, o.Code, now)
	case claimdlq.OutcomeTransient, claimdlq.OutcomeUnknownKind:
	}
	return r, false, nil
}

// rxDisposition is how a claim ends with an outcome that is final.
func rxDisposition(k claimdlq.OutcomeKind) claimdlq.Disposition {
	switch k {
	case claimdlq.OutcomePaid:
		return claimdlq.Paid
	case claimdlq.OutcomeAccepted:
		return claimdlq.Accepted
	case claimdlq.OutcomeReversed:
		return claimdlq.Reversed
	case claimdlq.OutcomeDuplicate:
		return claimdlq.DuplicateOfPaid
	case claimdlq.OutcomeRejected, claimdlq.OutcomePoison, claimdlq.OutcomeSubmitted, claimdlq.OutcomeTransient, claimdlq.OutcomeUnknownKind:
	}
	return claimdlq.Rejected
}

// rxKept returns the record as captured or deferred: the payer has it.
func rxKept(r claimdlq.Record, code claimdlq.Detail, now time.Time) (claimdlq.Record, bool, error) {
	switch {
	case r.Submission == 0: // it is being taken in: nothing would look after the deadline
	case r.State == claimdlq.StateInDoubt, r.State == claimdlq.StateSubmitted && r.Detail != code:
		n, err := r.Sent(now)
		n.Detail = code
		return n, true, err
	}
	return r, false, nil
}

// rxWaits lets the submission of a record that was found captured wait for its
// answer.
func (j *job) rxWaits(m *moves, r claimdlq.Record) error {
	if r.Submission == 0 {
		return nil
	}
	for _, s := range m.batch.Submissions {
		if s.ID == r.Submission {
			return nil
		}
	}
	s, err := j.Store.Submission(j.ctx, r.Submission)
	if err != nil || s.State == claimdlq.SubmissionSent {
		return err
	}
	s.State, s.NotBefore = claimdlq.SubmissionSent, j.now().Add(j.Policies.For(s.Stream).AckDeadline)
	m.batch.Submissions = append(m.batch.Submissions, s)
	return nil
}

// contradicts reports whether an answer says otherwise than the record ended.
func contradicts(r claimdlq.Record, res classify.NCPDPResult) bool {
	switch res.Outcome().Kind {
	case claimdlq.OutcomePaid, claimdlq.OutcomeAccepted, claimdlq.OutcomeDuplicate:
		return r.Disposition != claimdlq.Paid && r.Disposition != claimdlq.Accepted && r.Disposition != claimdlq.DuplicateOfPaid
	case claimdlq.OutcomeReversed:
		return r.Disposition != claimdlq.Reversed
	case claimdlq.OutcomeRejected, claimdlq.OutcomePoison:
		return r.State == claimdlq.StateSettled
	case claimdlq.OutcomeSubmitted, claimdlq.OutcomeTransient, claimdlq.OutcomeUnknownKind:
	}
	return false
}
