package filevault

import (
	"context"
	"os"
	"path/filepath"
)

// Hold calls f while no file of the vault is removed and no key that was there at its
// beginning is destroyed or wrapped anew: Shred and Rotate wait, Reclaim does nothing.
// New units go on. slots are the names of the key files and how many bytes of each
// belong to the units that were durable before the call; f may let the keys go with
// done when it has them, and go on with the ciphertext. The error is f's, or Unavailable.
func (v *Vault) Hold(ctx context.Context, f func(slots map[string]int64, done func()) error) error {
	v.holding.RLock()
	defer v.holding.RUnlock()
	v.mu.Lock()
	v.cut()
	last, size := v.slotNo, int64(-1)
	if v.slots != nil {
		size = v.slots.size
	}
	v.mu.Unlock()
	if err := v.Sync(ctx); err != nil { // what was given until now is written
		return err
	}
	v.slotMu.Lock()
	held := true
	done := func() {
		if held {
			held = false
			v.slotMu.Unlock()
		}
	}
	defer done()
	files, err := list(v.keysDir, slotExt)
	if err != nil {
		return err
	}
	slots := map[string]int64{}
	for _, no := range files {
		if no > last {
			continue
		}
		path := numbered(v.keysDir, no, slotExt)
		info, err := os.Stat(path)
		if err != nil {
			return unavailable("hold vault", err)
		}
		slots[filepath.Base(path)] = info.Size()
		if no == last && size >= 0 {
			slots[filepath.Base(path)] = min(info.Size(), size)
		}
	}
	return f(slots, done)
}

// IsSlots reports whether a file in the directory of the keys is one of key slots.
func (*Vault) IsSlots(name string) bool { return filepath.Ext(name) == slotExt }
