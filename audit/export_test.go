package audit

import "os"

// SetDisk replaces the system calls whose failure tests bring about.
func (l *Log) SetDisk(writeAt func(f *os.File, b []byte, off int64) error, sync func(f *os.File) error) {
	l.disk = disk{writeAt, sync}
}
