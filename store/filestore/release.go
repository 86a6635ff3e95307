package filestore

import (
	"claimdlq"
	"claimdlq/store"
)

// A release moves many records and makes their submissions in one small item, so it is
// the one step after which the journal does not hold a record's whole new state. The
// row of the index points at the whole state before, and the index knows that one step
// has come since (steps.go): a reader applies it. The step ends with the record's next
// one, or when compaction writes the record again, and both write it whole.
//
// All submissions of a release are at the place of its item, and found by counting.

// releaseChange is one release of a plan.
type releaseChange struct {
	*store.Release

	off   int // of its item in the frame
	queue claimdlq.Queue
	// sub is how many new submissions of the plan come before its own, and then the id
	// of its first.
	sub int
}

// judgeReleases holds releases against the index, which knows enough: nothing is read.
func (p *plan) judgeReleases(v view, b *store.Batch) error {
	p.released = 0
	if len(b.Releases) == 0 {
		return nil
	}
	changed := make(map[claimdlq.ID]bool, len(b.Update))
	for i := range b.Update {
		changed[b.Update[i].ID] = true
	}
	for n := range b.Releases {
		r := &b.Releases[n]
		if err := r.Check(); err != nil {
			return err
		}
		if err := v.judgeRelease(r, changed); err != nil {
			return err
		}
		if len(b.Releases) > 1 {
			for i := range r.Records {
				changed[r.Records[i].ID] = true
			}
		}
		p.releases = append(p.releases, releaseChange{
			Release: r, sub: p.newSubs + p.released, queue: claimdlq.Queue{Stream: r.Stream, Partner: r.Partner, Bulk: r.Bulk},
		})
		p.released += len(r.Records)
	}
	return nil
}

// judgeRelease stops at the first record that cannot be released.
func (v view) judgeRelease(r *store.Release, changed map[claimdlq.ID]bool) error {
	i, err := v.s.index.releasable(r, changed)
	if err != nil || i == len(r.Records) {
		return err
	}
	// It has left memory, so it is none that could be released: settled, withdrawn, or none.
	m := &r.Records[i]
	prev, _, err := v.s.read(m.ID)
	switch {
	case err != nil:
		return err
	case prev.Revision != m.Revision:
		return failure(claimdlq.Conflict, "release record", m.ID.String())
	}
	if _, err = r.Record(i, prev); err != nil {
		return err
	}
	return failure(claimdlq.Conflict, "release record", m.ID.String()) // it has come back since
}

// releasable returns how many records, from the first, can be released; a record that
// is not in memory is where it stops.
func (x *index) releasable(r *store.Release, changed map[claimdlq.ID]bool) (int, error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	last, fits := uint32(0), false // the cause looked at last: mostly all have the same
	for i := range r.Records {
		m := &r.Records[i]
		if m.ID == 0 || m.ID > maxRows {
			return i, nil
		}
		row, ok := x.at(uint32(m.ID))
		if !ok {
			return i, nil
		}
		if row.rev != m.Revision || changed[m.ID] {
			return i, failure(claimdlq.Conflict, "release record", m.ID.String())
		}
		if i == 0 || row.cause != last {
			k := &x.causes.list[row.cause].causeKey
			last, fits = row.cause, k.state == claimdlq.StateQuarantined && k.partner == r.Partner && k.stream == r.Stream
		}
		if !fits {
			return i, failure(claimdlq.Refused, "release record", m.ID.String())
		}
	}
	return len(r.Records), nil
}

// compareReleases is compare for releases: a revision has one state, so that what was
// judged of it holds while it is the newest.
func (w *writer) compareReleases(p *plan) error {
	for n := range p.releases {
		for _, m := range p.releases[n].Records {
			row, ok := w.s.index.at(uint32(m.ID))
			if !ok || row.rev != m.Revision || w.touched[uint32(m.ID)] {
				return failure(claimdlq.Conflict, "release record", m.ID.String())
			}
		}
	}
	return nil
}

func (w *writer) touchReleases(p *plan) {
	for n := range p.releases {
		for _, m := range p.releases[n].Records {
			w.touched[uint32(m.ID)] = true
		}
	}
}

func (e *encoded) release(p *plan, n int) {
	c := &p.releases[n]
	c.off = e.open(itemRelease)
	e.patches = append(e.patches, patch{at: len(e.frame) + 1, add: uint64(c.sub), sub: true})
	e.frame = appendRelease(e.frame, c.Release)
	e.close(c.off)
}

// applyRelease puts a release of the plan into the index; loc is where its item is, sub
// the id of its first submission.
func (x *index) applyRelease(c *releaseChange, sub claimdlq.SubmissionID, loc int64) {
	step := x.addStep(step{loc: loc, at: millis(c.At), rule: c.RuleVersion})
	row := subRow{loc: loc, rev: 1, queue: x.subs.queues.id(c.queue), state: claimdlq.SubmissionReady}
	for i := range c.Records {
		m := &c.Records[i]
		x.release(uint32(m.ID), m.Revision, loc, step, m.NotBefore)
		row.due = dueFrom(m.NotBefore)
		x.putSub(uint32(sub)+uint32(i), row)
	}
	x.dropStep(step)
}

// replayRelease puts a release that was read from the journal into the index, which may
// be ahead of it. It is an error if the index is behind it.
func (x *index) replayRelease(r *release, loc int64) error {
	step := x.addStep(step{loc: loc, at: r.at, rule: r.rule})
	defer x.dropStep(step)
	queue := x.subs.queues.id(claimdlq.Queue{Stream: r.stream, Partner: r.partner, Bulk: r.bulk})
	for i := range r.len() {
		m := r.record(i)
		if row, ok := x.at(uint32(m.ID)); ok && row.rev < m.Revision {
			return errCodec
		}
		x.release(uint32(m.ID), m.Revision, loc, step, m.NotBefore)
		x.putSub(uint32(r.sub)+uint32(i), subRow{
			loc: loc, due: dueFrom(m.NotBefore), rev: 1, queue: queue, state: claimdlq.SubmissionReady,
		})
	}
	return nil
}

// needed finds the records of a release that was before a snapshot which need it still.
func (x *index) needed(r *release, loc int64) {
	step := x.addStep(step{loc: loc, at: r.at, rule: r.rule})
	for i := range r.len() {
		if m := r.record(i); x.isAt(uint32(m.ID), m.Revision+1) {
			x.release(uint32(m.ID), m.Revision, loc, step, m.NotBefore)
		}
	}
	x.dropStep(step)
}

func (x *index) isAt(id, rev uint32) bool {
	row, ok := x.at(id)
	return ok && row.rev == rev
}
