package filevault

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"claimdlq"
)

const (
	chunkExt = ".chunk"
	unitExt  = ".unit"
	slotExt  = ".slots"
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
}

// disk is the system calls whose failure has to be tested.
type disk struct {
	writeAt func(f *os.File, b []byte, off int64) error
	sync    func(f *os.File) error
}

var realDisk = disk{
	writeAt: func(f *os.File, b []byte, off int64) error { _, err := f.WriteAt(b, off); return err },
	sync:    (*os.File).Sync,
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
	return &file{File: f, no: no, size: headerSize, dirty: true}, nil
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
	return &file{File: f, no: no, size: size}, nil
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
