package filevault

import (
	"errors"
	"io/fs"
	"slices"
	"sync"

	"claimdlq"
)

const (
	// batchBytes is the capacity of a shared buffer: small enough to be in the
	// processor's cache when it is written. A larger unit gets a buffer of its size.
	batchBytes = 256 << 10
	batchSlots = 512
	// maxPending bounds the buffers that wait for a disk that takes nothing.
	maxPending = 16
)

// batch is a run of units that are written together: their ciphertext to one run
// of bytes, their slots to one run of slots. Space in it is reserved under the
// vault's lock and filled outside of it.
type batch struct {
	chunk    *file
	offset   int64
	slots    *file
	first    uint64 // slot number
	maxSlots int
	buffers

	filling sync.WaitGroup // reserved and not filled yet
	mu      sync.Mutex     // one writer at a time
	written bool
}

// buffers are what a batch gives back once it is written. The batch itself is not
// used again: somebody may still hold it as one of those to be written.
type buffers struct{ data, slotData []byte }

// room is what a unit got in a batch.
type room struct {
	batch      *batch
	data, slot []byte
	// cut is a batch that had to end for it; whoever cut it writes it.
	cut *batch
}

// reserve takes n bytes and a slot for the unit in the current batch, and counts
// the caller as filling it. It sets the unit's name and place.
func (v *Vault) reserve(u *unit, n int64) (room, error) {
	for {
		r, crowd, err := v.tryReserve(u, n)
		if err != nil {
			return room{}, err
		}
		if crowd == nil {
			u.setName(v.names)
			return r, nil
		}
		if err := v.write(crowd); err != nil {
			return room{}, err
		}
	}
}

// tryReserve returns the batches that must be written first, if there are too many.
func (v *Vault) tryReserve(u *unit, n int64) (r room, crowd []*batch, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.usable(); err != nil {
		return room{}, nil, err
	}
	b := v.batch
	if b != nil && (len(b.data)+int(n) > cap(b.data) || len(b.slotData) == b.maxSlots*slotSize) {
		r.cut = v.cut()
		b = nil
	}
	if b == nil {
		if len(v.pending) >= maxPending {
			return room{}, append(crowd, v.pending...), nil
		}
		if b, err = v.begin(n); err != nil {
			return room{}, nil, err
		}
	}
	i, k := len(b.data), len(b.slotData)
	b.data, b.slotData = b.data[:i+int(n)], b.slotData[:k+slotSize]
	b.filling.Add(1)
	u.slot = b.first + uint64(k/slotSize)
	u.file, u.offset = b.chunk.no, b.offset+int64(i)
	b.chunk.size += n
	b.slots.size += slotSize
	r.batch, r.data, r.slot = b, b.data[i:i:i+int(n)], b.slotData[k:]
	return r, nil, nil
}

// begin starts a batch that can take n bytes. The caller holds mu.
func (v *Vault) begin(n int64) (*batch, error) {
	if err := v.place(n); err != nil {
		return nil, err
	}
	index := v.slots.size / slotSize
	b := &batch{
		chunk: v.chunk, offset: v.chunk.size,
		slots: v.slots, first: uint64(v.slots.no)*slotsPerFile + uint64(index),
		maxSlots: int(min(batchSlots, slotsPerFile-index)),
	}
	if k := len(v.free); k > 0 && n <= batchBytes {
		b.buffers, v.free = v.free[k-1], v.free[:k-1]
	} else {
		b.buffers = buffers{make([]byte, 0, max(n, batchBytes)), make([]byte, 0, batchSlots*slotSize)}
	}
	b.chunk.users++
	b.slots.users++
	v.batch = b
	return b, nil
}

// place makes sure that there are files that can take n bytes and a slot. The
// caller holds mu and has cut the batch. Creating a file under the lock is rare:
// once per ChunkBytes and once per 65,535 units.
func (v *Vault) place(n int64) error {
	if v.chunk != nil && v.chunk.size > headerSize && v.chunk.size+n > v.o.ChunkBytes {
		v.retire(v.chunk)
		v.chunk = nil
	}
	if v.chunk == nil {
		f, err := v.create(v.dir, v.lastNo+1, chunkExt)
		if err != nil {
			return err
		}
		v.chunk, v.newFile = f, true
		v.lastNo++
	}
	if v.slots != nil && v.slots.size/slotSize >= slotsPerFile {
		v.retire(v.slots)
		v.slots = nil
	}
	if v.slots == nil {
		f, err := v.create(v.keysDir, v.slotNo+1, slotExt)
		if err != nil {
			return err
		}
		v.slots, v.newFile = f, true
		v.slotNo++
	}
	return nil
}

// retire ends a file's growth; a flush after its last write closes it. The
// caller holds mu.
func (v *Vault) retire(f *file) { v.retired = append(v.retired, f) }

// cut ends the current batch and returns it. The caller holds mu.
func (v *Vault) cut() *batch {
	b := v.batch
	if b != nil {
		v.pending = append(v.pending, b)
		v.batch = nil
	}
	return b
}

// holds reports whether the slot is in a batch that is not written yet. Errors:
// Unavailable (closed).
func (v *Vault) holds(slot uint64) (bool, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.usable(); err != nil {
		return false, err
	}
	in := func(b *batch) bool {
		return slot >= b.first && slot < b.first+uint64(len(b.slotData)/slotSize)
	}
	return v.batch != nil && in(v.batch) || slices.ContainsFunc(v.pending, in), nil
}

// write writes the batches to their files, without fsync. One that fails stays
// pending, to be written whole by the next try.
func (v *Vault) write(batches []*batch) error {
	for _, b := range batches {
		if err := v.writeOne(b); err != nil {
			return err
		}
	}
	return nil
}

func (v *Vault) writeOne(b *batch) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.written {
		return nil
	}
	b.filling.Wait()
	off := int64(b.first%slotsPerFile) * slotSize
	v.grow(b.chunk, b.offset+int64(len(b.data)), maxAhead)
	v.grow(b.slots, off+int64(len(b.slotData)), minAhead)
	if err := v.disk.writeAt(b.chunk.File, b.data, b.offset); err != nil {
		return full(err)
	}
	if err := v.disk.writeAt(b.slots.File, b.slotData, off); err != nil {
		return full(err)
	}
	b.written = true
	v.mu.Lock()
	defer v.mu.Unlock()
	b.chunk.dirty, b.slots.dirty = true, true
	b.chunk.users--
	b.slots.users--
	v.pending = slices.DeleteFunc(v.pending, func(p *batch) bool { return p == b })
	if len(v.free) < maxPending && cap(b.data) == batchBytes {
		v.free = append(v.free, buffers{b.data[:0], b.slotData[:0]})
	}
	b.buffers = buffers{}
	return nil
}

// full says what to do about a write that failed.
func full(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	return &claimdlq.Error{
		Code: claimdlq.Unavailable, Op: "write payload", Err: err,
		Hint: "make room on the disk; what was staged is kept and the next try writes it",
	}
}
