package filevault

import "os"

// SetDisk replaces the system calls whose failure tests bring about. It must be
// called before the vault is used.
func (v *Vault) SetDisk(writeAt func(f *os.File, b []byte, off int64) error, sync func(f *os.File) error) {
	v.disk = disk{writeAt, sync}
}
