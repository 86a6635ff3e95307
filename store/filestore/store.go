package filestore

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"sync"
	"sync/atomic"

	"claimdlq"
	"claimdlq/store"
)

// Store implements store.Store on a directory.
type Store struct {
	o   Options
	dir string

	index *index
	room  *room
	queue queue

	records     cache[claimdlq.Record]
	submissions cache[claimdlq.Submission]

	broken  atomic.Bool   // a flush failed
	epoch   atomic.Uint64 // raised by evictions
	changes atomic.Int64  // of records and submissions since the last snapshot
	journal atomic.Int64  // bytes since the last snapshot
	live    atomic.Int64  // records in memory
	excess  atomic.Int64  // settled ones of them, or finished submissions, beyond what is kept
	prints  atomic.Int64  // fingerprints in memory
	due     chan struct{} // wakes maintain

	runs atomic.Pointer[runs] // nil until something has left memory

	doomed       []uint64   // chunks that nothing needs, whose files could not be removed. Guarded by maintenance
	printsEnd    int64      // where the journal ended when fingerprints last began to leave
	printsTo     int64      // fingerprints of frames before it are in runs. Both guarded by maintenance
	maintenance  sync.Mutex // held by what works on the whole: snapshots, eviction, compaction
	snapshotFrom int64      // where the snapshot on disk was begun; 0: there is none. Guarded by index.mu

	closing sync.Mutex // guards closed
	closed  bool
	gone    atomic.Bool        // the index is no more
	cancel  context.CancelFunc // of maintenance
	stop    chan struct{}
	workers sync.WaitGroup // the writer
	helpers sync.WaitGroup // what works ahead or behind it
	release func()         // of the directory
}

var _ store.Store = (*Store)(nil)

// Open opens the store in dir, and creates it if there is none. One process at a
// time may have it open: the caller holds a lock on it; a second Open in the same
// process is refused. Errors: Invalid (options), Unavailable (in use, or the disk
// fails), Corrupt (with chunk and offset; nothing was changed).
func Open(dir string, o Options) (*Store, error) {
	if err := o.Validate(); err != nil {
		return nil, &claimdlq.Error{Code: claimdlq.Invalid, Op: "open store", Err: err}
	}
	o.setDefaults()
	release, err := claim(dir, o.FS)
	if err != nil {
		return nil, err
	}
	s := &Store{
		o: o, dir: dir, index: newIndex(), queue: queue{wake: make(chan struct{}, 1)},
		records: newCache[claimdlq.Record](), submissions: newCache[claimdlq.Submission](),
		stop: make(chan struct{}), due: make(chan struct{}, 1), release: release,
	}
	s.room = &room{
		fs: o.FS, dir: dir, segment: o.SegmentBytes, step: min(o.PreallocBytes, o.SegmentBytes),
		reserve: min(1<<20, o.SegmentBytes/8), fatal: s.fatal, kick: make(chan struct{}, 1),
	}
	w := newWriter(s)
	err = s.recover(w)
	if err == nil {
		err = s.findRuns()
	}
	if err != nil {
		_ = s.closeFiles(s.index.chunks)
		s.index.free()
		release()
		return nil, err
	}
	s.workers.Go(w.run)
	s.helpers.Go(func() { s.room.ahead(s.stop) })
	if !o.Manual {
		ctx, cancel := context.WithCancel(context.Background())
		s.cancel = cancel
		s.helpers.Go(func() { s.maintain(ctx) })
	}
	return s, nil
}

// fatal stops the process: see Options.Fatal.
func (s *Store) fatal(err error) {
	s.broken.Store(true)
	s.o.Fatal(err)
}

// Close implements store.Store: it waits for what was begun.
func (s *Store) Close() error {
	s.closing.Lock()
	defer s.closing.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	close(s.stop)
	if s.cancel != nil {
		s.cancel()
	}
	s.helpers.Wait()
	err := s.snapshotAtClose()
	s.queue.close()
	s.workers.Wait()
	// Readers find nothing before they find closed files, and then look at gone.
	s.index.mu.Lock()
	s.gone.Store(true)
	s.index.free()
	chunks := s.index.chunks
	s.index.chunks = nil
	s.index.mu.Unlock()
	if cerr := s.closeFiles(chunks); err == nil {
		err = cerr
	}
	s.release()
	return err
}

// answer returns err, unless the store was closed meanwhile: a closed store knows
// nothing, and must not say that something is not there.
func (s *Store) answer(err error) error {
	if s.gone.Load() {
		return failure(claimdlq.Unavailable, "read store", "it is closed")
	}
	return err
}

func (s *Store) closeFiles(chunks []*chunk) error {
	errs := []error{s.room.close()}
	if n := len(chunks); s.room.active != nil && (n == 0 || chunks[n-1] != s.room.active) {
		chunks = append(chunks, s.room.active) // not written to yet
	}
	for _, c := range chunks {
		errs = append(errs, c.f.Close())
	}
	if r := s.runs.Load(); r != nil {
		errs = append(errs, r.close())
	}
	if err := errors.Join(errs...); err != nil {
		return &claimdlq.Error{Code: claimdlq.Unavailable, Op: "close store", Err: err}
	}
	return nil
}

// place of every open store in this process.
var open struct {
	sync.Mutex
	dirs map[openDir]bool
}

type openDir struct {
	fs  FS
	dir string
}

// claim makes sure that nobody else in this process has the directory open.
func claim(dir string, fs FS) (release func(), err error) {
	if !reflect.TypeOf(fs).Comparable() {
		return func() {}, nil
	}
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	key := openDir{fs, dir}
	open.Lock()
	defer open.Unlock()
	if open.dirs[key] {
		return nil, &claimdlq.Error{Code: claimdlq.Unavailable, Op: "open store", On: "already open in this process"}
	}
	if open.dirs == nil {
		open.dirs = map[openDir]bool{}
	}
	open.dirs[key] = true
	return func() {
		open.Lock()
		delete(open.dirs, key)
		open.Unlock()
	}, nil
}
