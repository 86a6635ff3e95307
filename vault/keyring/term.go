package keyring

import (
	"crypto/cipher"
	"time"

	"claimdlq"
)

// State is where a term stands.
type State string

// The states of a term.
const (
	// Active: unwraps; the primary one of the active terms also wraps.
	Active State = "active"
	// Retired: unwraps and is looked up with, and makes nothing new.
	Retired State = "retired"
	// Destroyed: the secret is gone.
	Destroyed State = "destroyed"
)

// Term describes one key, without its secret.
type Term struct {
	ID      uint32    `json:"term"`
	Created time.Time `json:"created"`
	State   State     `json:"state"`
	Primary bool      `json:"primary,omitempty"`
}

// use says what a key is for. It is part of the label a KMS binds a secret to.
type use string

const (
	useKEK   use = "kek"
	useHMAC  use = "hmac"
	useName  use = "name"
	useAudit use = "audit"
)

// key is one secret with its description. The secret sits in closures, not in
// fields: fmt and reflect print unexported fields without calling any method.
type key struct {
	use  use
	term Term
	// wrapped is the secret as the KMS returned it; nil once destroyed.
	wrapped []byte
	// secret returns the bytes; nil once destroyed.
	secret func() []byte
	// aead is the cipher of a key-encryption key.
	aead func() cipher.AEAD
}

func (k *key) setSecret(b []byte) error {
	k.secret = func() []byte { return b }
	if k.use != useKEK {
		return nil
	}
	aead, err := newAEAD(b)
	if err != nil {
		return err
	}
	k.aead = func() cipher.AEAD { return aead }
	return nil
}

// ring is one immutable state of the keyring; a change makes a new one.
type ring struct{ keys []key }

// find returns the key with the use and term, or nil.
func (r *ring) find(u use, term uint32) *key {
	for i := range r.keys {
		if k := &r.keys[i]; k.use == u && k.term.ID == term {
			return k
		}
	}
	return nil
}

// primary returns the primary key of the use; every ring has one of each use.
func (r *ring) primary(u use) *key {
	for i := range r.keys {
		if k := &r.keys[i]; k.use == u && k.term.Primary {
			return k
		}
	}
	return nil
}

func (r *ring) terms(u use) (out []Term) {
	for _, k := range r.keys {
		if k.use == u {
			out = append(out, k.term)
		}
	}
	return out
}

// clone returns a ring whose keys can be changed without changing r.
func (r *ring) clone() *ring { return &ring{keys: append([]key(nil), r.keys...)} }

func (r *ring) valid() error {
	for _, u := range []use{useKEK, useHMAC, useName, useAudit} {
		primaries := 0
		for _, k := range r.keys {
			if k.use == u && k.term.Primary && k.term.State == Active {
				primaries++
			}
		}
		if primaries != 1 {
			return &claimdlq.Error{Code: claimdlq.Corrupt, Op: "open keyring", On: string(u), Hint: "restore keyring.json from its backup"}
		}
	}
	return nil
}
