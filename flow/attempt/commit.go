package attempt

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"time"

	"claimdlq"
	"claimdlq/phi"
	"claimdlq/store"
)

// maxAnswers bounds the answers that one unit holds: 4 MiB.
const maxAnswers = 4 << 20

// sealed are outcomes whose answers are in the vault, or why they are not.
type sealed struct {
	batch []*outcome
	err   error
}

// commitAll is the committer: it gathers the outcomes that are there, seals their
// answers as one unit, and makes all of them durable in one commit, until no more can
// come. While one batch is committed, the answers of the next are sealed.
func (s *session) commitAll() {
	next, rooms := make(chan sealed), make(chan []*outcome, 2)
	rooms <- nil
	rooms <- nil
	s.committer.Go(func() {
		for b := range next {
			n := int32(len(b.batch))
			s.settle(b)
			s.settling.Add(-n)
			clear(b.batch)
			rooms <- b.batch[:0]
		}
	})
	defer close(next)
	for first := range s.outcomes {
		batch := s.more(append(<-rooms, first))
		err := s.patiently(func() error { return s.seal(batch) })
		s.settling.Add(int32(len(batch)))
		next <- sealed{batch, err}
	}
}

// more adds the outcomes that are there, after giving way to workers that are about to
// have one.
func (s *session) more(batch []*outcome) []*outcome {
	size, waited := batch[0].answer.Len(), 0
	for len(batch) < cap(s.outcomes) && size < maxAnswers {
		select {
		case o, ok := <-s.outcomes:
			if !ok {
				return batch
			}
			batch = append(batch, o)
			size += o.answer.Len()
			continue
		default:
		}
		if waited++; waited > patience || int(s.pending.Load()-s.settling.Load()) <= len(batch) {
			return batch
		}
		runtime.Gosched()
	}
	return batch
}

// patiently does what store or vault must do for outcomes. A Run waits for one that
// cannot be used now: what was sent was sent, and must not be forgotten.
func (s *session) patiently(do func() error) error {
	var again *time.Timer
	err := do()
	for !s.once && errors.Is(err, claimdlq.Unavailable) && s.work.Err() == nil {
		s.trouble(err)
		if again == nil {
			again = time.NewTimer(pause)
			defer again.Stop()
		} else {
			again.Reset(pause)
		}
		select {
		case <-again.C:
			err = do()
		case <-s.work.Done():
		}
	}
	return err
}

// settle makes the outcomes durable.
func (s *session) settle(b sealed) {
	batch, err := b.batch, b.err
	if err == nil {
		err = s.patiently(func() error { return s.commit(batch) })
	}
	s.mu.Lock()
	for _, o := range batch {
		if err == nil {
			s.total.add(o.summary)
		}
	}
	s.mu.Unlock()
	if err != nil {
		s.trouble(err)
	}
	var soonest time.Time
	landed := s.landing[:0]
	for _, o := range batch {
		if err == nil {
			s.a.tell(s.work, o)
		}
		if o.done != nil {
			o.done <- err
			continue // its worker lands it
		}
		landed = append(landed, o.sub.ID)
		if w := o.waits; err == nil && !w.IsZero() && (soonest.IsZero() || w.Before(soonest)) {
			soonest = w
		}
		freeOutcome(o)
	}
	s.landed(landed...)
	s.landing = landed
	s.a.soon(soonest) // not before they have landed: what is under way is not looked at
}

func (s *session) commit(batch []*outcome) error {
	b := &s.ended
	empty(b)
	for _, o := range batch {
		if !o.shares() {
			o.addTo(b)
			continue
		}
		b.Update = append(b.Update, o.steps.Update...)
		b.Submissions = append(b.Submissions, o.steps.Submissions...)
		s.came.add(o.sub.Partner, o.moved[0].id, o.steps.Entries...)
	}
	b.Entries = s.came.flush(b.Entries)
	_, err := s.a.o.Store.Commit(s.keep, *b)
	if !errors.Is(err, claimdlq.Conflict) && !errors.Is(err, claimdlq.Refused) {
		return err
	}
	for _, o := range batch { // somebody's answer was faster for one of them
		if err := s.a.finish(s.keep, o); err != nil {
			return err
		}
	}
	return nil
}

func (o *outcome) addTo(b *store.Batch) {
	b.Update = append(b.Update, o.steps.Update...)
	b.Submissions = append(b.Submissions, o.steps.Submissions...)
	b.NewSubmissions = append(b.NewSubmissions, o.steps.NewSubmissions...)
	b.Entries = append(b.Entries, o.steps.Entries...)
}

// seal puts the answers into the vault, one after the other in one unit, durably, and
// points the members at them.
func (s *session) seal(batch []*outcome) error {
	size := 0
	for _, o := range batch {
		size += o.answer.Len()
	}
	if size == 0 {
		return nil
	}
	all := slices.Grow(s.answers[:0], size)
	for _, o := range batch {
		all = append(all, o.answer.Reveal()...)
	}
	unit, err := s.a.o.Vault.Stage(phi.Wrap(all))
	clear(all)
	s.answers = all
	if err != nil {
		return err
	}
	if err := s.a.o.Vault.Sync(s.keep); err != nil {
		return err
	}
	offset := int64(0)
	for _, o := range batch {
		n := int64(o.answer.Len())
		if n == 0 {
			continue
		}
		o.point(claimdlq.PayloadRef{Unit: unit.Unit, Offset: unit.Offset + offset, Length: n})
		offset += n
	}
	return nil
}

// finish makes one outcome durable. An acknowledgment that came faster has moved
// members already: then they are read again.
func (a *Attempt) finish(ctx context.Context, o *outcome) error {
	for {
		var b store.Batch
		o.addTo(&b)
		_, err := a.o.Store.Commit(ctx, b)
		if !errors.Is(err, claimdlq.Conflict) {
			return err
		}
		if o.sub, err = a.o.Store.Submission(ctx, o.sub.ID); err != nil {
			return err
		}
		switch o.sub.State {
		case claimdlq.SubmissionLeased, claimdlq.SubmissionSending:
		default: // an answer has closed it
			o.moved, o.summary, o.waits = nil, Summary{}, time.Time{}
			return nil
		}
		members, _, err := a.members(ctx, o.sub, leasedBy(o.sub), nil)
		if err != nil {
			return err
		}
		if err := o.apply(members, a.o.Policies.For(o.sub.Stream), a.now()); err != nil {
			return err
		}
	}
}
