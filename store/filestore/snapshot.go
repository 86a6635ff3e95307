package filestore

import (
	"context"
	"errors"
	"hash/crc32"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"unsafe"
)

// A snapshot is the index in a file, so that opening a store does not read the
// whole journal. It is never needed: without one, or with a damaged one, the
// journal is replayed from its beginning. It is taken while the store works: each
// part is copied under a lock of its own, so parts are of different moments. That
// is good enough, because opening replays the journal from where the snapshot was
// begun, and a record that is newer than a frame is left as it is.
//
// The file is sections: kind (4), length of the content (8), CRC-32C of kind,
// length and content (4), content. Bulk is in the byte order of the machine, which
// the first section tells.
const (
	snapshotName   = "snapshot"
	snapshotTemp   = "snapshot.new"
	snapshotFormat = 2 // another one is not read: the journal is replayed
	sectionHeader  = 16

	sectionMeta     = 1
	sectionRows     = 2
	sectionKeys     = 3
	sectionRefs     = 4
	sectionSubs     = 5
	sectionSubRefs  = 6
	sectionPrints   = 7
	sectionCauses   = 8
	sectionChunks   = 9
	sectionEnd      = 10
	sectionQueues   = 11
	sectionSteps    = 12 // only where records need one
	byteOrderMark   = 0x01020304
	snapshotSyncing = 16 << 20 // flush as it goes, so that no flush of the journal waits for all of it
)

// snapshotMeta is where the journal stood when the snapshot was begun.
type snapshotMeta struct {
	state
	num    uint64 // of the chunk that holds end
	lanes  map[string]uint32
	chunks []chunkInfo
	steps  []int64 // where releases are that records need
}

// chunkInfo is what a snapshot remembers of a chunk.
type chunkInfo struct {
	num     uint64
	base    int64
	lastSeq uint64
	items   int64
	prints  bool
	marks   []mark
}

// Snapshot writes a snapshot now. The store keeps working meanwhile; a commit
// waits at most for the copying of one part, a fraction of a millisecond.
func (s *Store) Snapshot(ctx context.Context) error {
	s.maintenance.Lock()
	defer s.maintenance.Unlock()
	return s.snapshot(ctx)
}

func (s *Store) snapshot(ctx context.Context) error {
	var meta snapshotMeta
	r := newRequest()
	r.look = func(w *writer) { meta = w.snapshotMeta() }
	err := s.do(ctx, r)
	r.release()
	if err != nil {
		return err
	}
	done, bytes := s.changes.Load(), s.journal.Load()
	if err := s.writeSnapshot(ctx, meta); err != nil {
		return err
	}
	s.changes.Add(-done)
	s.journal.Add(-bytes)
	s.index.mu.Lock()
	s.snapshotFrom = meta.end
	s.index.mu.Unlock()
	return nil
}

// snapshotMeta is called between two groups.
func (w *writer) snapshotMeta() snapshotMeta {
	m := snapshotMeta{state: w.state, num: w.chunk.num, lanes: maps.Clone(w.lanes), steps: w.s.index.stepLocs()}
	for _, c := range w.s.index.chunks {
		m.chunks = append(m.chunks, chunkInfo{c.num, c.base, c.lastSeq, c.items, c.prints, slices.Clone(c.marks)})
	}
	return m
}

// sections writes a snapshot file.
type sections struct {
	f      File
	off    int64 // of buf in the file
	synced int64
	n      uint64
	buf    []byte // sections not written yet
	fatal  func(error)
}

// sectionBuffer is how much is written at a time.
const sectionBuffer = 1 << 20

// section adds a section whose content fill appends.
func (w *sections) section(kind uint32, fill func(b []byte) []byte) error {
	at := len(w.buf)
	b := put64(put32(w.buf, kind), 0)
	w.buf = fill(put32(b, 0))
	putHeader(w.buf[at:])
	w.n++
	if len(w.buf) < sectionBuffer {
		return nil
	}
	if err := w.flush(); err != nil {
		return err
	}
	if w.off-w.synced < snapshotSyncing {
		return nil
	}
	w.synced = w.off
	return w.sync()
}

func (w *sections) sync() error {
	if err := w.f.Sync(); err != nil {
		w.fatal(err)
		return unavailable("write snapshot", err)
	}
	return nil
}

func (w *sections) flush() error {
	if _, err := w.f.WriteAt(w.buf, w.off); err != nil {
		return unavailable("write snapshot", err)
	}
	w.off += int64(len(w.buf))
	w.buf = w.buf[:0]
	return nil
}

func putHeader(b []byte) {
	le := func(v uint64, at, n int) {
		for i := range n {
			b[at+i] = byte(v >> (8 * i))
		}
	}
	le(uint64(len(b)-sectionHeader), 4, 8)
	le(uint64(sectionSum(b)), 12, 4)
}

func sectionSum(b []byte) uint32 {
	return crc32.Update(crc32.Checksum(b[:12], castagnoli), castagnoli, b[sectionHeader:])
}

func (s *Store) writeSnapshot(ctx context.Context, m snapshotMeta) (err error) {
	temp := filepath.Join(s.dir, snapshotTemp)
	f, err := s.o.FS.OpenFile(temp, os.O_CREATE|os.O_TRUNC|os.O_RDWR, filePerm)
	if err != nil {
		return unavailable("write snapshot", err)
	}
	w := &sections{f: f, fatal: s.fatal}
	err = s.writeSections(ctx, w, m)
	if err == nil {
		err = w.flush()
	}
	if err == nil {
		err = w.sync()
	}
	if cerr := f.Close(); err == nil && cerr != nil {
		err = unavailable("write snapshot", cerr)
	}
	if err != nil {
		_ = s.o.FS.Remove(temp) // what stays is removed by the next Open
		return err
	}
	if err := s.o.FS.Rename(temp, filepath.Join(s.dir, snapshotName)); err != nil {
		return unavailable("write snapshot", err)
	}
	if err := s.o.FS.SyncDir(s.dir); err != nil {
		s.fatal(err)
		return unavailable("write snapshot", err)
	}
	return nil
}

func (s *Store) writeSections(ctx context.Context, w *sections, m snapshotMeta) error {
	x := s.index
	if err := w.section(sectionMeta, func(b []byte) []byte { return appendMeta(b, &m) }); err != nil {
		return err
	}
	parts := []func() (more bool, err error){
		x.rowSections(w),
		x.tableSections(w, sectionKeys, &x.keys), x.tableSections(w, sectionRefs, &x.refs),
		x.subSections(w), x.tableSections(w, sectionSubRefs, &x.subs.refs), x.printSections(w),
	}
	for _, part := range parts {
		for {
			if err := ctx.Err(); err != nil {
				return unavailable("write snapshot", err)
			}
			more, err := part()
			if err != nil {
				return err
			}
			if !more {
				break
			}
		}
	}
	// The causes and queues come after all rows, so that those a row has are among them.
	err := w.section(sectionCauses, func(b []byte) []byte {
		x.mu.RLock()
		defer x.mu.RUnlock()
		return x.causes.append(b)
	})
	if err != nil {
		return err
	}
	err = w.section(sectionQueues, func(b []byte) []byte {
		x.mu.RLock()
		defer x.mu.RUnlock()
		return x.subs.queues.append(b)
	})
	if err != nil {
		return err
	}
	if err := w.section(sectionChunks, func(b []byte) []byte { return appendChunks(b, m.chunks) }); err != nil {
		return err
	}
	if len(m.steps) > 0 {
		if err := w.section(sectionSteps, func(b []byte) []byte { return appendSteps(b, m.steps) }); err != nil {
			return err
		}
	}
	return w.section(sectionEnd, func(b []byte) []byte {
		x.mu.RLock()
		defer x.mu.RUnlock()
		last := x.lastChunk()
		end := m.end
		if last != nil {
			end = max(end, last.base+last.end)
		}
		return putInt(putUint(b, w.n), end)
	})
}

// rowSections writes one block at each call.
func (x *index) rowSections(w *sections) func() (bool, error) {
	n := 0
	return func() (bool, error) {
		x.mu.RLock()
		if n >= len(x.blocks) {
			x.mu.RUnlock()
			return false, nil
		}
		b := x.blocks[n]
		if b == nil {
			x.mu.RUnlock()
			n++
			return true, nil
		}
		locked := true
		err := w.section(sectionRows, func(buf []byte) []byte {
			buf = b.append(put32(buf, uint32(n)))
			x.mu.RUnlock()
			locked = false
			return buf
		})
		if locked {
			x.mu.RUnlock()
		}
		n++
		return true, err
	}
}

// tableSections writes one shard at each call.
func (x *index) tableSections(w *sections, kind uint32, t *hashtab) func() (bool, error) {
	n := 0
	return func() (bool, error) {
		x.mu.RLock()
		for n < hashShards && t.shards[n].n == 0 {
			n++
		}
		x.mu.RUnlock()
		if n == hashShards {
			return false, nil
		}
		err := w.section(kind, func(b []byte) []byte {
			x.mu.RLock()
			defer x.mu.RUnlock()
			s := &t.shards[n]
			b = put32(put32(put32(b, uint32(n)), uint32(len(s.slots))), uint32(len(s.lists)))
			b = append(b, bytesOf(s.slots)...)
			for _, l := range s.lists {
				b = append(put32(b, uint32(len(l))), bytesOf(l)...)
			}
			return b
		})
		n++
		return true, err
	}
}

// subSections writes one block of submissions at each call.
func (x *index) subSections(w *sections) func() (bool, error) {
	n := 0
	return func() (bool, error) {
		x.mu.RLock()
		defer x.mu.RUnlock()
		if n >= len(x.subs.blocks) {
			return false, nil
		}
		b := x.subs.blocks[n]
		if b == nil {
			n++
			return true, nil
		}
		err := w.section(sectionSubs, func(buf []byte) []byte { return append(put32(buf, uint32(n)), b.raw()...) })
		n++
		return true, err
	}
}

// raw is the block's memory.
func (b *subBlock) raw() []byte { return unsafe.Slice((*byte)(unsafe.Pointer(b)), unsafe.Sizeof(*b)) }

// printSections writes one shard of fingerprints at each call.
func (x *index) printSections(w *sections) func() (bool, error) {
	n := 0
	return func() (bool, error) {
		x.mu.RLock()
		for n < fpShards && x.seen.shards[n].n == 0 && (x.seen.old == nil || x.seen.old.shards[n].n == 0) {
			n++
		}
		x.mu.RUnlock()
		if n == fpShards {
			return false, nil
		}
		err := w.section(sectionPrints, func(b []byte) []byte {
			x.mu.RLock()
			defer x.mu.RUnlock()
			b = put32(b, uint32(n))
			if x.seen.old != nil {
				b = x.seen.old.shards[n].append(b)
			}
			return x.seen.shards[n].append(b)
		})
		n++
		return true, err
	}
}

func appendMeta(b []byte, m *snapshotMeta) []byte {
	var mark [4]byte
	*(*uint32)(unsafe.Pointer(&mark)) = byteOrderMark
	b = append(append(b, mark[:]...), snapshotFormat)
	b = putUint(putInt(b, m.end), m.num)
	b = putUint(b, m.group)
	b = append(b, m.last[:]...)
	b = putUint(b, m.totals.lastSeq)
	b = appendBase(b, &m.state)
	b = putUint(b, uint64(len(m.lanes)))
	for _, lane := range slices.Sorted(maps.Keys(m.lanes)) {
		b = appendLane(b, lane, m.lanes[lane])
	}
	return b
}

func appendChunks(b []byte, chunks []chunkInfo) []byte {
	b = putUint(b, uint64(len(chunks)))
	for _, c := range chunks {
		b = putUint(putInt(putUint(b, c.num), c.base), c.lastSeq)
		b = putUint(putBool(putInt(b, c.items), c.prints), uint64(len(c.marks)))
		for _, m := range c.marks {
			b = putInt(putUint(b, m.seq), m.off)
		}
	}
	return b
}

// appendSteps writes where releases are. Which records need one follows from the rows:
// those that have the revision after it, and the place of one before it.
func appendSteps(b []byte, locs []int64) []byte {
	b = putUint(b, uint64(len(locs)))
	for _, loc := range locs {
		b = putInt(b, loc)
	}
	return b
}

func (c *causes) append(b []byte) []byte {
	b = putUint(b, uint64(len(c.list)))
	for _, k := range c.list {
		b = putBool(append(b, byte(k.state), byte(k.reason), byte(k.format)), k.rejected)
		b = putString(putString(putString(b, k.detail.String()), k.partner), k.stream)
	}
	return b
}

var errSnapshot = errors.New("snapshot cannot be used")
