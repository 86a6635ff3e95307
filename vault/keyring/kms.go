package keyring

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"

	"claimdlq"
	"claimdlq/internal/atomicfile"
)

// KMS protects the keyring's secrets at rest. It is called when a keyring is
// opened and when a term is added, never per payload. label names the secret
// ("kek/2"); what was wrapped under one label must not unwrap under another.
type KMS interface {
	// Wrap encrypts a secret of at most 256 bytes.
	Wrap(ctx context.Context, label string, secret []byte) ([]byte, error)
	// Unwrap decrypts what Wrap returned, or fails.
	Unwrap(ctx context.Context, label string, wrapped []byte) ([]byte, error)
}

// local is the default KMS: AES-256-GCM under a root key from a file.
type local struct{ aead func() cipher.AEAD }

// newLocal reads the root key at path, or makes one if create is set and there is none.
func newLocal(path string, create bool) (*local, error) {
	key, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && create {
		key = random(keySize)
		err = atomicfile.WriteFile(path, key, filePerm)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &claimdlq.Error{Code: claimdlq.Corrupt, Op: "open root key", Hint: "it is missing: restore root.key from its backup"}
	}
	if err != nil {
		return nil, fileError("open root key", err)
	}
	if err := private(path); err != nil {
		return nil, err
	}
	if len(key) != keySize {
		return nil, &claimdlq.Error{Code: claimdlq.Corrupt, Op: "open root key", Hint: "restore root.key from its backup"}
	}
	aead, err := newAEAD(key)
	if err != nil {
		return nil, err
	}
	return &local{func() cipher.AEAD { return aead }}, nil
}

func (l *local) Wrap(_ context.Context, label string, secret []byte) ([]byte, error) {
	return l.aead().Seal(nil, nil, secret, []byte(label)), nil //nolint:gosec // no nonce is passed: the cipher draws one
}

func (l *local) Unwrap(_ context.Context, label string, wrapped []byte) ([]byte, error) {
	return l.aead().Open(nil, nil, wrapped, []byte(label))
}

// newAEAD returns AES-256-GCM that draws its own random nonces, the only kind
// that FIPS 140-3 mode allows outside of protocols.
func newAEAD(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err == nil {
		var aead cipher.AEAD
		if aead, err = cipher.NewGCMWithRandomNonce(block); err == nil {
			return aead, nil
		}
	}
	return nil, &claimdlq.Error{Code: claimdlq.Internal, Op: "make cipher", Err: err}
}

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // crypto/rand.Read never fails: it ends the process instead
	return b
}
