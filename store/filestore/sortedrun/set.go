package sortedrun

import (
	"context"
	"encoding/binary"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"claimdlq"
)

// Key is what entries are sorted by, byte by byte.
type Key = [16]byte

// MaxValue is the largest value in bytes.
const MaxValue = 64 << 10

// Options tune a Set. The zero value of every field means its default.
type Options struct {
	// BlockBytes is how many bytes of entries share one checksum and one index
	// entry; a block with a large value is larger. Default: 8 KiB.
	BlockBytes int
	// FilterBits is the size of a run's filter per key; 12 let about one look-up in
	// 200 of a key that is not there read a block. Default: 12.
	FilterBits int
	// Fanout is how many runs of a tier become one of the next; at least 2.
	// Default: 4.
	Fanout int
	// Prefix makes the filters of new runs know the first 8 bytes of keys only, for
	// Prefixed.
	Prefix bool
}

func (o *Options) setDefaults() {
	if o.BlockBytes <= 0 {
		o.BlockBytes = 8 << 10
	}
	if o.FilterBits <= 0 {
		o.FilterBits = 12
	}
	if o.Fanout == 0 {
		o.Fanout = 4
	}
	o.Fanout = max(2, o.Fanout)
}

// Set is a directory of sorted runs. All methods are safe for concurrent use;
// Add and Merge wait for each other, and no reader waits for either.
type Set struct {
	fs  FS
	dir string
	o   Options

	write sync.Mutex // held by Add, Merge and Close
	next  uint64     // number of the next run; guarded by write

	mu   sync.RWMutex
	view *view // the runs as they are; guarded by mu
}

// Open opens the set in dir, which is created where it does not exist, and
// removes files that a crash left behind. Errors: Corrupt (a run or the manifest
// fails its checksum, or a run is missing), Unavailable.
func Open(fsys FS, dir string, o Options) (*Set, error) {
	o.setDefaults()
	s := &Set{fs: fsys, dir: dir, o: o}
	if err := fsys.MkdirAll(dir, 0o700); err != nil {
		return nil, ioError("open runs", "", err)
	}
	m, err := readManifest(fsys, dir)
	if err != nil {
		return nil, err
	}
	s.next = m.next
	if err := s.sweep(m); err != nil {
		return nil, err
	}
	var runs []*run
	for _, number := range m.runs {
		r, err := openRun(fsys, dir, number)
		if err != nil {
			newView(runs).release()
			return nil, err
		}
		runs = append(runs, r)
	}
	s.view = newView(runs)
	return s, nil
}

// sweep removes what no manifest names: the unfinished work of a crash.
func (s *Set) sweep(m manifest) error {
	names, err := s.fs.Names(s.dir)
	if err != nil {
		return ioError("open runs", "", err)
	}
	for _, name := range names {
		if !m.needs(name) && isOurs(name) {
			if err := s.fs.Remove(filepath.Join(s.dir, name)); err != nil {
				return ioError("remove run", name, err)
			}
		}
	}
	return nil
}

// Add writes the entries as one new run, whose values are newer than all others;
// it is durable on return. Keys come in ascending order, none twice, and there
// are at most n; entries without any make no run. Errors: Invalid (not in order,
// more than n, or a value over MaxValue), Unavailable; nothing was added then.
func (s *Set) Add(n int, entries iter.Seq2[Key, []byte]) error {
	s.write.Lock()
	defer s.write.Unlock()
	r, err := s.build(n, func(w *writer) error {
		for k, v := range entries {
			if err := w.add(k, v); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || r == nil {
		return err
	}
	old, err := s.acquire()
	if err != nil {
		return err
	}
	defer old.release()
	return s.install(append(slices.Clone(old.runs), r), r)
}

// build writes a run through fill and opens it; nil where it has no entries.
func (s *Set) build(n int, fill func(*writer) error) (*run, error) {
	number := s.next
	s.next++
	name := filepath.Join(s.dir, runName(number))
	w, err := newWriter(s.fs, name, number, n, s.o)
	if err != nil {
		return nil, err
	}
	err = fill(w)
	if err == nil && w.count > 0 {
		err = w.finish()
	}
	if cerr := w.close(); err == nil && cerr != nil {
		err = ioError("write run", runName(number), cerr)
	}
	if err != nil || w.count == 0 {
		_ = s.fs.Remove(name) // what stays is removed by the next Open
		return nil, err
	}
	return openRun(s.fs, s.dir, number)
}

// install makes runs the set's runs, durably; made is the new one among them.
func (s *Set) install(runs []*run, made *run) error {
	m := manifest{next: s.next}
	for _, r := range runs {
		m.runs = append(m.runs, r.number)
	}
	if err := m.write(s.fs, s.dir); err != nil {
		newView([]*run{made}).release()
		if !errors.Is(err, ErrSync) { // else the manifest on disk may name it
			_ = s.fs.Remove(filepath.Join(s.dir, made.name))
		}
		return err
	}
	now := newView(runs)
	s.mu.Lock()
	old := s.view
	s.view = now
	s.mu.Unlock()
	old.release()
	return nil
}

// Get returns the newest value of the key in a slice of its own. Errors: Corrupt,
// Unavailable.
func (s *Set) Get(k Key) (value []byte, ok bool, err error) {
	v, err := s.acquire()
	if err != nil {
		return nil, false, err
	}
	defer v.release()
	for _, r := range slices.Backward(v.runs) {
		value, ok, err = r.get(k)
		if ok || err != nil {
			return value, ok, err
		}
	}
	return nil, false, nil
}

// Ascend calls f for the entries with keys from from on, in ascending order, the
// newest value of each, until f returns false; value is valid during the call.
// Errors: Corrupt, Unavailable.
func (s *Set) Ascend(from Key, f func(k Key, value []byte) bool) error {
	return s.walk(from, true, f)
}

// Descend is Ascend in descending order, from the first key below before on. The
// key after the last is out of reach of before, so a key of all ones is not seen.
func (s *Set) Descend(before Key, f func(k Key, value []byte) bool) error {
	return s.walk(before, false, f)
}

// Prefixed is Ascend for the keys that begin with the 8 bytes of prefix, big-endian.
// With Options.Prefix, runs without any are not read.
func (s *Set) Prefixed(prefix uint64, f func(k Key, value []byte) bool) error {
	v, err := s.acquire()
	if err != nil {
		return err
	}
	defer v.release()
	var few [16]*run
	runs := few[:0]
	for _, r := range v.runs {
		if r.mayHold(prefix) {
			runs = append(runs, r)
		}
	}
	if len(runs) == 0 {
		return nil
	}
	var start Key
	binary.BigEndian.PutUint64(start[:8], prefix)
	return walk(runs, start, true, func(k Key, value []byte) bool {
		return binary.BigEndian.Uint64(k[:8]) == prefix && f(k, value)
	})
}

func (s *Set) walk(start Key, up bool, f func(Key, []byte) bool) error {
	v, err := s.acquire()
	if err != nil {
		return err
	}
	defer v.release()
	return walk(v.runs, start, up, f)
}

func walk(runs []*run, start Key, up bool, f func(Key, []byte) bool) error {
	m, err := newMerger(runs, start, up)
	if err != nil {
		return err
	}
	defer m.free()
	for err == nil && m.valid() {
		if !f(m.key(), m.value()) {
			return nil
		}
		err = m.next()
	}
	return err
}

// Size says how large a Set is.
type Size struct {
	Runs    int
	Entries int64 // a key that is in several runs counts in each
	Bytes   int64 // on disk
	Memory  int64 // of filters and indexes, in bytes
}

// Size returns how large the set is now; it is zero once closed.
func (s *Set) Size() Size {
	v, err := s.acquire()
	if err != nil {
		return Size{}
	}
	defer v.release()
	z := Size{Runs: len(v.runs)}
	for _, r := range v.runs {
		z.Entries += int64(r.count)
		z.Bytes += r.bytes
		z.Memory += int64(len(r.filter)*8 + len(r.index)*24)
	}
	return z
}

// Verify reads everything: checksums, the order of keys, counts, and that each
// key passes its run's filter. Errors: Corrupt (what and where), Unavailable.
func (s *Set) Verify(ctx context.Context) error {
	v, err := s.acquire()
	if err != nil {
		return err
	}
	defer v.release()
	for _, r := range v.runs {
		if err := r.verify(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Close closes the files once the last reader is done. What is called afterwards
// fails with code Unavailable: a closed set must not answer "no such key".
func (s *Set) Close() error {
	s.write.Lock()
	defer s.write.Unlock()
	s.mu.Lock()
	old := s.view
	s.view = nil
	s.mu.Unlock()
	if old != nil {
		old.release()
	}
	return nil
}

func (s *Set) acquire() (*view, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.view == nil {
		return nil, ioError("read runs", "", os.ErrClosed)
	}
	s.view.refs.Add(1)
	return s.view, nil
}

// ErrSync is wrapped by the error of a flush that failed.
const ErrSync = syncError("flush to disk")

type syncError string

func (e syncError) Error() string { return string(e) }

func ioError(op, on string, err error) error {
	return &claimdlq.Error{Code: claimdlq.Unavailable, Op: op, On: on, Err: err}
}
