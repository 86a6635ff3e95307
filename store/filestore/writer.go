package filestore

import (
	"slices"

	"claimdlq"
)

// writer is the one goroutine that appends to the journal and changes the index.
// It takes everything that waits, judges it in order, writes it with one write and
// one flush, publishes it in the index, and answers.
type writer struct {
	s *Store
	state
	chunk *chunk
	lanes map[string]uint32 // the last control number given
	chain *chainer

	group []*request // the requests being answered
	buf   []byte     // their frames, and what begins a chunk
	done  []applied  // those that were accepted

	// What the group being made holds already.
	keys    map[claimdlq.Key]pending
	touched map[uint32]bool // records updated
	subs    map[uint32]bool // submissions updated
	undo    []laneBefore
}

// state is where the journal stands after its last durable group.
type state struct {
	end    int64  // position behind the last frame
	group  uint64 // number of the last flush
	last   chain  // of the last frame
	totals totals
	gone   counts
}

// applied is an accepted request and where its frame begins in the journal.
type applied struct {
	r   *request
	pos int64
	seq uint64 // number of its first audit entry
}

// laneBefore is what a lane was before the group being made.
type laneBefore struct {
	lane string
	last uint32
}

func newWriter(s *Store) *writer {
	return &writer{
		s: s, chain: newChainer(), lanes: map[string]uint32{},
		keys: map[claimdlq.Key]pending{}, touched: map[uint32]bool{}, subs: map[uint32]bool{},
	}
}

// run writes until the queue is closed and empty.
func (w *writer) run() {
	for {
		group, more := w.s.queue.take(w.group[:0])
		if !more {
			return
		}
		w.group = group
		w.commit()
		for i, r := range w.group {
			if r.look != nil {
				r.look(w)
			}
			w.group[i] = nil
			r.done <- struct{}{}
		}
	}
}

// commit makes one group durable. Every request has its answer afterwards.
func (w *writer) commit() {
	if w.s.broken.Load() {
		for _, r := range w.group {
			r.err = failure(claimdlq.Unavailable, "commit", "store has stopped after a disk failure")
		}
		return
	}
	need := 0
	for _, r := range w.group {
		need += r.size()
	}
	var b budget
	if need > 0 {
		b = w.ensure(int64(need))
	}
	next := w.state
	next.group++
	w.buf, w.done, w.undo = w.buf[:0], w.done[:0], w.undo[:0]
	start := 0
	if !w.chunk.started {
		w.begin(&next)
		start = len(w.buf)
	}
	w.acceptAll(&next, b)
	if len(w.buf) > start {
		if err := w.write(); err != nil {
			w.takeBack(err)
		} else {
			w.publish(next)
		}
	}
	clear(w.keys)
	clear(w.touched)
	clear(w.subs)
	w.s.room.wakeIfShort(w.chunk)
	w.s.wakeIfDue()
}

// acceptAll judges the group in order; what makes records leave memory comes last,
// so that it meets no later change of them in the same group.
func (w *writer) acceptAll(next *state, b budget) {
	for _, last := range [...]bool{false, true} {
		for _, r := range w.group {
			if (r.evict != nil || r.evictSubs != nil) == last {
				w.accept(next, r, b)
			}
		}
	}
}

// accept judges one request against what is durable and what the group holds, and
// appends its frame. A request that fails leaves nothing behind.
func (w *writer) accept(next *state, r *request, b budget) {
	if r.look != nil {
		return
	}
	at, before := len(w.buf), *next
	if err := b.check(at+r.size(), r.plan != nil && r.plan.inserts > 0); err != nil {
		r.err = err
		return
	}
	var err error
	switch {
	case r.plan != nil:
		err = w.acceptCommit(next, r)
	case r.n > 0:
		w.acceptControl(r)
	case r.audited > 0:
		w.acceptAudited(next, r)
	case r.move != nil:
		err = w.acceptMove(r)
	case r.evict != nil:
		w.acceptEvict(next, r)
	case r.evictSubs != nil:
		w.acceptEvictSubs(r.evictSubs)
	}
	if err != nil {
		r.err, w.buf, *next = err, w.buf[:at], before
		return
	}
	if len(w.buf) > at {
		seq := before.totals.lastSeq + 1
		r.pos = next.end
		w.done = append(w.done, applied{r, next.end, seq})
		w.seal(next, at, seq)
	}
}

// openFrame makes room for a frame's header and returns where the frame begins.
func (w *writer) openFrame() int {
	at := len(w.buf)
	w.buf = append(w.buf, zeros[:frameHeader]...)
	return at
}

// put appends an item whose content put writes.
func (w *writer) put(kind byte, put func([]byte) []byte) {
	off := len(w.buf)
	w.buf = closeItem(put(openItem(w.buf, kind)), off)
	sumItem(w.buf[off:])
}

// seal ends the frame that begins at w.buf[at] and is its last, and pads it.
func (w *writer) seal(next *state, at int, seq uint64) {
	f := w.buf[at:]
	next.last = w.chain.seal(f, header{group: next.group, position: next.end, firstSeq: seq, chain: next.last})
	w.buf = append(w.buf, zeros[:padded(len(f))-len(f)]...)
	next.end += int64(len(w.buf) - at)
}

// write puts the group into the chunk and flushes it. After an error the chunk is
// as it was: no frame that was refused may be found later.
func (w *writer) write() error {
	c := w.chunk
	used := c.used.Load()
	if err := w.s.room.atLeast(c, used+int64(len(w.buf))); err != nil {
		return err
	}
	if _, err := c.f.WriteAt(w.buf, used); err != nil {
		w.erase(c, used, len(w.buf))
		return err
	}
	if err := c.f.Sync(); err != nil {
		w.s.fatal(err)
		return err
	}
	c.started = true
	c.used.Store(used + int64(len(w.buf)))
	return nil
}

// erase undoes a failed write of n bytes, durably.
func (w *writer) erase(c *chunk, used int64, n int) {
	err := fill(c.f, used, min(used+int64(n), c.size.Load()))
	if err != nil {
		w.s.room.mu.Lock()
		if err = c.f.Truncate(used); err == nil {
			c.size.Store(used)
		}
		w.s.room.mu.Unlock()
	}
	if err == nil {
		err = c.f.Sync()
	}
	if err != nil {
		w.s.fatal(err)
	}
}

// takeBack answers what was accepted with an error, and forgets it.
func (w *writer) takeBack(err error) {
	for _, a := range w.done {
		a.r.err = &claimdlq.Error{
			Code: claimdlq.Unavailable, Op: "write journal", Err: err, Hint: "nothing was written; try again",
		}
		a.r.receipt.Inserted, a.r.receipt.Submissions, a.r.receipt.Proof = nil, nil, claimdlq.Proof{}
	}
	for _, u := range slices.Backward(w.undo) {
		if u.last > 0 {
			w.lanes[u.lane] = u.last
		} else {
			delete(w.lanes, u.lane)
		}
	}
}
