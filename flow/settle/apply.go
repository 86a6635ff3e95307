package settle

import (
	"cmp"
	"errors"
	"slices"

	"claimdlq"
	"claimdlq/flow/envelope"
	"claimdlq/flow/lineage"
	"claimdlq/store"
	"claimdlq/wire/x12ack"
)

// applyAll makes verdicts happen in one commit; where somebody else moves one of
// the records meanwhile, one by one.
func (j *job) applyAll(ws []*work) error {
	for _, w := range ws {
		if err := j.undoubt(w.c, w.code); err != nil {
			return err
		}
	}
	m := &moves{j: j}
	for _, w := range ws {
		if err := j.divide(m, w); err != nil {
			return err
		}
	}
	err := m.commit()
	if !errors.Is(err, claimdlq.Conflict) {
		return err
	}
	for _, w := range ws {
		err := retried(func() error {
			m := &moves{j: j}
			if err := j.divide(m, w); err != nil {
				return err
			}
			return m.commit()
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// divide applies the verdicts on the claims of one candidate: to the set's record
// and to those of the claims that parted from it before.
func (j *job) divide(m *moves, w *work) error {
	r, err := j.Store.Get(j.ctx, w.c.record.ID)
	if err != nil {
		return err
	}
	parted := r.Parted != w.c.record.Parted // a claim has parted meanwhile
	w.c.record = r
	if parted {
		if err := j.siblings(&w.c); err != nil {
			return err
		}
	}
	d := &division{job: j, c: &w.c, m: m, numbered: &w.numbered}
	if err := d.children(w.verdicts); err != nil {
		return err
	}
	j.closed[r.Submission] = true
	return d.set(w.verdicts, w.code)
}

// undoubt frees all of an interchange from doubt when one of its claims is answered.
func (j *job) undoubt(c candidate, code claimdlq.Detail) error {
	s := c.sub
	if s.ID == 0 {
		var err error
		if s, err = j.Store.Submission(j.ctx, c.record.Submission); err != nil {
			return err
		}
	}
	if s.State != claimdlq.SubmissionInDoubt || c.sub.ID == 0 && s.Replay {
		return nil
	}
	return j.arrived(s, code)
}

// division is one set being divided by verdicts.
type division struct {
	*job
	c        *candidate
	m        *moves
	numbered *[]claimdlq.Submission
	used     int
	newly    map[int]bool          // claims that part now, by ordinal
	older    claimdlq.SubmissionID // the earlier sending that stale answers are about
}

// stale reports whether the answers are for an earlier sending of the record, and notes
// which, so that what they accept is known by that one: an answer to a later sending does
// not undo it.
func (d *division) stale(r claimdlq.Record) (bool, error) {
	d.older = 0
	if d.c.sub.ID != 0 {
		d.older = d.c.sub.ID
		return r.Submission != d.c.sub.ID, nil
	}
	if r.Submission == 0 {
		return true, nil // it was never sent
	}
	s, err := d.Store.Submission(d.ctx, r.Submission)
	if err != nil || !s.Replay {
		return false, err
	}
	d.older, err = d.first(s, r)
	return true, err
}

// first returns the submission that carried the record under its own numbers; 0 where
// that does not tell.
func (d *division) first(s claimdlq.Submission, r claimdlq.Record) (claimdlq.SubmissionID, error) {
	n, ok := envelope.Number(r.InterchangeID)
	if !ok {
		return 0, nil
	}
	was, _, err := d.find(store.InterchangeRef(s.Envelope, n), func(s claimdlq.Submission) bool {
		return !s.Replay && s.ISA13 == n && slices.ContainsFunc(s.Members, func(m claimdlq.IDRange) bool {
			return m.First <= r.ID && r.ID <= m.Last || r.Parent != 0 && m.First <= r.Parent && r.Parent <= m.Last
		})
	})
	return was.ID, err
}

// children applies the verdicts on claims that have records of their own.
func (d *division) children(verdicts map[int]x12ack.Answer) error {
	for _, cl := range d.c.claims {
		a, ok := verdicts[cl.ordinal]
		child, parted := d.c.children[cl.ordinal]
		if !ok || !parted {
			continue
		}
		now, err := d.Store.Get(d.ctx, child.ID)
		if err != nil {
			return err
		}
		stale, err := d.stale(now)
		if err != nil {
			return err
		}
		if err := d.single(now, a, stale); err != nil {
			return err
		}
	}
	return nil
}

// single applies a verdict to a record that stands for one claim.
func (d *division) single(r claimdlq.Record, a x12ack.Answer, stale bool) error {
	f := fateOf(a)
	if f == fateWait {
		d.m.pending++
	}
	if !d.standing(r, stale).acts(f) {
		return nil
	}
	n, err := d.end(r, f, a)
	if err != nil || n.State == r.State && (f == fateWait && n.Detail == r.Detail || f == fateTryLater) {
		return err
	}
	d.m.update(claimdlq.ActAcknowledge, r, n)
	if n.State == claimdlq.StateQueued {
		return d.resubmit(r, n, n.ID)
	}
	return nil
}

// standing is standingOf, but that what waits for the answer to a newer sending is not
// settled by one to an earlier that cannot be named: the newer one's would undo it.
func (d *division) standing(r claimdlq.Record, stale bool) standing {
	s := standingOf(r, stale)
	if stale && d.older == 0 && (r.State == claimdlq.StateLeased || r.State == claimdlq.StateSubmitted || r.State == claimdlq.StateInDoubt) {
		return standsClosed
	}
	return s
}

// end returns the record as the fate leaves it.
func (d *division) end(r claimdlq.Record, f fate, a x12ack.Answer) (claimdlq.Record, error) {
	switch f {
	case fateAccepted:
		n, err := r.Settle(claimdlq.Accepted, a.Detail(), d.now())
		n.Submission = cmp.Or(d.older, r.Submission)
		return n, err
	case fateRejected:
		return r.Quarantine(faultOf(a), d.now())
	case fateFinal:
		return r.Settle(final(r), a.Detail(), d.now())
	case fateTryLater:
		return d.tryLater(r, a.Detail())
	case fateWait:
	}
	return d.waits(r, a.Detail())
}

// waits returns the record as submitted: the answer proves that it arrived.
func (d *division) waits(r claimdlq.Record, code claimdlq.Detail) (claimdlq.Record, error) {
	if r.State != claimdlq.StateInDoubt && r.State != claimdlq.StateLeased {
		return r, nil
	}
	n, err := r.Sent(d.now())
	n.Detail = code
	return n, err
}

// resubmit adds a submission under new numbers for a record that is queued again.
// member is its id, or its index into the batch's inserts.
func (d *division) resubmit(from, to claimdlq.Record, member claimdlq.ID) error {
	if d.used == len(*d.numbered) {
		s, err := d.Store.Submission(d.ctx, from.Submission)
		if err != nil {
			return err
		}
		g, ok := groupOf(s, from)
		if !ok {
			return &claimdlq.Error{Code: claimdlq.Internal, Op: "send record again", On: from.ID.String()}
		}
		sub, err := d.resubmission(s, g, nil, true, to)
		if err != nil {
			return err
		}
		*d.numbered = append(*d.numbered, sub)
	}
	sub := (*d.numbered)[d.used]
	d.used++
	sub.Members = []claimdlq.IDRange{{First: member, Last: member}}
	d.m.batch.NewSubmissions = append(d.m.batch.NewSubmissions, sub)
	return nil
}

// register makes the record that parted the owner of its claim, so that the claim
// sent anew by its submitter is judged by what became of this one.
func (d *division) register(cl sentClaim, index int) error {
	if len(cl.keys) == 0 {
		return nil
	}
	older := make([][]claimdlq.Key, 0, len(cl.keys)-1)
	for _, k := range cl.keys[1:] {
		older = append(older, []claimdlq.Key{k})
	}
	owners, err := lineage.Owners(d.ctx, d.Store, d.ids, cl.keys[:1], older)
	if err != nil || owners == nil {
		return err
	}
	key := owners[0].Next
	if owners[0].ID != d.c.record.ID {
		others, next, err := lineage.Besides(d.ctx, d.Store, d.ids, cl.keys)
		if err != nil || !slices.ContainsFunc(others, func(r claimdlq.Record) bool { return r.ID == d.c.record.ID }) {
			return err
		}
		key = next
	}
	d.m.batch.Fingerprints = append(d.m.batch.Fingerprints, store.Fingerprint{Key: key, Record: store.ParentIndex(index)})
	return nil
}
