package intake

import (
	"slices"

	"claimdlq"
	"claimdlq/flow/lineage"
	"claimdlq/store"
)

// forgets reports that the record is final and stands in nobody's way: it cannot keep the
// doubt of another pipeline that may have sent it. That is kept by a record of its own.
func forgets(r claimdlq.Record) bool {
	return r.Claims > 0 && !r.State.Unresolved() && !lineage.Blocks(r)
}

// doubted keeps the doubt of a set that is here already, now that another pipeline gives
// it up because it may have sent it: of its claims, what was certainly not sent from here
// becomes in doubt, whether it waits, is held or has parted, and so does what waits for
// its answer, which may now be about either sending.
func (f *file) doubted(r claimdlq.Record, count int64) error {
	g := f.x.group
	before := g.claims
	n, again, err := f.keepDoubt(r)
	if err != nil {
		return err
	}
	if err := f.partedAgain(n); err != nil {
		return err
	}
	f.result.Duplicates += count - (g.claims - before)
	if again {
		return nil
	}
	f.result.repeat(&r)
	return f.note(r)
}

// partedAgain is doubted of the claims that have parted from the set, and makes what keeps
// a doubt one more sending of its claims: what was held at first sight, or is parked as a
// copy, is none yet. A claim that has parted and is final cannot keep its doubt itself:
// the set does.
func (f *file) partedAgain(set claimdlq.Record) error {
	by := map[int]claimdlq.ID{} // who keeps the doubt of each claim, by ordinal; 0 for nobody
	if set.Parted > 0 {
		children, err := f.o.Store.Lookup(f.ctx, claimdlq.ParentRef(set.ID), int(set.Parted)+1)
		if err != nil {
			return err
		}
		for _, c := range children {
			if c.Parent != set.ID {
				continue
			}
			n, _, err := f.keepDoubt(c)
			if err != nil {
				return err
			}
			by[int(c.Ordinal)] = 0
			switch {
			case lineage.Blocks(n):
				by[int(c.Ordinal)] = n.ID
			case forgets(n) && set.State.Unresolved():
				by[int(c.Ordinal)] = set.ID
			}
		}
	}
	if lineage.Blocks(set) {
		for _, c := range f.claims.list {
			if _, parted := by[c.ordinal]; !parted {
				by[c.ordinal] = set.ID
			}
		}
	}
	return f.sendings(by)
}

// sendings makes records of the set being read sendings of its claims, by ordinal, where
// they are not yet: the same claim elsewhere waits for what becomes of them.
func (f *file) sendings(by map[int]claimdlq.ID) error {
	b := &f.batch
	b.lookup = b.lookup[:0]
	for _, c := range f.claims.list {
		fp := c.fp
		if by[c.ordinal] == 0 {
			fp = claimdlq.Key{}
		}
		b.lookup = append(b.lookup, fp)
	}
	if err := f.hold(); err != nil {
		return err
	}
	for i, ok := range b.got {
		if ok {
			b.held = append(b.held, b.lookup[i])
		}
	}
	owners, err := lineage.Owners(f.ctx, f.o.Store, f.ids, b.lookup, f.claims.older)
	if err != nil {
		return err
	}
	for i, fp := range b.lookup {
		id := by[f.claims.list[i].ordinal]
		if fp == (claimdlq.Key{}) || !b.got[i] || owners != nil && owners[i].ID == id {
			continue
		}
		if owners != nil && owners[i].ID != 0 {
			others, next, err := f.besides(i)
			if err != nil {
				return err
			}
			if slices.ContainsFunc(others, func(r claimdlq.Record) bool { return r.ID == id }) {
				continue
			}
			if fp, err = f.takeOver(owners[i], next); err != nil {
				return err
			}
		}
		b.fingerprints = append(b.fingerprints, store.Fingerprint{Key: fp, Record: id})
	}
	return nil
}

// keepDoubt puts the record in doubt where the other pipeline's sending makes it so, and
// returns it as it is then and whether it goes into the submission that is made of that. A
// crash may have left it without one.
func (f *file) keepDoubt(r claimdlq.Record) (n claimdlq.Record, into bool, err error) {
	if n, err = f.intoDoubt(r); err != nil {
		return n, false, err
	}
	if into, err = unfinished(f.ctx, f.o.Store, n, f.dead.Detail); err != nil {
		return n, false, err
	}
	if into {
		f.x.group.add(n.ID, int64(n.Claims))
	} else if (n.State == claimdlq.StateInDoubt || n.State == claimdlq.StateSubmitted) && !slices.Contains(f.x.sentToo, n.Submission) {
		f.x.sentToo = append(f.x.sentToo, n.Submission)
	}
	return n, into, nil
}

// intoDoubt makes the step, and returns the record as it is then.
func (f *file) intoDoubt(r claimdlq.Record) (n claimdlq.Record, err error) {
	err = settled(func() error {
		r, err := f.o.Store.Get(f.ctx, r.ID)
		if n = r; err != nil {
			return err
		}
		switch r.State {
		case claimdlq.StateLeased:
			return beingDelivered(r)
		case claimdlq.StateQuarantined, claimdlq.StateParked:
			if r.FateUnknown {
				return nil // it is in doubt when it is taken out again
			}
		case claimdlq.StateQueued:
		case claimdlq.StateSubmitted:
			if r.Reason == claimdlq.OutcomeUnknown {
				return nil // it was in doubt before, and answered since
			}
		case claimdlq.StateInDoubt, claimdlq.StateSettled, claimdlq.StateWithdrawn:
			return nil
		}
		if n, err = r.Doubt(f.dead.Detail, f.now()); err != nil {
			return err
		}
		if !r.FateUnknown { // that of the other pipeline is made of the interchange
			n.Submission = 0
		}
		err = f.move(claimdlq.ActDuplicate, r, n)
		n.Revision++
		return err
	})
	return n, err
}

// move makes one step of a record durable.
func (f *file) move(a claimdlq.Action, from, to claimdlq.Record) error {
	_, err := f.o.Store.Commit(f.ctx, store.Batch{Update: []claimdlq.Record{to}, Entries: []claimdlq.Entry{{
		At: f.now(), Actor: f.by.Actor, Action: a, Record: to.ID, PayloadRevision: to.PayloadRevision,
		Detail: to.Detail, From: from.State, To: to.State,
	}}})
	return err
}

// beingDelivered refuses a doubt that cannot be kept yet: how the delivery ends says what
// becomes of it. Whoever gives the claim up has it still.
func beingDelivered(r claimdlq.Record) error {
	return &claimdlq.Error{
		Code: claimdlq.Unavailable, Op: "take in dead letter", On: "record " + r.ID.String() + " is being delivered",
		Hint: "give it again when that has ended; nothing is taken in twice",
	}
}

// supersede makes a claim that another pipeline may have sent a sending of its claim
// besides its owner, or in place of it (takeOver).
func (f *file) supersede(owners []lineage.Owner, i int, s *standing) error {
	if s.note == "" || !f.batch.got[i] || owners == nil || owners[i].ID == 0 {
		return nil
	}
	_, next, err := f.besides(i)
	if err != nil {
		return err
	}
	if s.key, err = f.takeOver(owners[i], next); s.key != next {
		*s = standing{key: s.key}
	}
	return err
}

// takeOver returns the key under which a claim that another pipeline may have sent
// registers itself: as the owner in place of one that would go out, which is parked as a
// copy. Beside any other it is one more sending (next), which counts when that one comes
// to nothing.
func (f *file) takeOver(owner lineage.Owner, next claimdlq.Key) (key claimdlq.Key, err error) {
	err = settled(func() error {
		key = next
		r, err := f.o.Store.Get(f.ctx, owner.ID)
		switch {
		case err != nil:
			return err
		case r.State == claimdlq.StateLeased:
			return beingDelivered(r)
		case r.State != claimdlq.StateQueued || r.FateUnknown:
			return f.oneOfTwo(r)
		}
		n, err := r.Park(claimdlq.SemanticReject, f.now())
		if err != nil {
			return err
		}
		n.Reason, n.Class, n.Detail = claimdlq.SemanticReject, claimdlq.Terminal, lineage.EarlierInDoubt
		if err = f.move(claimdlq.ActConflict, r, n); err != nil {
			return err
		}
		copied(f.ctx, f.o.Log, n)
		key = owner.Next
		return nil
	})
	return key, err
}

// oneOfTwo keeps a record that may be with the payer from being sent again by itself:
// "not now" to it says nothing of the other pipeline's sending of the same claim.
// What has been answered since r was read is a conflict, and another matter.
func (f *file) oneOfTwo(r claimdlq.Record) error {
	switch r.State {
	case claimdlq.StateQueued, claimdlq.StateSubmitted:
		if r.State == claimdlq.StateSubmitted && r.Reason == claimdlq.OutcomeUnknown {
			break // it was in doubt before, and answered since
		}
		n, err := r.Doubt(f.dead.Detail, f.now())
		if err != nil {
			return err
		}
		if err := f.move(claimdlq.ActDuplicate, r, n); err != nil {
			return err
		}
	case claimdlq.StateInDoubt:
	default:
		return nil
	}
	if r.Submission == 0 || slices.Contains(f.x.sentToo, r.Submission) {
		return nil
	}
	f.x.sentToo = append(f.x.sentToo, r.Submission)
	return f.sentTwice(f.x.sentToo[len(f.x.sentToo)-1:])
}

// sentTwice says on submissions that what they carry may have been sent once more, by another pipeline. One of which nothing else is
// under way is in doubt itself.
func (f *file) sentTwice(ids []claimdlq.SubmissionID) error {
	for _, id := range ids {
		err := settled(func() error {
			s, err := f.o.Store.Submission(f.ctx, id)
			if err != nil || s.Receives == 0 || s.State == claimdlq.SubmissionLeased || s.State == claimdlq.SubmissionSending {
				return err // nobody but the other pipeline has sent it; or the end of its delivery says how it stands
			}
			n := s
			n.Receives = max(s.Receives, 2)
			moves, err := f.underWay(s)
			if err != nil {
				return err
			}
			if !moves {
				n.State, n.Last = claimdlq.SubmissionInDoubt, f.dead.Detail
			}
			if n.Receives == s.Receives && n.State == s.State {
				return nil
			}
			_, err = f.o.Store.Commit(f.ctx, store.Batch{Submissions: []claimdlq.Submission{n}})
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// underWay reports whether some record of the submission waits for its delivery or for
// its answer.
func (f *file) underWay(s claimdlq.Submission) (bool, error) {
	for _, run := range s.Members {
		for id := run.First; id <= run.Last; id++ {
			r, err := f.o.Store.Get(f.ctx, id)
			if err != nil {
				return false, err
			}
			if r.State == claimdlq.StateQueued || r.State == claimdlq.StateSubmitted && r.Submission == s.ID {
				return true, nil
			}
		}
	}
	return false, nil
}
