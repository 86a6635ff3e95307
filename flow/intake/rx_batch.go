package intake

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"

	"claimdlq"
	"claimdlq/flow/lineage"
	"claimdlq/store"
	"claimdlq/wire/ncpdp"
)

// rxBatch is a batch (Batch standard 1.2) of a file being taken in.
//
// Its details are read, placed and made durable in chunks, and held (HoldIntake):
// the count that says whether the batch is whole comes last. A fault of the frame, a
// reference used twice or left blank, or a trailer that does not match refuses the
// batch, as payers do: every detail is quarantined with the batch's code, whole ones
// and all. They go out when the same claims come in a good batch, under any number,
// or alone. A batch number that came before is not refused: claims are recognised one
// by one.
//
// A chunk is recognised by its bytes and place, so that a file given again is a no-op
// even where its claims have been reversed since, and one whose intake was
// interrupted is finished.
type rxBatch struct {
	header []byte
	base   int64 // where it begins in the file; other offsets count from there
	end    int64 // after the last record that was read
	ended  bool  // its trailer was read
	start  int64 // of the chunk
	chunks []rxChunk
	bad    claimdlq.Detail
	leave  func()
}

// rxChunk is a chunk of the batch that is durable.
type rxChunk struct {
	key         claimdlq.Key
	first, last claimdlq.ID // of its records; first 0 for none
	again       bool        // an earlier delivery of the file took it in
	apart       []int64     // offsets of transmissions of several that do not go out whole
	revived     []claimdlq.ID
	taken       int64 // claims of those that were taken in with it
}

// print recognises a chunk when its file comes again: under the first key where the
// chunk has records of its own, under the second where all of it was there already. The
// third says that it has revived records of others, which are to be found again.
type print struct{ own, other, back claimdlq.Key }

// of returns what to register with the commit of the chunk on the desk.
func (p *print) of(d *desk) (fps []store.Fingerprint) {
	if len(d.revived) > 0 {
		fps = append(fps, store.Fingerprint{Key: p.back, Record: d.revived[0]})
	}
	if len(d.batch.Insert) > 0 {
		return append(fps, store.Fingerprint{Key: p.own, Record: store.ParentIndex(0)})
	}
	fp := store.Fingerprint{Key: p.other}
	for i := range d.items {
		if fp.Record = d.items[i].record.ID; fp.Record != 0 {
			break
		}
	}
	return append(fps, fp)
}

// batch takes in a file of batches, one after the other: a header after a trailer begins
// the next, which has its own fate.
func (x *rxFile) batch(in *bufio.Reader) error {
	x.d.held = true
	r := x.beginBatch(in, 0)
	for {
		if err := x.f.ctx.Err(); err != nil {
			return unreadable(err)
		}
		if x.b.ended {
			if head, _ := in.Peek(4); ncpdp.IsBatch(head) { // an error of Peek is Next's
				if err := x.endBatch(); err != nil {
					return err
				}
				r = x.beginBatch(in, x.b.base+x.b.end)
			}
		}
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return x.endBatch()
		}
		if err != nil {
			return unreadable(err)
		}
		if err := x.record(rec); err != nil {
			return err
		}
	}
}

// beginBatch prepares for the batch at base. in has the size of buffer that the reader
// of a batch needs, so that it is used itself and nothing is read ahead of the batch.
func (x *rxFile) beginBatch(in *bufio.Reader, base int64) *ncpdp.BatchReader {
	if x.b != nil {
		x.b.leave()
	}
	x.b = &rxBatch{base: base, leave: func() {}}
	x.d.number, x.d.usage = "", ""
	return ncpdp.NewBatchReader(in, ncpdp.BatchOptions{})
}

// record takes in one record of the batch.
func (x *rxFile) record(rec ncpdp.BatchRecord) error {
	if j, ok := rec.(*ncpdp.BatchJunk); ok {
		x.b.end = j.Offset + int64(len(j.Raw))
		return x.batchJunk(j)
	}
	if err := x.endJunk(); err != nil {
		return err
	}
	switch rec := rec.(type) {
	case *ncpdp.BatchStart:
		return x.startBatch(rec)
	case *ncpdp.BatchDetail:
		x.b.end = rec.Offset + int64(len(rec.Raw))
		x.refuse(rec.Faults)
		if len(x.d.messages) == 0 {
			x.b.start = rec.Offset
		}
		x.f.result.Transmissions++
		wrap := x.held(rec.Raw)
		end := len(wrap) - 1
		x.d.add(wrap[end-len(rec.Message.Raw()):end], wrap)
		if x.d.full() {
			return x.chunk()
		}
	case *ncpdp.BatchEnd:
		x.b.end, x.b.ended = rec.Offset+int64(len(rec.Raw)), len(rec.Raw) > 0
		x.refuse(rec.Faults)
	case *ncpdp.BatchJunk: // handled above
	}
	return nil
}

// refuse notes the first fault of the batch.
func (x *rxFile) refuse(faults []ncpdp.Fault) {
	if f, bad := ncpdp.Worst(faults); bad && x.b.bad.IsZero() {
		x.b.bad = claimdlq.NewDetail(batchPrefix + strings.ToUpper(string(f.Code)))
	}
}

func (x *rxFile) batchJunk(j *ncpdp.BatchJunk) error {
	if j.Harmless && x.junk == nil {
		return nil
	}
	x.refuse(j.Faults)
	if x.junk == nil {
		if err := x.chunk(); err != nil { // what came before it is durable first
			return err
		}
		x.addJunk(x.b.base+j.Offset, ncpdp.CodeBatchFraming)
	}
	return x.junk.add(x.f, j.Raw)
}

// startBatch reads the header.
func (x *rxFile) startBatch(s *ncpdp.BatchStart) error {
	h := s.Header
	x.b.end = s.Offset + int64(len(s.Raw))
	switch answers := h.Type == 'R' || h.Type == 'E'; {
	case answers && x.f.result.Batches == 0:
		return responseGiven()
	case answers: // behind claims that were taken: kept, and a person must look
		x.b.bad = detailAnswer
	}
	x.f.result.Batches++
	x.refuse(s.Faults)
	x.b.header = bytes.Clone(s.Raw)
	x.d.number = tidy(h.Number, 7)
	if h.FileType == 'P' || h.FileType == 'T' {
		x.d.usage = string(h.FileType)
	}
	leave, err := x.f.lanes.enter(x.f.ctx, claimdlq.DisplayRef("ncpdp-batch/"+h.Sender+"/"+h.Number))
	if err == nil {
		x.b.leave = leave
	}
	return err
}

// chunk makes the details on the desk durable, unless an earlier delivery of the
// file has.
func (x *rxFile) chunk() error {
	if len(x.d.messages) == 0 {
		return nil
	}
	prints := x.prints()
	known, err := x.recognise(prints)
	if err != nil {
		return err
	}
	if known {
		x.d.clear()
		x.arena = x.arena[:0]
		return nil
	}
	x.d.print = &prints[0]
	if err := x.d.flush(); err != nil {
		return err
	}
	x.count()
	c := rxChunk{key: prints[0].own, revived: x.d.revived}
	if n := len(x.d.done); n > 0 {
		c.first, c.last = x.d.done[0].ID, x.d.done[n-1].ID
	}
	for i := range x.d.items {
		if it := &x.d.items[i]; it.status == TakenIn {
			c.taken += int64(it.claims)
		}
	}
	for i := range x.d.messages {
		m := &x.d.messages[i]
		items := x.d.items[m.first : m.first+m.n]
		if m.n > 1 && !x.d.together(m, items) {
			for n := range items {
				if items[n].insert >= 0 {
					c.apart = append(c.apart, x.d.done[items[n].insert].Payload.Offset)
					break
				}
			}
		}
	}
	x.b.chunks = append(x.b.chunks, c)
	x.d.clear()
	x.arena = x.arena[:0]
	return nil
}

// prints returns what recognises the chunk on the desk under each term.
func (x *rxFile) prints() []print {
	var at [8]byte
	binary.LittleEndian.PutUint64(at[:], uint64(x.b.start))
	out := make([]print, len(x.d.ids))
	for i, id := range x.d.ids {
		w := x.d.sums[i]
		w.Reset()
		_, _ = w.Write(x.b.header)
		for n := range x.d.messages {
			_, _ = w.Write(x.d.messages[n].wrap)
		}
		sum := w.Sum()
		out[i] = print{
			own: id.Key("ncpdp/chunk", sum[:], at[:]), other: id.Key("ncpdp/chunk known", sum[:], at[:]),
			back: id.Key("ncpdp/chunk back", sum[:], at[:]),
		}
	}
	return out
}

// recognise looks the chunk up. One that an earlier delivery of the file took in, and
// released, is a redelivery. One that it took in and did not release has its second
// chance at the end of the file.
func (x *rxFile) recognise(prints []print) (bool, error) {
	const each = 4
	var keys []claimdlq.Key
	for i, p := range prints {
		keys = append(keys, p.own, p.other, p.back, released(x.d.ids[i], p.own))
	}
	seen, err := x.f.o.Store.Seen(x.f.ctx, keys)
	if err != nil {
		return false, err
	}
	for i, p := range prints {
		own, other, back, done := seen[each*i], seen[each*i+1], seen[each*i+2], seen[each*i+3]
		if err := x.mend(own); err != nil {
			return false, err
		}
		if err := x.repeat(own); err != nil {
			return false, err
		}
		switch {
		case done == 0 && (own != 0 || back != 0):
			c := rxChunk{key: p.own, first: own, again: true}
			if back != 0 {
				if c.revived, err = x.revivedBefore(); err != nil {
					return false, err
				}
			}
			x.b.chunks = append(x.b.chunks, c)
			x.known() // less what goes out this time
			return true, nil
		case own != 0 || other != 0:
			x.known()
			r, err := x.f.o.Store.Get(x.f.ctx, max(own, other))
			if err != nil {
				return false, err
			}
			return true, x.f.note(r)
		}
	}
	return false, nil
}

// known counts the claims on the desk as duplicates.
func (x *rxFile) known() {
	for i := range x.d.items {
		x.f.result.Claims += int64(x.d.items[i].claims)
		x.f.result.Duplicates += int64(x.d.items[i].claims)
	}
}

// revivedBefore returns the records that an earlier delivery of the chunk on the desk has
// revived, and those that it would revive now: its end never came.
func (x *rxFile) revivedBefore() (ids []claimdlq.ID, err error) {
	d := x.d
	d.now = x.f.now()
	for i := range d.items {
		it := &d.items[i]
		if !it.known || it.ref == 0 || it.bad || d.dead != nil {
			continue
		}
		if ids, err = d.revivedBefore(it, ids); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// revivedBefore adds those that one claim repeats.
func (d *desk) revivedBefore(it *item, ids []claimdlq.ID) ([]claimdlq.ID, error) {
	mates, batch, err := lineage.Mates(d.ctx, d.o.Store, d.ids, &it.claim, it.ref)
	if err != nil {
		return ids, err
	}
	for _, m := range mates { // whatever came of the fill since
		if interrupted(m) && d.digest(it, m.KeyTerm) == m.Digest {
			ids = append(ids, m.ID)
		}
	}
	p, err := d.rx(it).Place(d.ctx, d.ids, mates, batch)
	if p.Standing == lineage.Duplicate && heldBack(p.Earlier) && !p.Blocked {
		ids = append(ids, p.Earlier.ID)
	}
	return ids, err
}

// repeat names the records of a chunk of a dead letter, the first of which is given,
// that an earlier delivery took in.
func (x *rxFile) repeat(first claimdlq.ID) error {
	if first == 0 || x.d.dead == nil || len(x.f.result.Held) >= maxHeldRecords {
		return nil
	}
	return x.earlierRun(first, func(r claimdlq.Record) error {
		x.f.result.repeat(&r)
		return nil
	})
}

// released is registered when the records of a chunk have gone into submissions.
func released(id *claimdlq.Identity, chunk claimdlq.Key) claimdlq.Key {
	return id.Key("ncpdp/released", chunk[:])
}

// mend finishes the records of a chunk of a dead letter, the first of which is given,
// that a crash left in doubt without their submissions.
func (x *rxFile) mend(first claimdlq.ID) error {
	if first == 0 || x.d.dead == nil {
		return nil
	}
	var left []claimdlq.Record
	err := x.earlierRun(first, func(r claimdlq.Record) error {
		is, err := unfinished(x.f.ctx, x.f.o.Store, r, x.d.dead.Detail)
		if is {
			left = append(left, r)
		}
		return err
	})
	if err != nil {
		return err
	}
	return mend(x.f.ctx, x.f.o.Store, left, x.f.now())
}
