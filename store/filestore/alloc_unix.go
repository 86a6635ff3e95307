//go:build unix

package filestore

import "syscall"

// mapMemory returns n zero bytes from the operating system, or nil if it has none;
// pages that are never touched take no memory.
func mapMemory(n int) []byte {
	b, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil
	}
	return b
}

func unmapMemory(b []byte) { _ = syscall.Munmap(b) }
