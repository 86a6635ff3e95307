package audit

import (
	"os"
	"time"

	"golang.org/x/mod/sumdb/tlog"
)

// SetDisk replaces the system calls whose failure tests bring about.
func (l *Log) SetDisk(writeAt func(f *os.File, b []byte, off int64) error, sync func(f *os.File) error) {
	l.disk = disk{writeAt, sync}
}

// AppendTimes appends the times, each followed by a newline, as the lines of one batch
// have them.
func AppendTimes(b []byte, times ...time.Time) []byte {
	var at clock
	for _, t := range times {
		b = append(at.append(b, t), '\n')
	}
	return b
}

// Node is node.
func Node(left, right tlog.Hash) tlog.Hash { return node(left, right) }
