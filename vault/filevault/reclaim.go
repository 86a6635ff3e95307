package filevault

import (
	"context"
	"os"

	"claimdlq/internal/atomicfile"
)

// Reclaimed says what Reclaim gave back.
type Reclaimed struct {
	Files int   `json:"files"`
	Bytes int64 `json:"bytes"`
}

// reclaimed reports whether the slot was in a file that was removed because every slot in
// it had been shredded.
func (v *Vault) reclaimed(slot uint64) bool {
	_, err := os.Stat(numbered(v.keysDir, uint32(slot/slotsPerFile), goneExt))
	return err == nil
}

// Reclaim removes the ciphertext files in which no unit has a live key, and the
// slot files in which no slot is live, of which an empty file stays that says so. Files that are being appended to stay. If
// any slot is damaged it removes nothing and returns Corrupt: a restored key
// directory may still need the ciphertext. While Hold is under way it does nothing.
func (v *Vault) Reclaim(ctx context.Context) (Reclaimed, error) {
	if !v.holding.TryLock() {
		return Reclaimed{}, nil
	}
	defer v.holding.Unlock()
	v.mu.Lock()
	keep := map[string]bool{}
	newest := v.lastNo
	for _, f := range append([]*file{v.chunk, v.slots}, v.retired...) {
		if f != nil {
			keep[f.Name()] = true
		}
	}
	for no := range v.writing {
		keep[numbered(v.dir, no, unitExt)] = true
	}
	newestSlots, loose := v.slotNo, v.loose > 0
	v.mu.Unlock()

	err := v.each(ctx, func(no uint64, s *slot) bool {
		if s.state == slotLive {
			keep[s.place.path(v.dir)] = true
			keep[numbered(v.keysDir, uint32(no/slotsPerFile), slotExt)] = true
		}
		return true
	})
	if err != nil {
		return Reclaimed{}, err
	}
	out, err := v.removeAll(v.dir, newest, keep, chunkExt, unitExt)
	if err != nil || loose { // a slot may be about to be written to any slot file
		return out, err
	}
	// The newest slot file stays, or its slot numbers would be given again.
	keep[numbered(v.keysDir, newestSlots, slotExt)] = true
	slots, err := v.removeAll(v.keysDir, newestSlots, keep, slotExt)
	return Reclaimed{out.Files + slots.Files, out.Bytes + slots.Bytes}, err
}

// path returns the file that the ciphertext is in.
func (p *place) path(dir string) string {
	if p.single {
		return numbered(dir, p.file, unitExt)
	}
	return numbered(dir, p.file, chunkExt)
}

// removeAll removes the files up to the newest number that are not to be kept.
func (v *Vault) removeAll(dir string, newest uint32, keep map[string]bool, exts ...string) (out Reclaimed, err error) {
	for _, ext := range exts {
		files, err := list(dir, ext)
		if err != nil {
			return out, err
		}
		for _, no := range files {
			path := numbered(dir, no, ext)
			if no > newest || keep[path] {
				continue
			}
			info, err := os.Stat(path)
			if err != nil {
				return out, unavailable("reclaim vault file", err)
			}
			if ext == slotExt {
				if err := atomicfile.WriteFile(numbered(dir, no, goneExt), nil, filePerm); err != nil {
					return out, v.failed("reclaim vault file", err)
				}
			}
			if err := os.Remove(path); err != nil {
				return out, unavailable("reclaim vault file", err)
			}
			v.handles.forget(path)
			out.Files++
			out.Bytes += info.Size()
		}
	}
	if out.Files == 0 {
		return out, nil
	}
	if err := atomicfile.SyncDir(dir); err != nil {
		return out, v.failed("reclaim vault file", err)
	}
	return out, nil
}
