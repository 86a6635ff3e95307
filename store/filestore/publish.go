package filestore

import (
	"claimdlq"
	"claimdlq/store"
)

// publish makes a durable group visible, all of it at once.
func (w *writer) publish(next state) {
	x, c := w.s.index, w.chunk
	x.mu.Lock()
	defer x.mu.Unlock()
	if n := len(x.chunks); n == 0 || x.chunks[n-1] != c {
		x.chunks = append(x.chunks, c)
	}
	for _, a := range w.done {
		c.mark(a.seq, a.pos-c.base)
		switch {
		case a.r.plan != nil:
			x.apply(a.r.plan, a.pos)
			n, released := int64(len(a.r.plan.records)+len(a.r.plan.subs)), int64(a.r.plan.released)
			c.items += n + released
			c.prints = c.prints || len(a.r.plan.prints) > 0
			w.s.changes.Add(n + released/releasedCheaper)
			if a.r.plan.revives {
				w.s.epoch.Add(1)
			}
		case a.r.move != nil:
			c.items += x.applyMove(a.r.move, a.pos)
		case a.r.evict != nil:
			x.applyEvict(a.r.evict)
			w.s.epoch.Add(1)
		case a.r.evictSubs != nil:
			x.applyEvictSubs(a.r.evictSubs)
			w.s.epoch.Add(1)
		}
	}
	x.totals, x.gone = next.totals, next.gone
	c.end, c.lastSeq = c.used.Load(), next.totals.lastSeq
	w.s.live.Store(x.live)
	w.s.excess.Store(max(x.final, x.subs.finished) - int64(max(0, w.s.o.KeepSettled)))
	w.s.prints.Store(int64(x.seen.n))
	w.s.journal.Add(next.end - w.state.end)
	w.state = next
}

// mark notes where audit entries are, every so often.
func (c *chunk) mark(seq uint64, off int64) {
	if n := len(c.marks); n == 0 || off-c.marks[n-1].off >= markEvery {
		c.marks = append(c.marks, mark{seq, off})
	}
}

// apply puts a plan into the index; pos is where its frame is.
func (x *index) apply(p *plan, pos int64) {
	for i := range p.records {
		c := &p.records[i]
		x.putRecord(uint32(c.record.ID), c.record.Revision, pos+int64(c.off), &c.rowChange, c.expect == 0 || c.revived)
	}
	for i := range p.subs {
		c := &p.subs[i]
		id := uint32(c.sub.ID)
		x.putSub(id, subRow{
			loc: pos + int64(c.off), due: c.due, rev: c.sub.Revision, queue: x.subs.queueOf(id, &c.sub), state: c.sub.State,
		})
		for _, h := range c.refs {
			x.subs.refs.add(h, id)
		}
	}
	for i := range p.releases {
		c := &p.releases[i]
		x.applyRelease(c, claimdlq.SubmissionID(c.sub), pos+int64(c.off))
	}
	for _, f := range p.prints {
		x.seen.add(f)
	}
}

// putSubmission puts a submission into the index; loc is where its item is.
func (x *index) putSubmission(s *claimdlq.Submission, loc int64) {
	id := uint32(s.ID)
	x.putSub(id, subRow{loc: loc, due: dueOf(s), rev: s.Revision, queue: x.subs.queueOf(id, s), state: s.State})
	for _, ref := range store.SubmissionRefs(*s) {
		x.subs.refs.add(hashRef(ref), id)
	}
}

// putRecord sets a record's row; where it is new, its key is made findable too.
func (x *index) putRecord(id, rev uint32, loc int64, c *rowChange, key bool) {
	n := row{loc: loc, age: c.age, rev: rev, claims: c.claims}
	if old, ok := x.at(id); ok {
		n.cause = x.causes.after(old.cause, &c.cause)
	} else {
		n.cause = x.causes.id(c.cause)
	}
	x.put(id, n)
	if key {
		x.keys.add(c.key, id)
	}
	for _, h := range c.refs[:c.nrefs] {
		x.refs.add(h, id)
	}
}

// putGone changes the figures of what only sorted runs hold.
func (c *counts) putGone(g gonePart, n int64) { c.add(g.key(), n, n*int64(g.claims)) }

// releasedCheaper is how many released records are read back in the time of one that was
// written whole: so much less often they are worth a snapshot.
const releasedCheaper = 8
