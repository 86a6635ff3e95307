package filevault

import (
	"context"
	"errors"
	"os"
	"time"

	"claimdlq/internal/atomicfile"
	"claimdlq/vault/keyring"
)

// Rotate gives the vault a new key-encryption key: add the term, make it primary,
// re-wrap every data key, retire the older terms. Payload files are not touched
// and everything is readable throughout. After a crash, call it again: what is
// left of the older terms goes with it. progress may be nil.
func (v *Vault) Rotate(ctx context.Context, now time.Time, progress func(done, total int)) (keyring.Term, error) {
	term, err := v.kr.RotateKEK(ctx, now)
	if err != nil {
		return term, err
	}
	if _, err := v.Rewrap(ctx, progress); err != nil {
		return term, err
	}
	for _, old := range v.kr.KEKs() {
		if old.State == keyring.Active && !old.Primary {
			if err := v.kr.RetireKEK(old.ID); err != nil {
				return term, err
			}
		}
	}
	return term, nil
}

// Rewrap wraps every live data key under the primary term, a slot file at a time:
// a new file is written, fsynced and renamed into place. It returns how many keys
// were wrapped anew. Errors: Corrupt (a slot cannot be unwrapped; its file stays
// as it was), Unavailable.
func (v *Vault) Rewrap(ctx context.Context, progress func(done, total int)) (int, error) {
	v.mu.Lock()
	v.cut()
	if v.slots != nil { // from here on new units go to a new file, under the new term
		v.retire(v.slots)
		v.slots = nil
	}
	v.mu.Unlock()
	if err := v.Sync(ctx); err != nil {
		return 0, err
	}
	files, err := list(v.keysDir, slotExt)
	if err != nil {
		return 0, err
	}
	total := 0
	for i, no := range files {
		if err := ctx.Err(); err != nil {
			return total, unavailable("re-wrap keys", err)
		}
		n, err := v.rewrapFile(no)
		total += n
		if err != nil {
			return total, err
		}
		if progress != nil {
			progress(i+1, len(files))
		}
	}
	return total, nil
}

// rewrapFile replaces one slot file, unless all its keys are under the primary
// term already or it is the one being appended to.
func (v *Vault) rewrapFile(no uint32) (int, error) {
	v.slotMu.Lock()
	defer v.slotMu.Unlock()
	v.mu.Lock()
	current := v.slots != nil && v.slots.no == no
	v.mu.Unlock()
	if current {
		return 0, nil
	}
	path := numbered(v.keysDir, no, slotExt)
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, unavailable("re-wrap keys", err)
	}
	n, err := v.rewrapSlots(no, raw)
	if n == 0 || err != nil {
		return 0, err
	}
	// A slot that was shredded a moment ago must be gone from the old file's
	// blocks too, before they are given back to the file system.
	if err := v.syncSlots(no); err != nil {
		return 0, v.failed("re-wrap keys", err)
	}
	err = atomicfile.WriteFile(path, raw, filePerm)
	v.handles.forget(path)
	if err != nil {
		return 0, v.failed("re-wrap keys", err)
	}
	return n, nil
}

// rewrapSlots wraps the keys in raw anew, in place.
func (v *Vault) rewrapSlots(no uint32, raw []byte) (n int, err error) {
	primary := v.kr.Primary()
	for i := slotSize; i+slotSize <= len(raw); i += slotSize {
		b := raw[i:][:slotSize]
		s := decodeSlot(b)
		if s.state != slotLive || s.term == primary {
			continue
		}
		u := unit{slot: uint64(no)*slotsPerFile + uint64(i/slotSize), random: s.random}
		u.setName(v.names)
		if err := u.unwrap(v.kr, &s); err != nil {
			return n, err
		}
		s = u.wrap(v.kr)
		s.encode(b)
		clear(u.key[:])
		n++
	}
	return n, nil
}
