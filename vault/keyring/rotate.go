package keyring

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"claimdlq"
)

// AddKEK makes a new key-encryption key that unwraps but is not primary yet, so
// that every process can learn of it before anything is wrapped with it.
func (k *Keyring) AddKEK(ctx context.Context, now time.Time) (Term, error) {
	return k.add(ctx, useKEK, now)
}

// PromoteKEK makes an active term primary. Errors: NotFound, Refused (not active).
func (k *Keyring) PromoteKEK(term uint32) error { return k.promote(useKEK, term) }

// RotateKEK adds a term and makes it primary. What older terms wrapped stays
// readable; re-wrap it, then retire them.
func (k *Keyring) RotateKEK(ctx context.Context, now time.Time) (Term, error) {
	return k.rotate(ctx, useKEK, now)
}

// RotateHMAC adds an identity term and makes it current. Older terms stay for
// look-ups and are never destroyed: records keep the term they were keyed under.
func (k *Keyring) RotateHMAC(ctx context.Context, now time.Time) (Term, error) {
	t, err := k.rotate(ctx, useHMAC, now)
	if err != nil {
		return Term{}, err
	}
	return t, k.change(func(r *ring) error {
		for i := range r.keys {
			if key := &r.keys[i]; key.use == useHMAC && !key.term.Primary {
				key.term.State = Retired
			}
		}
		return nil
	})
}

// RetireKEK ends a term's active life; it still unwraps. Call it when nothing is
// wrapped under it any more. Errors: NotFound, Refused (primary or destroyed).
func (k *Keyring) RetireKEK(term uint32) error {
	return k.change(func(r *ring) error {
		key := r.find(useKEK, term)
		if err := idle(key, "retire key"); err != nil {
			return err
		}
		key.term.State = Retired
		return nil
	})
}

// DestroyKEK destroys a retired term: whatever is still wrapped under it, in any
// backup, can never be opened again (NIST SP 800-88, cryptographic erase). The
// file that held it is overwritten before it is given back to the file system.
// Errors: NotFound, Refused (not retired).
func (k *Keyring) DestroyKEK(term uint32) error {
	old, err := os.OpenFile(filepath.Join(k.dir, ringFile), os.O_WRONLY, 0)
	if err != nil {
		return fileError("destroy key", err)
	}
	defer old.Close()
	info, err := old.Stat()
	if err != nil {
		return fileError("destroy key", err)
	}
	err = k.change(func(r *ring) error {
		key := r.find(useKEK, term)
		if err := idle(key, "destroy key"); err != nil {
			return err
		}
		if key.term.State != Retired {
			return &claimdlq.Error{Code: claimdlq.Refused, Op: "destroy key", On: key.label(), Hint: "rotate and retire it first"}
		}
		key.term.State = Destroyed
		key.wrapped, key.secret, key.aead = nil, nil, nil
		return nil
	})
	if err != nil {
		return err
	}
	if _, err := old.WriteAt(make([]byte, info.Size()), 0); err != nil {
		return fileError("destroy key", err)
	}
	if err := old.Sync(); err != nil {
		return fileError("destroy key", err)
	}
	return nil
}

// idle refuses keys that are in use or gone.
func idle(k *key, op string) error {
	switch {
	case k == nil:
		return &claimdlq.Error{Code: claimdlq.NotFound, Op: op}
	case k.term.Primary:
		return &claimdlq.Error{Code: claimdlq.Refused, Op: op, On: k.label(), Hint: "it is the primary term: rotate first"}
	case k.term.State == Destroyed:
		return &claimdlq.Error{Code: claimdlq.Refused, Op: op, On: k.label(), Hint: "it is destroyed already"}
	}
	return nil
}

func (k *Keyring) rotate(ctx context.Context, u use, now time.Time) (Term, error) {
	t, err := k.add(ctx, u, now)
	if err != nil {
		return Term{}, err
	}
	t.Primary = true
	return t, k.promote(u, t.ID)
}

func (k *Keyring) add(ctx context.Context, u use, now time.Time) (t Term, err error) {
	err = k.change(func(r *ring) error {
		last := uint32(0)
		for _, term := range r.terms(u) {
			last = max(last, term.ID)
		}
		nk, err := k.newKey(ctx, u, last+1, now)
		if err != nil {
			return err
		}
		r.keys, t = append(r.keys, nk), nk.term
		return nil
	})
	return t, err
}

func (k *Keyring) promote(u use, term uint32) error {
	return k.change(func(r *ring) error {
		next := r.find(u, term)
		if next == nil {
			return &claimdlq.Error{Code: claimdlq.NotFound, Op: "promote key"}
		}
		if next.term.State != Active {
			return &claimdlq.Error{Code: claimdlq.Refused, Op: "promote key", On: next.label(), Hint: "only an active term can be primary"}
		}
		r.primary(u).term.Primary = false
		next.term.Primary = true
		return nil
	})
}

// change applies f to a copy of the ring and stores the copy.
func (k *Keyring) change(f func(*ring) error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	r := k.ring.Load().clone()
	if err := f(r); err != nil {
		return err
	}
	return k.store(r)
}
