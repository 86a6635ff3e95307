//go:build !unix

package filestore

func mapMemory(int) []byte { return nil }

func unmapMemory([]byte) {}
