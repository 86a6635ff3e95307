package filevault

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"claimdlq"
	"claimdlq/internal/atomicfile"
)

const (
	chunkExt = ".chunk"
	unitExt  = ".unit"
	slotExt  = ".slots"
	goneExt  = ".gone" // in place of slots that were all shredded
	filePerm = 0o600
	dirPerm  = 0o700
)

// header is at the start of every file, padded with zeros to headerSize.
const (
	header     = "claimdlq vault 1\n"
	headerSize = slotSize
)

// file is a file that is being appended to, at reserved offsets. The vault's mu
// guards its fields.
type file struct {
	*os.File
	no    uint32
	size  int64 // reserved so far
	users int   // batches and writers that still write to it
	dirty bool  // written to since its last fsync

	ahead ahead
}

// ahead is the part of a file that was filled with zeros before it is needed: a
// flush of bytes that exist is cheaper than one that grows the file, and does not
// wait for what others do in the same file system. Whoever writes behind what is
// there passes grow or claim first, so that no zero falls on what was written.
type ahead struct {
	mu   sync.Mutex
	to   int64 // the file has this size, or more
	step int64
}

const (
	minAhead = 64 << 10
	maxAhead = 512 << 10
)

var zeros [1 << 20]byte

// grow makes sure that the file exists up to end, and some way further. A full
// disk is nothing to it: the write itself will find out.
func (v *Vault) grow(f *file, end, most int64) {
	a := &f.ahead
	a.mu.Lock()
	defer a.mu.Unlock()
	if end <= a.to {
		return
	}
	a.step = min(max(2*a.step, minAhead), most)
	for to := end + a.step; a.to < to; {
		n := min(to-a.to, int64(len(zeros)))
		if v.disk.writeAt(f.File, zeros[:n], a.to) != nil {
			a.to, a.step = max(a.to, end), 0
			return
		}
		a.to += n
	}
}

// claim takes the bytes up to end out of what grow may still fill.
func (f *file) claim(end int64) {
	f.ahead.mu.Lock()
	defer f.ahead.mu.Unlock()
	f.ahead.to = max(f.ahead.to, end)
}

// end closes a file that nothing is appended to any more, without the zeros
// behind its content.
func (f *file) end() {
	if f.ahead.step > 0 {
		_ = f.Truncate(f.size) // only tidiness: zeros mean nothing
	}
	_ = f.Close()
}

// disk is the system calls whose failure has to be tested.
type disk struct {
	writeAt func(f *os.File, b []byte, off int64) error
	sync    func(f *os.File) error
}

var realDisk = disk{
	writeAt: func(f *os.File, b []byte, off int64) error { _, err := f.WriteAt(b, off); return err },
	sync:    atomicfile.DataSync,
}

// create makes the numbered file and writes its header.
func (v *Vault) create(dir string, no uint32, ext string) (*file, error) {
	f, err := os.OpenFile(numbered(dir, no, ext), os.O_RDWR|os.O_CREATE|os.O_EXCL, filePerm)
	if err != nil {
		return nil, unavailable("create vault file", err)
	}
	h := make([]byte, headerSize)
	copy(h, header)
	if err := v.disk.writeAt(f, h, 0); err != nil {
		_ = f.Close()
		_ = os.Remove(f.Name())
		return nil, unavailable("create vault file", err)
	}
	return &file{File: f, no: no, size: headerSize, dirty: true, ahead: ahead{to: headerSize}}, nil
}

// reopen opens the numbered file to append behind what is there, rounded up.
func reopen(dir string, no uint32, ext string, round int64) (*file, error) {
	f, err := os.OpenFile(numbered(dir, no, ext), os.O_RDWR, 0)
	if err != nil {
		return nil, unavailable("open vault file", err)
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, unavailable("open vault file", err)
	}
	size := max(headerSize, (info.Size()+round-1)/round*round)
	return &file{File: f, no: no, size: size, ahead: ahead{to: info.Size()}}, nil
}

func numbered(dir string, no uint32, ext string) string {
	return filepath.Join(dir, fmt.Sprintf("%08d%s", no, ext))
}

// list returns the numbers of the files with the extension, in order.
func list(dir, ext string) ([]uint32, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, unavailable("list vault", err)
	}
	var out []uint32
	for _, e := range entries {
		digits, ok := strings.CutSuffix(e.Name(), ext)
		if no, err := strconv.ParseUint(digits, 10, 32); ok && err == nil {
			out = append(out, uint32(no))
		}
	}
	return out, nil
}

// unavailable keeps the cause of a failed system call but not its path.
func unavailable(op string, err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return &claimdlq.Error{Code: claimdlq.Unavailable, Op: op, On: filepath.Base(pe.Path), Err: pe.Err}
	}
	return &claimdlq.Error{Code: claimdlq.Unavailable, Op: op, Err: err}
}
