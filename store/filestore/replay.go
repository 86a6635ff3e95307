package filestore

import (
	"fmt"

	"claimdlq"
)

// replay applies the frames of the journal to an index, in order. It is idempotent
// towards the rows: they may be newer than the frame already.
type replay struct {
	x     *index // nil to count only
	chain *chainer
	state
	lanes map[string]uint32
	begun bool // state is of this journal: a chunk's base must agree with it
	fresh bool // no frame of this chunk has been applied
	// durable is a position that the journal is known to have reached.
	durable int64
	items   int64 // records and submissions applied
	from    int64 // position where applying began
}

// begin takes a chunk's header into account, which must follow what was replayed.
func (r *replay) begin(c *chunk) error {
	h := c.head
	switch {
	case !r.begun:
		r.group, r.last, r.totals.lastSeq = h.group, h.chain, h.lastSeq
	case h.base != r.end, h.group != r.group, h.chain != r.last, h.lastSeq != r.totals.lastSeq:
		return corruptChunk(c, 0, "header does not follow the chunk before")
	}
	r.end = h.base + chunkHeader
	r.fresh = true
	return nil
}

// frame checks a frame's place in the chain and applies its items.
func (r *replay) frame(c *chunk, h header, f []byte) error {
	wrong := func(what string) error { return corruptChunk(c, h.position-c.base, what) }
	if r.chain.next(r.last, f) != h.chain {
		return wrong("chain")
	}
	if h.firstSeq != r.totals.lastSeq+1 || h.group < r.group || h.group > r.group+1 {
		return wrong("order of frames")
	}
	if r.fresh && (len(f) == frameHeader || f[frameHeader] != itemBase) {
		return wrong("no totals at the start")
	}
	if r.x != nil {
		c.mark(h.firstSeq, h.position-c.base)
	}
	if err := eachItem(f, func(it item) error { return r.item(c, it, h.position) }); err != nil {
		return wrong(fmt.Sprintf("item: %v", err))
	}
	r.last, r.group = h.chain, h.group
	r.end = h.position + int64(padded(h.length))
	r.fresh = false
	return nil
}

func (r *replay) item(c *chunk, it item, pos int64) error {
	switch it.kind {
	case itemRecord, itemMovedRecord:
		return r.record(c, it, pos)
	case itemSubmission, itemMovedSub:
		return r.submission(c, it, pos)
	case itemRelease:
		return r.release(c, it, pos)
	case itemEntry:
		r.totals.lastSeq++
	case itemFingerprints:
		prints, err := decodePrints(it.content)
		if err != nil {
			return err
		}
		if r.x != nil {
			for _, p := range prints {
				r.x.seen.add(p)
			}
			c.prints = true
		}
	case itemControl:
		lane, last, err := decodeLane(it.content)
		if err != nil {
			return err
		}
		r.lanes[lane] = last
	case itemAudited:
		d := newDecoder(it.content)
		r.totals.audited = d.fixed64()
		return d.end()
	case itemBase:
		return r.base(it)
	case itemEvicted:
		w, err := decodeEvicted(it.content)
		if err != nil {
			return err
		}
		for i := range w.records {
			r.gone.putGone(w.records[i].part, 1)
		}
		if r.x != nil {
			r.x.applyEvict(w)
		}
	case itemEvictedSubs:
		e, err := decodeEvictedSubs(it.content)
		if err == nil && r.x != nil {
			r.x.applyEvictSubs(e)
		}
		return err
	case itemRevived:
		d := newDecoder(it.content)
		r.gone.putGone(d.gonePart(), -1)
		return d.end()
	}
	return nil
}

func (r *replay) record(c *chunk, it item, pos int64) error {
	rec, err := decodeRecord(it.content)
	if err != nil {
		return err
	}
	if it.kind == itemRecord && rec.Revision == 1 {
		if rec.Parent == 0 {
			r.totals.received += int64(rec.Claims) + int64(rec.Parted)
		}
		r.totals.lastID = max(r.totals.lastID, rec.ID)
	}
	if r.x == nil {
		return nil
	}
	row := rowOf(&rec)
	row.setRefs(&rec)
	r.x.putRecord(uint32(rec.ID), rec.Revision, pos+int64(it.off), &row, true)
	c.items++
	r.items++
	return nil
}

func (r *replay) submission(c *chunk, it item, pos int64) error {
	s, err := decodeSubmission(it.content)
	if err != nil {
		return err
	}
	r.totals.lastSub = max(r.totals.lastSub, s.ID)
	if r.x == nil {
		return nil
	}
	r.x.putSubmission(&s, pos+int64(it.off))
	c.items++
	r.items++
	return nil
}

func (r *replay) release(c *chunk, it item, pos int64) error {
	rel, err := decodeRelease(it.content)
	if err != nil {
		return err
	}
	n := rel.len()
	r.totals.lastSub = max(r.totals.lastSub, rel.sub+claimdlq.SubmissionID(n-1))
	if r.x == nil {
		return nil
	}
	c.items += int64(n)
	r.items += int64(n)
	return r.x.replayRelease(&rel, pos+int64(it.off))
}

// base takes the totals of the first chunk there is, and holds those of the others
// against what was counted.
func (r *replay) base(it item) error {
	t, gone, err := decodeBase(it.content)
	if err != nil {
		return err
	}
	t.lastSeq = r.totals.lastSeq
	if r.begun && (t != r.totals || gone != r.gone) {
		return fmt.Errorf("%w: totals differ from what was counted", errCodec)
	}
	r.totals, r.gone, r.begun = t, gone, true
	return nil
}

// check holds what was replayed against itself: every record ever made is in
// memory or in a sorted run, and no claim is missing.
func (r *replay) check() error {
	wrong := func(what string) error {
		return &claimdlq.Error{Code: claimdlq.Corrupt, Op: "open store", On: what, Hint: "restore the journal from a backup"}
	}
	n := r.x.counts.plus(r.gone)
	if n.all != int64(r.totals.lastID) {
		return wrong("records are missing")
	}
	claims := int64(0)
	for _, k := range n.claims {
		claims += k
	}
	if claims != r.totals.received {
		return wrong("claims are missing")
	}
	return nil
}
