//go:build !linux

package filestore

import "os"

func dataSync(f *os.File) error { return f.Sync() }
