package filevault

import (
	"errors"
	"os"
	"sync"
)

// maxHandles bounds the files that are kept open for reading.
const maxHandles = 64

// handles keeps files open for reading: opening two files costs more than reading
// and opening a small unit.
type handles struct {
	mu    sync.Mutex
	open  map[string]*os.File
	epoch uint64 // raised when a file is replaced or removed
}

// readAt reads from the file at path as os.File.ReadAt does.
func (h *handles) readAt(path string, b []byte, off int64) error {
	for {
		f, err := h.get(path)
		if err != nil {
			return err
		}
		_, err = f.ReadAt(b, off)
		if !errors.Is(err, os.ErrClosed) { // it was, meanwhile, to make room
			return err
		}
	}
}

// get returns the open file. If the file at path was replaced while it was being
// opened, it opens it once more: a shredded key must not live on in an old handle.
func (h *handles) get(path string) (*os.File, error) {
	for {
		h.mu.Lock()
		f, epoch := h.open[path], h.epoch
		h.mu.Unlock()
		if f != nil {
			return f, nil
		}
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		if h.keep(path, f, epoch) {
			return f, nil
		}
		_ = f.Close()
	}
}

func (h *handles) keep(path string, f *os.File, epoch uint64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.epoch != epoch || h.open[path] != nil {
		return false
	}
	for p, other := range h.open {
		if len(h.open) < maxHandles {
			break
		}
		_ = other.Close()
		delete(h.open, p)
	}
	h.open[path] = f
	return true
}

// forget closes the file at path, which was replaced or removed; or all of them,
// if path is empty.
func (h *handles) forget(path string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.epoch++
	for p, f := range h.open {
		if path == "" || p == path {
			_ = f.Close()
			delete(h.open, p)
		}
	}
}
