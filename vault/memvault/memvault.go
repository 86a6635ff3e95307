// Package memvault is a vault in memory for tests of the flow: the contract of
// package vault, proofs included, without encryption and without durability.
package memvault

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"claimdlq"
	"claimdlq/phi"
	"claimdlq/vault"
)

// Vault is an in-memory vault. It is safe for concurrent use.
type Vault struct {
	mu     sync.Mutex
	units  map[string]unit
	gone   map[string]bool // shredded
	closed bool
}

type unit struct{ payload, attributes phi.Bytes }

var _ vault.Vault = (*Vault)(nil)

// New returns an empty vault.
func New() *Vault { return &Vault{units: map[string]unit{}, gone: map[string]bool{}} }

// Stage implements vault.Vault. It keeps a copy of p.
func (v *Vault) Stage(p phi.Bytes) (claimdlq.PayloadRef, error) {
	return v.StageWith(p, phi.Bytes{})
}

// StageWith implements vault.Vault. It keeps copies.
func (v *Vault) StageWith(p, attributes phi.Bytes) (claimdlq.PayloadRef, error) {
	if attributes.Len() > vault.MaxAttributes {
		return claimdlq.PayloadRef{}, vault.TooMany()
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.usable(); err != nil {
		return claimdlq.PayloadRef{}, err
	}
	name := strings.ToLower(rand.Text())
	v.units[name] = unit{phi.Wrap(bytes.Clone(p.Reveal())), phi.Wrap(bytes.Clone(attributes.Reveal()))}
	return claimdlq.PayloadRef{Unit: name, Length: int64(p.Len())}, nil
}

func (v *Vault) usable() error {
	if v.closed {
		return &claimdlq.Error{Code: claimdlq.Unavailable, Op: "use vault", Err: os.ErrClosed}
	}
	return nil
}

// Create implements vault.Vault.
func (v *Vault) Create() (vault.Writer, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return &writer{v: v}, v.usable()
}

type writer struct {
	v    *Vault
	buf  bytes.Buffer
	attr phi.Bytes
	done bool
}

func (w *writer) Write(p []byte) (int, error) {
	if w.done {
		return 0, &claimdlq.Error{Code: claimdlq.Unavailable, Op: "write payload", Err: os.ErrClosed}
	}
	return w.buf.Write(p)
}

func (w *writer) Close() (claimdlq.PayloadRef, error) {
	if w.done {
		return claimdlq.PayloadRef{}, &claimdlq.Error{Code: claimdlq.Unavailable, Op: "end payload", Err: os.ErrClosed}
	}
	w.done = true
	return w.v.StageWith(phi.Wrap(w.buf.Bytes()), w.attr)
}

func (w *writer) Describe(attributes phi.Bytes) error {
	if attributes.Len() > vault.MaxAttributes {
		return vault.TooMany()
	}
	w.attr = phi.Wrap(bytes.Clone(attributes.Reveal()))
	return nil
}

func (w *writer) Abort() { w.done = true }

// Sync implements vault.Vault.
func (v *Vault) Sync(ctx context.Context) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return &claimdlq.Error{Code: claimdlq.Unavailable, Op: "sync vault", Err: err}
	}
	return v.usable()
}

// Open implements vault.Vault. Errors: Refused, NotFound, Invalid (the range is
// not within the unit).
func (v *Vault) Open(_ context.Context, ref claimdlq.PayloadRef, proof claimdlq.Proof) (phi.Bytes, error) {
	if !proof.Valid() {
		return phi.Bytes{}, &claimdlq.Error{Code: claimdlq.Refused, Op: "open payload", On: ref.Unit, Hint: "commit the audit entry first"}
	}
	u, err := v.find(ref.Unit)
	if err != nil {
		return phi.Bytes{}, err
	}
	p := u.payload
	if ref.Offset < 0 || ref.Length < 0 || ref.Offset > int64(p.Len())-ref.Length {
		return phi.Bytes{}, &claimdlq.Error{Code: claimdlq.Invalid, Op: "open payload", On: ref.Unit}
	}
	return phi.Wrap(bytes.Clone(p.Reveal()[ref.Offset:][:ref.Length])), nil
}

// Attributes implements vault.Vault. Errors: Refused, NotFound.
func (v *Vault) Attributes(_ context.Context, ref claimdlq.PayloadRef, proof claimdlq.Proof) (phi.Bytes, error) {
	if !proof.Valid() {
		return phi.Bytes{}, &claimdlq.Error{Code: claimdlq.Refused, Op: "open attributes", On: ref.Unit, Hint: "commit the audit entry first"}
	}
	u, err := v.find(ref.Unit)
	return phi.Wrap(bytes.Clone(u.attributes.Reveal())), err
}

func (v *Vault) find(name string) (unit, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.usable(); err != nil {
		return unit{}, err
	}
	u, ok := v.units[name]
	if v.gone[name] {
		return unit{}, &claimdlq.Error{Code: claimdlq.NotFound, Op: "open payload", On: name, Err: vault.ErrShredded}
	}
	if !ok {
		return unit{}, &claimdlq.Error{Code: claimdlq.NotFound, Op: "open payload", On: name}
	}
	return u, nil
}

// OpenReader implements vault.Vault.
func (v *Vault) OpenReader(ctx context.Context, ref claimdlq.PayloadRef, proof claimdlq.Proof) (io.ReadCloser, error) {
	p, err := v.Open(ctx, ref, proof)
	if err != nil {
		return nil, err
	}
	return io.NopCloser(bytes.NewReader(p.Reveal())), nil
}

// Shred implements vault.Vault.
func (v *Vault) Shred(_ context.Context, ref claimdlq.PayloadRef) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if _, ok := v.units[ref.Unit]; ok {
		v.gone[ref.Unit] = true
	}
	delete(v.units, ref.Unit)
	return v.usable()
}

// Units implements vault.Vault.
func (v *Vault) Units(_ context.Context, f func(unit string, size int64) bool) error {
	v.mu.Lock()
	sizes := map[string]int64{}
	for name, p := range v.units {
		sizes[name] = int64(p.payload.Len())
	}
	err := v.usable()
	v.mu.Unlock()
	if err != nil {
		return err
	}
	var names []string
	for name := range sizes {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if !f(name, sizes[name]) {
			return nil
		}
	}
	return nil
}

// Verify implements vault.Vault.
func (v *Vault) Verify(_ context.Context, ref claimdlq.PayloadRef) error {
	_, err := v.find(ref.Unit)
	return err
}

// Close implements vault.Vault. It releases every payload.
func (v *Vault) Close() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.closed, v.units = true, nil
	return nil
}
