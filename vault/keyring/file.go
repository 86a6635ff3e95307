package keyring

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"claimdlq"
	"claimdlq/internal/atomicfile"
)

// file is keyring.json.
type file struct {
	Version int       `json:"version"`
	Keys    []fileKey `json:"keys"`
}

type fileKey struct {
	Use use `json:"use"`
	Term
	Wrapped []byte `json:"wrapped,omitempty"`
}

// load reads keyring.json and unwraps every secret that is not destroyed.
func (k *Keyring) load(ctx context.Context, path string) error {
	if err := private(path); err != nil {
		return err
	}
	if err := atomicfile.Sweep(k.dir); err != nil {
		return fileError("open keyring", err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return fileError("open keyring", err)
	}
	var f file
	if err := json.Unmarshal(raw, &f); err != nil || f.Version != 1 {
		return &claimdlq.Error{Code: claimdlq.Corrupt, Op: "open keyring", On: ringFile, Hint: "restore it from its backup"}
	}
	r := &ring{}
	for _, fk := range f.Keys {
		nk := key{use: fk.Use, term: fk.Term, wrapped: fk.Wrapped}
		if fk.State != Destroyed {
			secret, err := k.kms.Unwrap(ctx, nk.label(), fk.Wrapped)
			if err != nil || len(secret) != keySize {
				return &claimdlq.Error{
					Code: claimdlq.Corrupt, Op: "open keyring", On: nk.label(),
					Hint: "its root key or KMS does not fit: restore both from one backup",
				}
			}
			if err := nk.setSecret(secret); err != nil {
				return err
			}
		}
		r.keys = append(r.keys, nk)
	}
	if err := r.valid(); err != nil {
		return err
	}
	k.ring.Store(r)
	return nil
}

// store makes r durable and then current.
func (k *Keyring) store(r *ring) error {
	f := file{Version: 1}
	for _, key := range r.keys {
		f.Keys = append(f.Keys, fileKey{Use: key.use, Term: key.term, Wrapped: key.wrapped})
	}
	raw, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return &claimdlq.Error{Code: claimdlq.Internal, Op: "write keyring", Err: err}
	}
	if err := atomicfile.WriteFile(filepath.Join(k.dir, ringFile), append(raw, '\n'), filePerm); err != nil {
		return fileError("write keyring", err)
	}
	k.ring.Store(r)
	return nil
}

// String names the keyring without any secret.
func (k *Keyring) String() string { return fmt.Sprintf("[keyring, kek term %d]", k.Primary()) }

// Format implements fmt.Formatter for every verb.
func (k *Keyring) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, k.String()) }

// LogValue implements slog.LogValuer.
func (k *Keyring) LogValue() slog.Value { return slog.StringValue(k.String()) }
