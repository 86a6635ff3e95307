package filestore_test

import (
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"claimdlq/store/filestore"
)

// memFS is a file system in memory that knows what a power loss would leave: what
// was flushed, and any part of what was not, in sectors of 512 bytes.
type memFS struct {
	mu      sync.Mutex
	names   map[string]*memFile
	durable map[string]*memFile // as of the last SyncDir of each directory
	log     []nameChange        // since then

	ops    int          // changes so far
	failAt int          // the change that fails; 0: none
	failed string       // what it was
	failOn string       // the next change of this kind fails
	limit  int          // bytes all files may have; 0: no limit
	rnd    *rand.Rand   // of how much of a failing write is done
	hook   func(op int) // called before each change, without the lock
	calls  map[string]int
}

type nameChange struct {
	name string
	file *memFile // nil: removed
}

type memFile struct {
	data    []byte
	synced  []byte
	pending []change
}

// change is a write, or a truncation where b is nil.
type change struct {
	off int64
	b   []byte
}

var errInjected = errors.New("injected failure")

func newMemFS() *memFS {
	return &memFS{
		names: map[string]*memFile{}, durable: map[string]*memFile{}, calls: map[string]int{},
		rnd: rand.New(rand.NewPCG(1, 2)),
	}
}

// step counts a change, and reports whether it is the one that fails. It is called
// with the lock held, and gives it away for the hook.
func (m *memFS) step(what string) error {
	m.ops++
	m.calls[what]++
	if h, op := m.hook, m.ops; h != nil {
		m.mu.Unlock()
		h(op)
		m.mu.Lock()
	}
	if m.ops == m.failAt || what == m.failOn {
		m.failed, m.failOn = what, ""
		return errInjected
	}
	return nil
}

func (m *memFS) OpenFile(name string, flag int, _ os.FileMode) (filestore.File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.names[name]
	if f == nil {
		if flag&os.O_CREATE == 0 {
			return nil, &os.PathError{Op: "open", Path: filepath.Base(name), Err: os.ErrNotExist}
		}
		if err := m.step("create"); err != nil {
			return nil, err
		}
		f = &memFile{}
		m.names[name] = f
		m.log = append(m.log, nameChange{name, f})
	}
	if flag&os.O_TRUNC != 0 && len(f.data) > 0 {
		f.data = nil
		f.pending = append(f.pending, change{})
	}
	return &memHandle{fs: m, f: f}, nil
}

func (m *memFS) Rename(oldName, newName string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.step("rename"); err != nil {
		return err
	}
	f := m.names[oldName]
	if f == nil {
		return os.ErrNotExist
	}
	delete(m.names, oldName)
	m.names[newName] = f
	m.log = append(m.log, nameChange{newName, f}, nameChange{oldName, nil})
	return nil
}

func (m *memFS) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.step("remove"); err != nil {
		return err
	}
	if m.names[name] == nil {
		return os.ErrNotExist
	}
	delete(m.names, name)
	m.log = append(m.log, nameChange{name, nil})
	return nil
}

func (m *memFS) Names(dir string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []string
	for name := range m.names {
		if filepath.Dir(name) == filepath.Clean(dir) {
			out = append(out, filepath.Base(name))
		}
	}
	slices.Sort(out)
	return out, nil
}

func (m *memFS) MkdirAll(string, os.FileMode) error { return nil }

func (m *memFS) SyncDir(dir string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.step("sync"); err != nil {
		return err
	}
	rest := m.log[:0]
	for _, c := range m.log {
		if filepath.Dir(c.name) != filepath.Clean(dir) {
			rest = append(rest, c)
			continue
		}
		apply(m.durable, c)
	}
	m.log = rest
	return nil
}

func apply(names map[string]*memFile, c nameChange) {
	if c.file == nil {
		delete(names, c.name)
		return
	}
	names[c.name] = c.file
}

// copy returns the file system as a process that was killed leaves it.
func (m *memFS) copy() *memFS {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := newMemFS()
	for name, f := range m.names {
		n.put(name, slices.Clone(f.data))
	}
	return n
}

func (m *memFS) put(name string, data []byte) {
	f := &memFile{data: data, synced: slices.Clone(data)}
	m.names[name], m.durable[name] = f, f
}

// crash returns the file system as a power loss at this moment may leave it.
func (m *memFS) crash(rnd *rand.Rand) *memFS {
	m.mu.Lock()
	defer m.mu.Unlock()
	names := maps.Clone(m.durable)
	kept := map[string]int{} // by directory, how many changes of names survive
	for _, c := range m.log {
		kept[filepath.Dir(c.name)]++
	}
	for dir := range kept {
		kept[dir] = rnd.IntN(kept[dir] + 1)
	}
	for _, c := range m.log {
		if dir := filepath.Dir(c.name); kept[dir] > 0 {
			kept[dir]--
			apply(names, c)
		}
	}
	n := newMemFS()
	mode := rnd.IntN(4)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		n.put(name, names[name].crash(rnd, mode))
	}
	return n
}

// crash returns what was flushed and some of what was not: by mode nothing, half
// of the sectors, all up to some point, or all.
func (f *memFile) crash(rnd *rand.Rand, mode int) []byte {
	data := slices.Clone(f.synced)
	upTo := len(f.pending)
	switch mode {
	case 0:
		upTo = 0
	case 2:
		upTo = rnd.IntN(len(f.pending) + 1)
	}
	for _, c := range f.pending[:upTo] {
		if c.b == nil {
			if mode != 1 || rnd.IntN(2) == 0 {
				data = resize(data, c.off)
			}
			continue
		}
		for off, b := c.off, c.b; len(b) > 0; {
			n := min(int(512-off%512), len(b))
			if mode != 1 || rnd.IntN(2) == 0 {
				data = resize(data, max(int64(len(data)), off+int64(n)))
				copy(data[off:], b[:n])
			}
			b, off = b[n:], off+int64(n)
		}
	}
	return data
}

func resize(b []byte, n int64) []byte {
	if int64(len(b)) >= n {
		return b[:n]
	}
	return append(b, make([]byte, n-int64(len(b)))...)
}

func (m *memFS) size() (n int) {
	for _, f := range m.names {
		n += len(f.data)
	}
	return n
}

// chunks returns the names of the journal's files.
func (m *memFS) chunks() (names []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name := range m.names {
		if strings.HasPrefix(filepath.Base(name), "chunk-") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

type memHandle struct {
	fs     *memFS
	f      *memFile
	closed bool
}

func (h *memHandle) ReadAt(b []byte, off int64) (int, error) {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if h.closed {
		return 0, os.ErrClosed
	}
	if off >= int64(len(h.f.data)) {
		return 0, io.EOF
	}
	n := copy(b, h.f.data[off:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (h *memHandle) WriteAt(b []byte, off int64) (int, error) {
	m := h.fs
	m.mu.Lock()
	defer m.mu.Unlock()
	if h.closed {
		return 0, os.ErrClosed
	}
	err := m.step("write")
	if err != nil {
		b = b[:m.rnd.IntN(len(b)+1)]
	}
	grows := int(off) + len(b) - len(h.f.data)
	if m.limit > 0 && grows > 0 && m.size()+grows > m.limit {
		b, err = b[:max(0, len(b)-grows)], errors.New("no space left on device")
	}
	h.f.data = resize(h.f.data, max(int64(len(h.f.data)), off+int64(len(b))))
	copy(h.f.data[off:], b)
	h.f.pending = append(h.f.pending, change{off, slices.Clone(b)})
	return len(b), err
}

func (h *memHandle) Sync() error {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if err := h.fs.step("sync"); err != nil {
		return err
	}
	if len(h.f.pending) > 0 {
		h.f.synced, h.f.pending = slices.Clone(h.f.data), nil
	}
	return nil
}

func (h *memHandle) Truncate(n int64) error {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if err := h.fs.step("truncate"); err != nil {
		return err
	}
	h.f.data = resize(h.f.data, n)
	h.f.pending = append(h.f.pending, change{off: n})
	return nil
}

func (h *memHandle) Size() (int64, error) {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	return int64(len(h.f.data)), nil
}

func (h *memHandle) Close() error {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	h.closed = true
	return nil
}
