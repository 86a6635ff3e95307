package filestore

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"claimdlq"
	"claimdlq/store/filestore/sortedrun"
)

// Report is what Verify found.
type Report struct {
	Chunks   int   `json:"chunks"`
	Bytes    int64 `json:"bytes"`  // of the journal
	Frames   int64 `json:"frames"` // whose checksum and place in the chain were checked
	Entries  int64 `json:"entries"`
	Records  int64 `json:"records"`  // in memory, each held against the journal
	Evicted  int64 `json:"evicted"`  // in sorted runs only
	Received int64 `json:"received"` // claims
	// Quiet says that nothing was committed meanwhile, so that totals could be
	// compared as well.
	Quiet bool `json:"quiet"`
	// Problems are what is wrong, at most 100 of them.
	Problems []string `json:"problems,omitempty"`
}

// OK reports whether nothing is wrong.
func (r *Report) OK() bool { return len(r.Problems) == 0 }

func (r *Report) wrong(format string, args ...any) {
	if len(r.Problems) < 100 {
		r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
	}
}

// Verify reads the whole journal and all sorted runs, and holds them against the
// index: every frame's checksum and its place in the hash chain; every record and
// submission in memory against the newest the journal has; counters and bitmaps
// against a recount; and that no claim and no record is missing. It changes
// nothing, and the store keeps working. An error means that it could not finish;
// what is wrong with the data is in the report.
func (s *Store) Verify(ctx context.Context) (Report, error) {
	s.maintenance.Lock()
	defer s.maintenance.Unlock()
	v := &verifier{s: s, r: &replay{chain: newChainer(), lanes: map[string]uint32{}}, matched: map[*chunk]int64{}}
	before, err := s.lookAt(ctx)
	if err != nil {
		return v.rep, err
	}
	for _, c := range before.chunks {
		if err := v.chunk(ctx, c, before.end); err != nil {
			return v.rep, err
		}
	}
	v.recount()
	after, err := s.lookAt(ctx)
	if err != nil {
		return v.rep, err
	}
	if v.rep.Quiet = before.end == after.end; v.rep.Quiet {
		v.compare(before)
	}
	if runs := s.runs.Load(); runs != nil {
		for _, set := range runs.sets() {
			if err := set.Verify(ctx); err != nil {
				if !errors.Is(err, claimdlq.Corrupt) {
					return v.rep, err
				}
				v.rep.wrong("%v", err)
			}
		}
	}
	return v.rep, v.submissions(before)
}

// look is where the journal stands between two groups.
type look struct {
	state
	lanes  map[string]uint32
	chunks []*chunk
}

func (s *Store) lookAt(ctx context.Context) (l look, err error) {
	r := newRequest()
	defer r.release()
	r.look = func(w *writer) {
		l = look{state: w.state, lanes: maps.Clone(w.lanes), chunks: slices.Clone(s.index.chunks)}
	}
	return l, s.do(ctx, r)
}

// verifier is a verification under way.
type verifier struct {
	s       *Store
	r       *replay
	rep     Report
	matched map[*chunk]int64 // items that the index points at
	// stepped are the records that were found to need a step, steps those whose step was
	// found.
	stepped, steps int64
}

func (v *verifier) chunk(ctx context.Context, c *chunk, end int64) error {
	v.rep.Chunks++
	head := make([]byte, chunkHeader)
	if _, err := c.f.ReadAt(head, 0); err != nil && !isEOF(err) {
		return unavailable("verify journal", err)
	}
	h, ok := decodeChunkHead(head)
	if !ok || h.num != c.num {
		v.rep.wrong("chunk %d: header", c.num)
		return nil
	}
	c2 := &chunk{num: c.num, base: c.base, head: h} // the replay's own
	if err := v.r.begin(c2); err != nil {
		v.rep.wrong("%v", err)
		return nil
	}
	v.s.index.mu.RLock()
	stop := min(c.end, end-c.base)
	v.s.index.mu.RUnlock()
	v.rep.Bytes += stop
	fr := frameReader{f: c.f, base: c.base, off: chunkHeader, end: stop}
	for {
		if err := ctx.Err(); err != nil {
			return unavailable("verify journal", err)
		}
		h, frame, err := fr.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = v.r.frame(c2, h, frame)
		}
		if err != nil {
			if !errors.Is(err, claimdlq.Corrupt) {
				return err
			}
			v.rep.wrong("%v", err)
			return nil // where the next frame begins is not known
		}
		v.rep.Frames++
		v.items(c, h, frame)
	}
}

// items holds the items of a frame against the index.
func (v *verifier) items(c *chunk, h header, frame []byte) {
	_ = eachItem(frame, func(it item) error { // the frame has been replayed: its items parse
		pos := h.position + int64(it.off)
		switch it.kind {
		case itemRecord, itemMovedRecord:
			v.record(c, it, pos)
		case itemSubmission, itemMovedSub:
			v.submission(c, it, pos)
		case itemRelease:
			v.release(c, it, pos)
		case itemEntry:
			v.rep.Entries++
		}
		return nil
	})
}

func (v *verifier) record(c *chunk, it item, pos int64) {
	rec, err := decodeRecord(it.content)
	if err != nil {
		v.rep.wrong("position %d: record does not parse", pos)
		return
	}
	x, id := v.s.index, uint32(rec.ID)
	x.mu.RLock()
	defer x.mu.RUnlock()
	row, ok := x.at(id)
	switch {
	case !ok:
		if rec.State.Unresolved() {
			return // a later frame settled it, else it would be in memory; totals tell
		}
	case row.rev < rec.Revision:
		v.rep.wrong("record %d: the index has revision %d, the journal %d", id, row.rev, rec.Revision)
	case row.loc == pos:
		v.matched[c]++
		v.rep.Records++
		if s := x.need(id); s != nil {
			if rec, err = s.apply(rec); err != nil {
				v.rep.wrong("record %d: cannot be released", id)
				return
			}
			v.stepped++
		}
		if k := x.causes.list[row.cause]; row.rev != rec.Revision || k.causeKey != causeOf(&rec) ||
			row.age != ageOf(rec.CreatedAt, rec.FirstFailedAt) || row.claims != rec.Claims {
			v.rep.wrong("record %d: the index says otherwise than the journal", id)
		}
		if !slices.Contains(x.keys.rows(hashKey(rec.Key), nil), id) {
			v.rep.wrong("record %d: not found by its key", id)
		}
		for _, ref := range rec.Refs() {
			if !slices.Contains(x.refs.rows(hashRef(ref), nil), id) {
				v.rep.wrong("record %d: not found by a look-up value", id)
			}
		}
	}
}

func (v *verifier) submission(c *chunk, it item, pos int64) {
	sub, err := decodeSubmission(it.content)
	if err != nil {
		v.rep.wrong("position %d: submission does not parse", pos)
		return
	}
	v.s.index.mu.RLock()
	defer v.s.index.mu.RUnlock()
	v.holdSubmission(c, &sub, pos)
}

// release holds what a release says against the index.
func (v *verifier) release(c *chunk, it item, pos int64) {
	r, err := decodeRelease(it.content)
	if err != nil {
		v.rep.wrong("position %d: release does not parse", pos)
		return
	}
	x := v.s.index
	x.mu.RLock()
	defer x.mu.RUnlock()
	for i := range r.len() {
		sub := r.submission(i)
		v.holdSubmission(c, &sub, pos)
		m := r.record(i)
		row, ok := x.at(uint32(m.ID))
		s := x.need(uint32(m.ID))
		switch {
		case ok && row.rev <= m.Revision:
			v.rep.wrong("record %d: the index has revision %d, the journal %d", m.ID, row.rev, m.Revision+1)
		case s != nil && s.loc == pos:
			v.steps++
			if row.rev != m.Revision+1 || s.rule != r.rule || !s.at.Equal(r.at) || s.due != dueFrom(m.NotBefore) {
				v.rep.wrong("record %d: the index says otherwise than its release", m.ID)
			}
		}
	}
}

// holdSubmission holds a submission as the journal has it against the index, whose lock
// the caller holds.
func (v *verifier) holdSubmission(c *chunk, sub *claimdlq.Submission, pos int64) {
	x := v.s.index
	row, ok := x.subs.at(uint32(sub.ID))
	switch {
	case !ok: // totals tell whether a run has it
	case row.rev < sub.Revision:
		v.rep.wrong("submission %d: the journal has a later revision than the index", sub.ID)
	case row.loc == pos:
		v.matched[c]++
		if row.rev != sub.Revision || row.state != sub.State || row.due != dueOf(sub) ||
			(row.queue != noQueue && x.subs.queues.list[row.queue] != sub.Queue()) {
			v.rep.wrong("submission %d: the index says otherwise than the journal", sub.ID)
		}
		if !x.subs.has(&row, uint32(sub.ID)) {
			v.rep.wrong("submission %d: missing in a bitmap", sub.ID)
		}
	}
}

// submissions counts those in memory and in runs: none may be missing.
func (v *verifier) submissions(l look) error {
	x, n := v.s.index, int64(0)
	if runs := v.s.runs.Load(); runs != nil {
		err := runs.subs.Ascend(sortedrun.Key{}, func(k sortedrun.Key, b []byte) bool {
			id := binary.BigEndian.Uint64(k[8:])
			if sub, err := decodeSubmission(b); err != nil || uint64(sub.ID) != id {
				v.rep.wrong("submission %d: does not parse in its run", id)
			}
			x.mu.RLock()
			defer x.mu.RUnlock()
			if _, ram := x.subs.at(uint32(id)); !ram {
				n++
			}
			return true
		})
		if err != nil && !errors.Is(err, claimdlq.Corrupt) {
			return err
		}
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	if v.rep.Quiet && n+x.subs.live != int64(l.totals.lastSub) {
		v.rep.wrong("submissions are missing: %d made, %d there", l.totals.lastSub, n+x.subs.live)
	}
	return nil
}

// recount holds counters and bitmaps against the rows.
func (v *verifier) recount() {
	x := v.s.index
	x.mu.RLock()
	defer x.mu.RUnlock()
	var n counts
	live, causes := int64(0), make([]int64, len(x.causes.list))
	for block, b := range x.blocks {
		if b == nil {
			continue
		}
		b.each(func(off uint16, i int) {
			r := b.get(i)
			c := x.causes.list[r.cause]
			live++
			causes[r.cause]++
			n.add(&c.causeKey, 1, int64(r.claims))
			for _, set := range c.dims {
				if set == nil {
					continue
				}
				if in := set.set(uint32(block)); in == nil || !in.has(off) {
					v.rep.wrong("record %d: missing in a bitmap", block<<blockBits|int(off))
				}
			}
		})
	}
	if n != x.counts || live != x.live {
		v.rep.wrong("counters differ from a recount")
	}
	if !x.soundMinima() {
		v.rep.wrong("the age of the oldest differs from what the records say")
	}
	dims := map[*bitmap]int64{}
	for i, c := range x.causes.list {
		if c.records != causes[i] {
			v.rep.wrong("a group's counter is %d, there are %d", c.records, causes[i])
		}
		for _, set := range c.dims {
			if set != nil {
				dims[set] += causes[i]
			}
		}
	}
	for set, n := range dims {
		if int64(set.count()) != n {
			v.rep.wrong("a bitmap has %d records, there are %d", set.count(), n)
		}
	}
	all := n.plus(x.gone)
	v.rep.Evicted, v.rep.Received = x.gone.all, x.totals.received
	claims := int64(0)
	for _, k := range all.claims {
		claims += k
	}
	if claims != x.totals.received {
		v.rep.wrong("claims are not conserved: %d received, %d accounted for", x.totals.received, claims)
	}
	if all.all != int64(x.totals.lastID) {
		v.rep.wrong("records are missing: %d made, %d there", x.totals.lastID, all.all)
	}
}

// compare holds the totals that the journal adds up to against the index's.
func (v *verifier) compare(l look) {
	if !v.rep.OK() && v.r.end != l.end {
		return // a chunk could not be read to its end
	}
	if v.r.totals != l.totals || v.r.gone != l.gone || v.r.last != l.last || v.r.group != l.group || v.r.end != l.end {
		v.rep.wrong("totals differ from what the journal adds up to")
	}
	if !maps.Equal(v.r.lanes, l.lanes) {
		v.rep.wrong("control numbers differ from what the journal says")
	}
	x := v.s.index
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, c := range l.chunks {
		if v.matched[c] != c.live {
			v.rep.wrong("chunk %d: %d of its items are of use, the index counts %d", c.num, v.matched[c], c.live)
		}
	}
	if v.stepped != x.steps.rows || v.steps != x.steps.rows {
		v.rep.wrong("%d records were released and not written since: %d of them and %d releases are in the journal", x.steps.rows, v.stepped, v.steps)
	}
	if v.rep.Records != x.live {
		v.rep.wrong("%d records are in memory, %d of them in the journal", x.live, v.rep.Records)
	}
}
