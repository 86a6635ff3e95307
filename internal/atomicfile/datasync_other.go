//go:build !linux

package atomicfile

import "os"

// DataSync flushes a file's content and size.
func DataSync(f *os.File) error { return f.Sync() }
