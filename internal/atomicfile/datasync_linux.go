package atomicfile

import (
	"os"
	"syscall"
)

// DataSync flushes a file's content and, where it changed, its size, but not its
// times: where nothing but existing bytes changed, that spares the file system's
// own journal. An error means that nobody knows what is on disk.
func DataSync(f *os.File) error {
	for {
		err := syscall.Fdatasync(int(f.Fd()))
		if err != syscall.EINTR {
			if err != nil {
				return &os.PathError{Op: "fdatasync", Path: f.Name(), Err: err}
			}
			return nil
		}
	}
}
