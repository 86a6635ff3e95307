package filestore

import (
	"os"
	"path/filepath"
	"sync"

	"claimdlq"
)

// room keeps chunk files filled with zeros ahead of the writer, so that a flush
// rarely has to grow a file, and so that a full disk is noticed before a frame is
// begun. mu guards the growing of files; the writer takes it only when it has run
// out of room.
type room struct {
	fs      FS
	dir     string
	segment int64 // size of a chunk
	step    int64 // how far to fill ahead
	reserve int64 // what is left for records that exist when the disk is full
	fatal   func(error)

	mu     sync.Mutex
	active *chunk // the chunk written to
	spare  File   // the next one, or nil
	ready  int64  // zeros in it
	kick   chan struct{}
}

// grow fills c with zeros up to size. On failure the file is as it was.
func (r *room) grow(c *chunk, size int64) error {
	if err := r.extend(c.f, c.size.Load(), size); err != nil {
		return err
	}
	c.size.Store(size)
	return nil
}

func (r *room) extend(f File, from, to int64) error {
	if err := fill(f, from, to); err != nil {
		if terr := f.Truncate(from); terr != nil {
			r.fatal(terr)
		}
		return err
	}
	if err := f.Sync(); err != nil {
		r.fatal(err)
		return err
	}
	return nil
}

// prepare makes the spare file, with at least size bytes of zeros.
func (r *room) prepare(size int64) error {
	if r.spare == nil {
		f, err := r.fs.OpenFile(filepath.Join(r.dir, spareName), os.O_CREATE|os.O_TRUNC|os.O_RDWR, filePerm)
		if err != nil {
			return err
		}
		r.spare, r.ready = f, 0
	}
	if r.ready >= size {
		return nil
	}
	if err := r.extend(r.spare, r.ready, size); err != nil {
		return err
	}
	r.ready = size
	return nil
}

// take turns the spare into the chunk with the given number.
func (r *room) take(num uint64, size int64) (File, int64, error) {
	if err := r.prepare(size); err != nil {
		return nil, 0, err
	}
	if err := r.fs.Rename(filepath.Join(r.dir, spareName), chunkName(r.dir, num)); err != nil {
		return nil, 0, err
	}
	if err := r.fs.SyncDir(r.dir); err != nil {
		r.fatal(err)
		return nil, 0, err
	}
	f, ready := r.spare, r.ready
	r.spare, r.ready = nil, 0
	return f, ready, nil
}

// ahead keeps room ahead of the writer until stop is closed.
func (r *room) ahead(stop <-chan struct{}) {
	skip := 0
	for {
		select {
		case <-stop:
			return
		case <-r.kick:
		}
		if skip > 0 {
			skip--
			continue
		}
		var err error
		r.mu.Lock()
		size, used, step := r.active.size.Load(), r.active.used.Load(), r.stride(r.active)
		switch {
		case size < r.segment && size-used < step/2:
			err = r.grow(r.active, min(size+step, r.segment))
		case size >= r.segment && size-used < 2*r.step:
			err = r.prepare(r.step)
		}
		r.mu.Unlock()
		if err != nil { // the writer will meet it when it needs the room; a full disk stays full for a while
			skip = 100
		}
	}
}

// atLeast grows c to size, if it is smaller.
func (r *room) atLeast(c *chunk, size int64) error {
	if c.size.Load() >= size {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.size.Load() >= size { // ahead was faster
		return nil
	}
	return r.grow(c, max(size, min(c.size.Load()+r.stride(c), r.segment)))
}

// stride is how far c grows at a time: as much as it has, so that a small store
// stays small.
func (r *room) stride(c *chunk) int64 { return min(r.step, max(c.size.Load(), 256<<10)) }

// wakeIfShort asks ahead to look, if c may need more room soon.
func (r *room) wakeIfShort(c *chunk) {
	if c.size.Load()-c.used.Load() >= 2*r.step {
		return
	}
	select {
	case r.kick <- struct{}{}:
	default:
	}
}

func (r *room) close() error {
	if r.spare == nil {
		return nil
	}
	err := r.spare.Close()
	r.spare = nil
	if rerr := r.fs.Remove(filepath.Join(r.dir, spareName)); err == nil {
		err = rerr
	}
	return err
}

// budget is how much a group may write.
type budget struct {
	room    int64
	reserve int64
	short   bool // the disk is full: what room there is, is all there is
}

// ensure finds room in the journal for n bytes, and for the reserve behind them.
// It starts the next chunk when this one is full.
func (w *writer) ensure(n int64) budget {
	r, c := w.s.room, w.chunk
	want := n + r.reserve
	if !c.started {
		want += w.baseBytes()
	} else if c.used.Load()+want > r.segment {
		want += w.baseBytes()
		w.roll(want)
		c = w.chunk
	}
	err := r.atLeast(c, c.used.Load()+want)
	return budget{room: c.size.Load() - c.used.Load(), reserve: r.reserve, short: err != nil}
}

// roll makes the spare file the chunk to write to. On failure it stays with the
// one it has.
func (w *writer) roll(size int64) {
	r, old := w.s.room, w.chunk
	r.mu.Lock()
	defer r.mu.Unlock()
	f, ready, err := r.take(old.num+1, max(size, min(r.step, r.segment)))
	if err != nil {
		return
	}
	// What is behind the last frame is zeros, so it does not matter whether this
	// survives a crash, or fails.
	if old.f.Truncate(old.used.Load()) == nil {
		old.size.Store(old.used.Load())
	}
	w.chunk = &chunk{num: old.num + 1, base: old.base + old.used.Load(), f: f}
	w.chunk.size.Store(ready)
	r.active = w.chunk
}

// check refuses what does not fit. Where the disk is full, the last room is for
// steps of records that exist: an outcome must find its place, a new claim can wait.
func (b budget) check(n int, insert bool) error {
	if !b.short {
		return nil
	}
	need := int64(n)
	if insert {
		need += b.reserve
	}
	if need <= b.room {
		return nil
	}
	return &claimdlq.Error{
		Code: claimdlq.Unavailable, Op: "write journal", On: "disk full", Hint: "free some space; nothing was written, reading goes on",
	}
}

// size is how many bytes the request will take in the journal, or a little more.
func (r *request) size() int {
	switch {
	case r.plan != nil:
		return padded(len(r.enc.frame)) + 64
	case r.n > 0:
		return frameHeader + itemHeader + len(r.lane) + 64
	case r.audited > 0:
		return frameHeader + itemHeader + 64
	case r.move != nil:
		return r.move.size()
	case r.evict != nil:
		return r.evict.size()
	case r.evictSubs != nil:
		return r.evictSubs.size()
	}
	return 0
}
