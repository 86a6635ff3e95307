package sortedrun_test

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"claimdlq/store/filestore/sortedrun"
)

var errCrashed = errors.New("crashed")

// node is a file: its content, and what of it was flushed.
type node struct{ data, durable []byte }

// memFS is a file system that stops after a number of changes and knows what of
// it would outlive a kill and a power cut.
type memFS struct {
	mu      sync.Mutex
	names   map[string]*node
	durable map[string]*node
	changes int // left until the crash
	done    int // changes made
	reads   atomic.Int64
}

func newMemFS(changes int) *memFS {
	return &memFS{names: map[string]*node{}, durable: map[string]*node{}, changes: changes}
}

// change says whether one more change may happen; it holds the lock if it may.
func (m *memFS) change() error {
	m.mu.Lock()
	if m.changes == 0 {
		m.mu.Unlock()
		return errCrashed
	}
	m.changes--
	m.done++
	return nil
}

// after returns what the given kind of crash leaves.
func (m *memFS) after(kind string) *memFS {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := newMemFS(1 << 30)
	from := m.names
	switch kind {
	case "power cut":
		from = m.durable
	case "rename before create": // names that were not flushed reach the disk in any order
		from = maps.Clone(m.durable)
		if n := m.names["runs/MANIFEST"]; n != nil {
			from["runs/MANIFEST"] = n
		}
	}
	for name, n := range from {
		data := n.data
		switch kind {
		case "power cut":
			data = n.durable
		case "names before content": // names are on disk, what was not flushed is half there
			data = slices.Concat(n.durable, n.data[min(len(n.durable), len(n.data)):][:max(0, len(n.data)-len(n.durable))/2])
		}
		out.names[name] = &node{data: slices.Clone(data), durable: slices.Clone(data)}
	}
	out.durable = maps.Clone(out.names)
	return out
}

func (m *memFS) OpenFile(name string, flag int, _ os.FileMode) (sortedrun.File, error) {
	if flag&os.O_CREATE == 0 {
		m.mu.Lock()
		defer m.mu.Unlock()
		if n := m.names[name]; n != nil {
			return &memFile{m, n}, nil
		}
		return nil, fs.ErrNotExist
	}
	if err := m.change(); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	n := m.names[name]
	if n == nil || flag&os.O_TRUNC != 0 {
		n = &node{}
		m.names[name] = n
	}
	return &memFile{m, n}, nil
}

func (m *memFS) Rename(from, to string) error {
	if err := m.change(); err != nil {
		return err
	}
	defer m.mu.Unlock()
	m.names[to] = m.names[from]
	delete(m.names, from)
	return nil
}

func (m *memFS) Remove(name string) error {
	if err := m.change(); err != nil {
		return err
	}
	defer m.mu.Unlock()
	delete(m.names, name)
	return nil
}

func (m *memFS) SyncDir(string) error {
	if err := m.change(); err != nil {
		return err
	}
	defer m.mu.Unlock()
	m.durable = maps.Clone(m.names)
	return nil
}

func (m *memFS) MkdirAll(string, os.FileMode) error { return nil }

func (m *memFS) Names(dir string) (names []string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name := range m.names {
		if filepath.Dir(name) == strings.TrimSuffix(dir, "/") {
			names = append(names, filepath.Base(name))
		}
	}
	slices.Sort(names)
	return names, nil
}

type memFile struct {
	fs *memFS
	n  *node
}

func (f *memFile) ReadAt(b []byte, at int64) (int, error) {
	f.fs.reads.Add(1)
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if at >= int64(len(f.n.data)) {
		return 0, io.EOF
	}
	n := copy(b, f.n.data[at:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (f *memFile) WriteAt(b []byte, at int64) (int, error) {
	if err := f.fs.change(); err != nil {
		return 0, err
	}
	defer f.fs.mu.Unlock()
	if short := int(at) + len(b) - len(f.n.data); short > 0 {
		f.n.data = append(f.n.data, make([]byte, short)...)
	}
	return copy(f.n.data[at:], b), nil
}

func (f *memFile) Sync() error {
	if err := f.fs.change(); err != nil {
		return err
	}
	defer f.fs.mu.Unlock()
	f.n.durable = slices.Clone(f.n.data)
	return nil
}

func (f *memFile) Close() error { return nil }

func (f *memFile) Size() (int64, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	return int64(len(f.n.data)), nil
}
