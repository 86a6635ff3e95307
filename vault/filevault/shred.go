package filevault

import (
	"context"
	"errors"
	"os"

	"claimdlq"
)

// Shred implements vault.Vault: it overwrites the unit's slot in place and
// flushes. A unit without a live key is left as it is, and that is no error.
// Errors: NotFound (no name of ours), Corrupt (damaged slot), Unavailable.
func (v *Vault) Shred(ctx context.Context, ref claimdlq.PayloadRef) error {
	if _, ok := parseName(v.names, ref.Unit); !ok {
		return notFound(ref.Unit)
	}
	if err := v.shred(ctx, ref.Unit); err != nil {
		return err
	}
	return v.Sync(ctx)
}

func (v *Vault) shred(ctx context.Context, name string) error {
	if _, _, err := v.locate(ctx, name); errors.Is(err, claimdlq.NotFound) {
		return nil
	} else if err != nil { // and so that nothing has to be written under the lock
		return err
	}
	v.slotMu.RLock()
	defer v.slotMu.RUnlock()
	u, s, err := v.locate(ctx, name)
	if errors.Is(err, claimdlq.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	s.shred()
	return v.overwrite(u.slot, &s)
}

// putSlot stores the live slot of a unit that is outside of any batch.
func (v *Vault) putSlot(u *unit) error {
	v.slotMu.RLock()
	defer v.slotMu.RUnlock()
	s := u.wrap(v.kr)
	return v.overwrite(u.slot, &s)
}

// overwrite writes one slot; the next flush makes it durable. The caller holds
// slotMu, shared. The file is opened by its name, for a re-wrap may have put
// another file in its place.
func (v *Vault) overwrite(no uint64, s *slot) error {
	file := uint32(no / slotsPerFile)
	f, err := os.OpenFile(numbered(v.keysDir, file, slotExt), os.O_RDWR, 0)
	if err != nil {
		return unavailable("write key slot", err)
	}
	defer f.Close()
	var b [slotSize]byte
	s.encode(b[:])
	if err := v.disk.writeAt(f, b[:], int64(no%slotsPerFile)*slotSize); err != nil {
		return full(err)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.touched[file] = struct{}{}
	return nil
}

// Units implements vault.Vault. Units that were staged and not synced are among
// them. If a slot is damaged it returns Corrupt after all the others.
func (v *Vault) Units(ctx context.Context, f func(unit string, size int64) bool) error {
	return v.each(ctx, func(no uint64, s *slot) bool {
		if s.state != slotLive {
			return true
		}
		u := unit{slot: no, random: s.random}
		u.setName(v.names)
		return f(string(u.name[:]), s.place.size)
	})
}

// each calls f for every used slot.
func (v *Vault) each(ctx context.Context, f func(no uint64, s *slot) bool) error {
	if err := v.Sync(ctx); err != nil {
		return err
	}
	files, err := list(v.keysDir, slotExt)
	if err != nil {
		return err
	}
	var damaged error
	for _, no := range files {
		if err := ctx.Err(); err != nil {
			return unavailable("list units", err)
		}
		raw, err := os.ReadFile(numbered(v.keysDir, no, slotExt))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return unavailable("list units", err)
		}
		for i := slotSize; i+slotSize <= len(raw); i += slotSize {
			s := decodeSlot(raw[i:][:slotSize])
			switch s.state {
			case slotEmpty:
				continue
			case slotDamaged:
				damaged = &claimdlq.Error{Code: claimdlq.Corrupt, Op: "list units", On: numbered("", no, slotExt), Hint: "a key slot is damaged: restore the key directory from its backup"}
				continue
			case slotLive, slotShredded:
			}
			if !f(uint64(no)*slotsPerFile+uint64(i/slotSize), &s) {
				return damaged
			}
		}
	}
	return damaged
}
