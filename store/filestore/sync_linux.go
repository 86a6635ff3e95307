package filestore

import (
	"os"
	"syscall"
)

// dataSync flushes content and, where it changed, the size, but not the times: a
// flush of bytes inside a file's size then needs no metadata write.
func dataSync(f *os.File) error {
	for {
		err := syscall.Fdatasync(int(f.Fd()))
		if err != syscall.EINTR {
			return err
		}
	}
}
