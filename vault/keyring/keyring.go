package keyring

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"claimdlq"
	"claimdlq/internal/atomicfile"
)

const (
	keySize  = 32
	ringFile = "keyring.json"
	rootFile = "root.key"
	filePerm = 0o600
	dirPerm  = 0o700
)

// Keyring holds the secrets of one data directory. It is safe for concurrent
// use by one process; the data directory's lock keeps a second one out.
type Keyring struct {
	dir  string
	kms  KMS
	mu   sync.Mutex // one change at a time
	ring atomic.Pointer[ring]
}

// Options say how a keyring is opened.
type Options struct {
	// KMS wraps the secrets at rest. Default: the root key in root.key.
	KMS KMS
}

// Open opens the keyring in dir with the default options; on first use it makes
// the directory and every key. Errors: Corrupt, Refused (others may read the
// files), Unavailable.
func Open(dir string) (*Keyring, error) { return OpenWith(context.Background(), dir, Options{}) }

// OpenWith is Open with options.
func OpenWith(ctx context.Context, dir string, o Options) (*Keyring, error) {
	if err := atomicfile.MkdirAll(dir, dirPerm); err != nil {
		return nil, fileError("open keyring", err)
	}
	path := filepath.Join(dir, ringFile)
	_, err := os.Stat(path)
	fresh := errors.Is(err, fs.ErrNotExist)
	if err != nil && !fresh {
		return nil, fileError("open keyring", err)
	}
	if fresh {
		if err := neverUsed(dir); err != nil {
			return nil, err
		}
	}
	k := &Keyring{dir: dir, kms: o.KMS}
	if k.kms == nil {
		if k.kms, err = newLocal(filepath.Join(dir, rootFile), fresh); err != nil {
			return nil, err
		}
	}
	if fresh {
		err = k.create(ctx)
	} else {
		err = k.load(ctx, path)
	}
	if err != nil {
		return nil, err
	}
	return k, nil
}

// neverUsed refuses to make new keys beside data that other keys were made for:
// everything would look shredded.
func neverUsed(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fileError("open keyring", err)
	}
	for _, e := range entries {
		if name := e.Name(); name != rootFile && !strings.HasPrefix(name, ".") {
			return &claimdlq.Error{
				Code: claimdlq.Corrupt, Op: "open keyring", On: ringFile,
				Hint: "it is missing but its directory is in use: restore it from its backup",
			}
		}
	}
	return nil
}

// create makes every key, with the file system's clock for the date: this
// package reads no other.
func (k *Keyring) create(ctx context.Context) error {
	info, err := os.Stat(k.dir)
	if err != nil {
		return fileError("create keyring", err)
	}
	r := &ring{}
	for _, u := range []use{useKEK, useHMAC, useName, useAudit} {
		nk, err := k.newKey(ctx, u, 1, info.ModTime())
		if err != nil {
			return err
		}
		nk.term.Primary = true
		r.keys = append(r.keys, nk)
	}
	return k.store(r)
}

func (k *Keyring) newKey(ctx context.Context, u use, term uint32, now time.Time) (key, error) {
	nk := key{use: u, term: Term{ID: term, Created: now.UTC().Truncate(time.Millisecond), State: Active}}
	secret := random(keySize)
	if err := nk.setSecret(secret); err != nil {
		return key{}, err
	}
	var err error
	if nk.wrapped, err = k.kms.Wrap(ctx, nk.label(), secret); err != nil {
		return key{}, &claimdlq.Error{Code: claimdlq.Unavailable, Op: "wrap key", On: nk.label(), Err: err}
	}
	return nk, nil
}

// label names the key to a KMS and in errors, such as "kek/2".
func (k *key) label() string { return string(k.use) + "/" + strconv.FormatUint(uint64(k.term.ID), 10) }

// KEKs describes the key-encryption keys, oldest first.
func (k *Keyring) KEKs() []Term { return k.ring.Load().terms(useKEK) }

// HMACs describes the identity keys, oldest first.
func (k *Keyring) HMACs() []Term { return k.ring.Load().terms(useHMAC) }

// Identities returns one Identity per HMAC term that is not destroyed, the
// current one first, then newest to oldest. Each call makes new ones.
func (k *Keyring) Identities() []*claimdlq.Identity {
	r := k.ring.Load()
	out := []*claimdlq.Identity{claimdlq.NewIdentity(r.primary(useHMAC).term.ID, r.primary(useHMAC).secret())}
	for _, key := range slices.Backward(r.keys) {
		if key.use == useHMAC && !key.term.Primary && key.secret != nil {
			out = append(out, claimdlq.NewIdentity(key.term.ID, key.secret()))
		}
	}
	return out
}

// NameCipher returns the block cipher that turns a unit's location into its
// name and back. Its key has no terms: names rest in records.
func (k *Keyring) NameCipher() (cipher.Block, error) {
	b, err := aes.NewCipher(k.ring.Load().primary(useName).secret())
	if err != nil {
		return nil, &claimdlq.Error{Code: claimdlq.Internal, Op: "make cipher", Err: err}
	}
	return b, nil
}

// Primary returns the term that WrapKey uses now.
func (k *Keyring) Primary() uint32 { return k.ring.Load().primary(useKEK).term.ID }

// WrapOverhead is how many bytes longer a wrapped key is: nonce and tag.
const WrapOverhead = 28

// WrapKey appends dek, wrapped under the primary term and bound to aad and the
// term, to dst. aad may be written to behind its length.
func (k *Keyring) WrapKey(dst, dek, aad []byte) (term uint32, wrapped []byte) {
	p := k.ring.Load().primary(useKEK)
	return p.term.ID, p.aead().Seal(dst, nil, dek, withTerm(aad, p.term.ID)) //nolint:gosec // no nonce is passed: the cipher draws one
}

// UnwrapKey appends the data key to dst. Errors: NotFound (no such term, or
// destroyed), Corrupt (not what WrapKey returned for this aad and term).
func (k *Keyring) UnwrapKey(dst []byte, term uint32, wrapped, aad []byte) ([]byte, error) {
	key := k.ring.Load().find(useKEK, term)
	if key == nil || key.aead == nil {
		return nil, &claimdlq.Error{Code: claimdlq.NotFound, Op: "unwrap data key", On: "kek/" + strconv.FormatUint(uint64(term), 10)}
	}
	out, err := key.aead().Open(dst, nil, wrapped, withTerm(aad, term))
	if err != nil {
		return nil, &claimdlq.Error{Code: claimdlq.Corrupt, Op: "unwrap data key", On: key.label()}
	}
	return out, nil
}

func withTerm(aad []byte, term uint32) []byte {
	return append(aad, byte(term), byte(term>>8), byte(term>>16), byte(term>>24))
}

// private refuses a file that others may read (45 CFR 164.312(a)(1)).
func private(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fileError("open keyring", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return &claimdlq.Error{
			Code: claimdlq.Refused, Op: "open keyring", On: filepath.Base(path),
			Hint: "others may read it: chmod 600 it, then rotate its keys",
		}
	}
	return nil
}

// fileError leaves out the path, which may be long and says nothing new, and
// keeps the cause.
func fileError(op string, err error) error {
	code := claimdlq.Unavailable
	if errors.Is(err, fs.ErrNotExist) {
		code = claimdlq.NotFound
	}
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return &claimdlq.Error{Code: code, Op: op, On: filepath.Base(pe.Path), Err: pe.Err}
	}
	return &claimdlq.Error{Code: code, Op: op, Err: err}
}
