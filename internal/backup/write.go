package backup

import (
	"cmp"
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"claimdlq"
	"claimdlq/internal/atomicfile"
)

// Options say where a backup goes. All but Program and Progress are required.
type Options struct {
	// Data is the directory that is copied.
	Data string
	// To and Keys take the two halves, each under the backup's name.
	To, Keys string
	Signer   note.Signer
	Now      func() time.Time
	Program  string
	// Progress is told how many bytes were copied or linked.
	Progress func(bytes int64)
}

// Set is a backup being made.
type Set struct {
	o          Options
	name       string
	began      time.Time
	data, keys *half
}

// half is one of its directories.
type half struct {
	s    *Set
	root string // where backups are kept
	temp string // where this one is written
	last Manifest
	m    Manifest
}

// Summary says what was made.
type Summary struct {
	Name   string `json:"name"`
	Files  int    `json:"files"`
	Bytes  int64  `json:"bytes"`
	Copied int64  `json:"copied"` // bytes that were not in the backup before
	Entry  uint64 `json:"entry"`  // the newest audit entry in it
}

// New begins a backup. What an interrupted one has left in the two places is removed.
// Errors: Invalid where the places are not apart, Unavailable.
func New(o Options) (*Set, error) {
	if o.Progress == nil {
		o.Progress = func(int64) {}
	}
	if err := apart(o); err != nil {
		return nil, err
	}
	s := &Set{o: o, began: o.Now().UTC()}
	s.data, s.keys = &half{s: s, root: o.To}, &half{s: s, root: o.Keys}
	for _, h := range []*half{s.data, s.keys} {
		if err := atomicfile.MkdirAll(h.root, dirPerm); err != nil {
			return nil, ioError("make backup directory", err)
		}
	}
	s.name = s.free()
	for part, h := range map[Part]*half{PartData: s.data, PartKeys: s.keys} {
		h.m = Manifest{Format: format, Name: s.name, Part: part, Began: s.began, Program: o.Program, Files: []File{}}
		if err := h.begin(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Name returns the backup's name: when it was begun.
func (s *Set) Name() string { return s.name }

// apart refuses places in each other or in what is copied: keys beside the ciphertext
// they open are no second place.
func apart(o Options) error {
	bad := func(why string) error {
		return &claimdlq.Error{Code: claimdlq.Invalid, Op: "back up", On: why, Hint: "keys belong where the vault's backup is not: name another directory with --keys-to"}
	}
	where := map[string]string{}
	for name, dir := range map[string]string{"data": o.Data, "to": o.To, "keys": o.Keys} {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return ioError("back up", err)
		}
		if real, err := filepath.EvalSymlinks(abs); err == nil {
			abs = real
		}
		where[name] = abs
	}
	within := func(a, b string) bool { return a == b || strings.HasPrefix(a, b+string(filepath.Separator)) }
	switch {
	case within(where["keys"], where["to"]) || within(where["to"], where["keys"]):
		return bad("--to and --keys-to are in each other")
	case within(where["to"], where["data"]) || within(where["keys"], where["data"]):
		return bad("the backup would be in the data directory")
	}
	return nil
}

// free returns a name that neither place has.
func (s *Set) free() string {
	for t := s.began; ; t = t.Add(time.Second) {
		name := t.Format(nameLayout)
		taken := false
		for _, h := range []*half{s.data, s.keys} {
			_, err := os.Lstat(filepath.Join(h.root, name))
			taken = taken || err == nil
		}
		if !taken {
			return name
		}
	}
}

const (
	partPrefix = ".part-"
	op         = "back up"
)

// begin makes the hidden directory, and finds the backup before.
func (h *half) begin() error {
	es, err := os.ReadDir(h.root)
	if err != nil {
		return ioError(op, err)
	}
	for _, e := range es {
		if strings.HasPrefix(e.Name(), partPrefix) {
			if err := os.RemoveAll(filepath.Join(h.root, e.Name())); err != nil {
				return ioError(op, err)
			}
		}
	}
	for _, e := range slices.Backward(es) {
		if !isName(e.Name()) || e.Name() >= h.s.name {
			continue
		}
		if m, err := readManifest(filepath.Join(h.root, e.Name()), h.m.Part); err == nil {
			h.last = m.Manifest
			break
		}
	}
	h.temp = filepath.Join(h.root, partPrefix+h.s.name)
	if err := os.Mkdir(h.temp, dirPerm); err != nil {
		return ioError(op, err)
	}
	return nil
}

// Held describes what is copied of a directory. bound, where not nil, says how many
// bytes of the file of that path belong to the backup: negative is all of it, and ok
// false leaves it out.
type Held func(path string) (most int64, ok bool)

// All copies whole files.
func All(string) (int64, bool) { return -1, true }

// Bounded copies the named files up to their size, and no other.
func Bounded(sizes map[string]int64) Held {
	return func(path string) (int64, bool) {
		n, ok := sizes[path]
		return n, ok
	}
}

// Data copies the part of the data directory with that name into the first half.
func (s *Set) Data(ctx context.Context, part string, is Held) error {
	return s.data.tree(ctx, part, is)
}

// Keys copies the part of the data directory with that name into the second half.
func (s *Set) Keys(ctx context.Context, part string, is Held) error {
	return s.keys.tree(ctx, part, is)
}

// Mark notes of which moment the backup is.
func (s *Set) Mark(position int64, lastEntry, audited uint64, checkpoint []byte) {
	m := &s.data.m
	m.Position, m.LastEntry, m.Audited, m.Checkpoint = position, lastEntry, audited, string(checkpoint)
}

// tree copies a directory, or one file. One that is not there is none.
func (h *half) tree(ctx context.Context, part string, is Held) error {
	top := filepath.Join(h.s.o.Data, part)
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		switch {
		case os.IsNotExist(err): // it went meanwhile, or never was
			return nil
		case err != nil:
			return err
		case path != top && hidden(d.Name()):
			return skip(d)
		case d.IsDir():
			return os.MkdirAll(filepath.Join(h.temp, part, rel(top, path)), dirPerm)
		case !d.Type().IsRegular():
			return nil
		}
		most, ok := is(filepath.ToSlash(rel(top, path)))
		if !ok {
			return nil
		}
		return h.file(ctx, filepath.Join(part, rel(top, path)), most)
	})
	if err != nil {
		return failed(ctx, err)
	}
	return nil
}

func skip(d fs.DirEntry) error {
	if d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

func rel(top, path string) string {
	r, err := filepath.Rel(top, path)
	if err != nil || r == "." {
		return ""
	}
	return r
}

// file copies one file, or links it to the copy that the backup before has.
func (h *half) file(ctx context.Context, path string, most int64) error {
	from, to := filepath.Join(h.s.o.Data, path), filepath.Join(h.temp, path)
	info, err := os.Stat(from)
	if err != nil {
		if os.IsNotExist(err) {
			return nil
		}
		return err
	}
	size := info.Size()
	if most >= 0 {
		size = most
	}
	if f, ok := h.before(path, size, info.ModTime()); ok && os.Link(filepath.Join(h.root, h.last.Name, path), to) == nil {
		h.m.Files = append(h.m.Files, f)
		h.s.o.Progress(f.Size)
		return nil
	}
	c, err := copyFile(ctx, from, to, most)
	switch {
	case os.IsNotExist(err):
		return nil
	case err != nil:
		return err
	case most >= 0 && c.size != most:
		return &claimdlq.Error{Code: claimdlq.Corrupt, Op: op, On: filepath.ToSlash(path) + " is shorter than it was", Hint: "claimdlq fsck"}
	}
	h.m.Files = append(h.m.Files, File{Path: filepath.ToSlash(path), Size: c.size, SHA256: c.sum, Modified: c.modified.UnixNano()})
	h.s.o.Progress(c.size)
	return nil
}

// settled is how long a file must have been left alone before its time of change tells
// whether it was changed since: clocks of file systems are coarse.
const settled = 2 * time.Second

// before returns the file as the backup before has it, if it has not changed since.
func (h *half) before(path string, size int64, modified time.Time) (File, bool) {
	f, ok := find(h.last.Files, filepath.ToSlash(path))
	unchanged := ok && f.Size == size && f.Modified == modified.UnixNano() && modified.Before(h.last.Began.Add(-settled))
	return f, unchanged
}

func find(fs []File, path string) (File, bool) {
	i, ok := slices.BinarySearchFunc(fs, path, func(f File, p string) int { return strings.Compare(f.Path, p) })
	if !ok {
		return File{}, false
	}
	return fs[i], true
}

// Settings copies the JSON files of the data directory itself. Whatever else somebody
// keeps in it is left out: a watched folder has claims in plain text.
func (s *Set) Settings(ctx context.Context) error {
	es, err := os.ReadDir(s.o.Data)
	if err != nil {
		return ioError(op, err)
	}
	for _, e := range es {
		if hidden(e.Name()) || !e.Type().IsRegular() || filepath.Ext(e.Name()) != ".json" {
			continue
		}
		if err := s.Data(ctx, e.Name(), All); err != nil {
			return err
		}
	}
	return nil
}

// End makes the backup durable and gives it its name.
func (s *Set) End() (Summary, error) {
	sum, err := s.keys.end("")
	if err == nil {
		_, err = s.data.end(sum)
	}
	if err != nil {
		return Summary{}, err
	}
	out := Summary{Name: s.name, Entry: s.data.m.LastEntry}
	for _, h := range []*half{s.data, s.keys} {
		out.Files += len(h.m.Files)
		out.Bytes += h.m.Bytes()
		out.Copied += h.m.Bytes() - h.shared()
	}
	return out, nil
}

// shared is how many bytes are links to the backup before.
func (h *half) shared() (n int64) {
	for _, f := range h.m.Files {
		if old, ok := find(h.last.Files, f.Path); ok && old == f {
			n += f.Size
		}
	}
	return n
}

func (h *half) end(keys string) (sum string, err error) {
	h.m.Keys, h.m.Ended = keys, h.s.o.Now().UTC()
	slices.SortFunc(h.m.Files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	if sum, err = h.m.write(h.temp, h.s.o.Signer); err != nil {
		return "", err
	}
	err = syncTree(h.temp)
	if err == nil {
		err = os.Rename(h.temp, filepath.Join(h.root, h.s.name))
	}
	if err == nil {
		err = atomicfile.SyncDir(h.root)
	}
	if err != nil {
		return "", ioError(op, err)
	}
	return sum, nil
}

// Abort removes what was written of a backup that did not end. After End it does
// nothing.
func (s *Set) Abort() {
	for _, h := range []*half{s.data, s.keys} {
		_ = os.RemoveAll(h.temp) // the next backup removes what stays
	}
}

// failed gives an error of copying its code.
func failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return &claimdlq.Error{Code: claimdlq.Unavailable, Op: op, Hint: "nothing is kept of it: give the command again", Err: context.Cause(ctx)}
	}
	if pathError(err) != nil || !isOurs(err) {
		return ioError(op, err)
	}
	return err
}

// Names returns the names of the whole backups in a place, the oldest first.
func Names(dir string) ([]string, error) {
	es, err := os.ReadDir(dir)
	if err != nil {
		return nil, ioError("list backups", err)
	}
	names := map[string]bool{}
	for _, e := range es {
		if e.IsDir() && isName(e.Name()) {
			names[e.Name()] = true
		}
	}
	return slices.Sorted(maps.Keys(names)), nil
}
