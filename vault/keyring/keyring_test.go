package keyring_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"claimdlq"
	"claimdlq/vault/keyring"
)

var (
	now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	dek = bytes.Repeat([]byte{7}, 32)
)

func open(t *testing.T, dir string) *keyring.Keyring {
	t.Helper()
	k, err := keyring.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestOpen_CreatesOnceAndReopensTheSameKeys(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "keys")
	a := open(t, dir)
	term, wrapped := a.WrapKey(nil, dek, []byte("unit"))
	if len(wrapped) != len(dek)+keyring.WrapOverhead {
		t.Fatalf("wrapped key has %d bytes", len(wrapped))
	}
	b := open(t, dir)
	got, err := b.UnwrapKey(nil, term, wrapped, []byte("unit"))
	if err != nil || !bytes.Equal(got, dek) {
		t.Fatalf("unwrap after reopen: %v", err)
	}
	if a.Identities()[0].Key("d", []byte("x")) != b.Identities()[0].Key("d", []byte("x")) {
		t.Fatal("identities differ after reopen")
	}
	if must[string](t)(a.VerifierKey()) != must[string](t)(b.VerifierKey()) {
		t.Fatal("audit keys differ after reopen")
	}
	if a.KEKs()[0].Created.IsZero() {
		t.Fatal("a term without a date")
	}
}

func TestOpen_FilesArePrivate(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "keys")
	open(t, dir)
	for name, want := range map[string]os.FileMode{".": 0o700, "keyring.json": 0o600, "root.key": 0o600} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want %v", name, info.Mode().Perm(), err, want)
		}
	}
	for _, name := range []string{"keyring.json", "root.key"} {
		path := filepath.Join(dir, name)
		if err := os.Chmod(path, 0o640); err != nil {
			t.Fatal(err)
		}
		if _, err := keyring.Open(dir); !errors.Is(err, claimdlq.Refused) {
			t.Errorf("%s readable by the group: %v; want refused", name, err)
		}
		if err := os.Chmod(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestOpen_RefusesDamage(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		damage func(dir string) error
		want   claimdlq.Code
	}{
		"ring missing beside data": {func(d string) error {
			return errors.Join(os.Remove(filepath.Join(d, "keyring.json")), os.WriteFile(filepath.Join(d, "x.slots"), nil, 0o600))
		}, claimdlq.Corrupt},
		"root missing":  {func(d string) error { return os.Remove(filepath.Join(d, "root.key")) }, claimdlq.Corrupt},
		"root replaced": {func(d string) error { return os.WriteFile(filepath.Join(d, "root.key"), dek, 0o600) }, claimdlq.Corrupt},
		"root short":    {func(d string) error { return os.WriteFile(filepath.Join(d, "root.key"), dek[1:], 0o600) }, claimdlq.Corrupt},
		"ring garbled":  {func(d string) error { return os.WriteFile(filepath.Join(d, "keyring.json"), []byte("{"), 0o600) }, claimdlq.Corrupt},
		"ring without keys": {func(d string) error {
			return os.WriteFile(filepath.Join(d, "keyring.json"), []byte(`{"version":1}`), 0o600)
		}, claimdlq.Corrupt},
		"secrets swapped": {func(d string) error {
			p := filepath.Join(d, "keyring.json")
			b, err := os.ReadFile(p)
			s := strings.NewReplacer(`"kek"`, `"hmac"`, `"hmac"`, `"kek"`).Replace(string(b))
			return errors.Join(err, os.WriteFile(p, []byte(s), 0o600))
		}, claimdlq.Corrupt},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "keys")
			open(t, dir)
			if err := tc.damage(dir); err != nil {
				t.Fatal(err)
			}
			k, err := keyring.Open(dir)
			if !errors.Is(err, tc.want) || k != nil {
				t.Fatalf("got %v, %v; want %v", k, err, tc.want)
			}
		})
	}
}

func TestOpen_AfterACrashBetweenRootAndRing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "root.key"), dek, 0o600); err != nil {
		t.Fatal(err)
	}
	open(t, dir)
}

func TestUnwrapKey_HoldsToUnitAndTerm(t *testing.T) {
	t.Parallel()
	k := open(t, t.TempDir())
	term, wrapped := k.WrapKey(nil, dek, []byte("unit"))
	second := must[keyring.Term](t)(k.RotateKEK(t.Context(), now)).ID
	flipped := bytes.Clone(wrapped)
	flipped[0] ^= 1
	for name, tc := range map[string]struct {
		term         uint32
		wrapped, aad []byte
		want         claimdlq.Code
	}{
		"another unit": {term, wrapped, []byte("unis"), claimdlq.Corrupt},
		"another term": {second, wrapped, []byte("unit"), claimdlq.Corrupt},
		"no such term": {9, wrapped, []byte("unit"), claimdlq.NotFound},
		"flipped":      {term, flipped, []byte("unit"), claimdlq.Corrupt},
		"cut":          {term, wrapped[:59], []byte("unit"), claimdlq.Corrupt},
		"empty":        {term, nil, []byte("unit"), claimdlq.Corrupt},
	} {
		if got, err := k.UnwrapKey(nil, tc.term, tc.wrapped, tc.aad); !errors.Is(err, tc.want) || got != nil {
			t.Errorf("%s: %v; want %v", name, err, tc.want)
		}
	}
}

func TestRotateKEK_OldTermsUnwrapUntilDestroyed(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "keys")
	k := open(t, dir)
	old, wrapped := k.WrapKey(nil, dek, nil)

	added := must[keyring.Term](t)(k.AddKEK(t.Context(), now))
	if k.Primary() != old || added.ID != old+1 || !added.Created.Equal(now) {
		t.Fatalf("an added term must not be primary yet: %+v", added)
	}
	if err := k.PromoteKEK(added.ID); err != nil {
		t.Fatal(err)
	}
	if term, _ := k.WrapKey(nil, dek, nil); term != added.ID {
		t.Fatalf("wrapped under %d; want %d", term, added.ID)
	}
	if err := k.DestroyKEK(old); !errors.Is(err, claimdlq.Refused) {
		t.Fatalf("destroyed an active term: %v", err)
	}
	if err := k.RetireKEK(added.ID); !errors.Is(err, claimdlq.Refused) {
		t.Fatalf("retired the primary term: %v", err)
	}
	if err := k.RetireKEK(old); err != nil {
		t.Fatal(err)
	}
	k = open(t, dir)
	if got, err := k.UnwrapKey(nil, old, wrapped, nil); err != nil || !bytes.Equal(got, dek) {
		t.Fatalf("a retired term must unwrap: %v", err)
	}
	if err := k.PromoteKEK(old); !errors.Is(err, claimdlq.Refused) {
		t.Fatalf("promoted a retired term: %v", err)
	}
	if err := k.DestroyKEK(old); err != nil {
		t.Fatal(err)
	}
	for _, k := range []*keyring.Keyring{k, open(t, dir)} {
		if _, err := k.UnwrapKey(nil, old, wrapped, nil); !errors.Is(err, claimdlq.NotFound) {
			t.Fatalf("a destroyed term unwrapped: %v", err)
		}
		if s := k.KEKs(); s[0].State != keyring.Destroyed || s[1].State != keyring.Active || !s[1].Primary {
			t.Fatalf("states: %+v", s)
		}
	}
	if err := k.DestroyKEK(old); !errors.Is(err, claimdlq.Refused) {
		t.Fatalf("destroyed twice: %v", err)
	}
	if err := k.RetireKEK(77); !errors.Is(err, claimdlq.NotFound) {
		t.Fatalf("retired nothing: %v", err)
	}
}

func TestDestroyKEK_OverwritesTheFileThatHeldIt(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "keys")
	k := open(t, dir)
	old := k.Primary()
	must[keyring.Term](t)(k.RotateKEK(t.Context(), now))
	if err := k.RetireKEK(old); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "kept")
	if err := os.Link(filepath.Join(dir, "keyring.json"), link); err != nil {
		t.Fatal(err)
	}
	if err := k.DestroyKEK(old); err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(link)
	if err != nil || len(bytes.Trim(kept, "\x00")) != 0 {
		t.Fatalf("the replaced file still has %d bytes of content, %v", len(bytes.Trim(kept, "\x00")), err)
	}
}

func TestRotateHMAC_CurrentIsFirstAndOldOnesStay(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "keys")
	k := open(t, dir)
	first := k.Identities()[0].Key("d", []byte("x"))
	for range 2 {
		must[keyring.Term](t)(k.RotateHMAC(t.Context(), now))
	}
	ids := open(t, dir).Identities()
	if len(ids) != 3 || ids[0].Term != 3 || ids[1].Term != 2 || ids[2].Term != 1 {
		t.Fatalf("terms in the wrong order: %d identities", len(ids))
	}
	if ids[2].Key("d", []byte("x")) != first || ids[0].Key("d", []byte("x")) == first {
		t.Fatal("a term changed its secret, or did not get a new one")
	}
	if s := k.HMACs(); s[0].State != keyring.Retired || s[1].State != keyring.Retired || s[2].State != keyring.Active {
		t.Fatalf("states: %+v", s)
	}
}

// memKMS is a KMS that somebody else runs.
type memKMS struct{ fail bool }

func (m *memKMS) Wrap(_ context.Context, label string, secret []byte) ([]byte, error) {
	if m.fail {
		return nil, errors.New("unreachable")
	}
	return append([]byte(label+"="), secret...), nil
}

func (m *memKMS) Unwrap(_ context.Context, label string, wrapped []byte) ([]byte, error) {
	if out, ok := bytes.CutPrefix(wrapped, []byte(label+"=")); ok && !m.fail {
		return out, nil
	}
	return nil, errors.New("denied")
}

func TestOpenWith_AKMSReplacesTheRootKey(t *testing.T) {
	t.Parallel()
	dir, kms := filepath.Join(t.TempDir(), "keys"), &memKMS{}
	k, err := keyring.OpenWith(t.Context(), dir, keyring.Options{KMS: kms})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "root.key")); !os.IsNotExist(err) {
		t.Fatalf("a root key was made: %v", err)
	}
	if _, err := keyring.OpenWith(t.Context(), dir, keyring.Options{KMS: kms}); err != nil {
		t.Fatal(err)
	}
	kms.fail = true
	if _, err := k.RotateKEK(t.Context(), now); !errors.Is(err, claimdlq.Unavailable) || len(k.KEKs()) != 1 {
		t.Fatalf("rotated without the KMS: %v", err)
	}
	if _, err := keyring.OpenWith(t.Context(), dir, keyring.Options{KMS: kms}); !errors.Is(err, claimdlq.Corrupt) {
		t.Fatalf("opened without the KMS: %v", err)
	}
}

func TestSigner_SignsWhatTheVerifierKeyVerifies(t *testing.T) {
	t.Parallel()
	k := open(t, t.TempDir())
	s := must[note.Signer](t)(k.Signer())
	signed := must[[]byte](t)(note.Sign(&note.Note{Text: "a\n"}, s))
	v := must[note.Verifier](t)(note.NewVerifier(must[string](t)(k.VerifierKey())))
	if _, err := note.Open(signed, note.VerifierList(v)); err != nil {
		t.Fatal(err)
	}
}

// fixedKMS hands out what it wrapped, so that a test knows every secret.
type fixedKMS struct{ secrets [][]byte }

func (f *fixedKMS) Wrap(_ context.Context, _ string, secret []byte) ([]byte, error) {
	f.secrets = append(f.secrets, bytes.Clone(secret))
	return []byte("wrapped"), nil
}

func (f *fixedKMS) Unwrap(context.Context, string, []byte) ([]byte, error) { return nil, nil }

func TestKeyring_NoVerbPrintsASecret(t *testing.T) {
	t.Parallel()
	kms := &fixedKMS{}
	k, err := keyring.OpenWith(t.Context(), t.TempDir(), keyring.Options{KMS: kms})
	if err != nil {
		t.Fatal(err)
	}
	type holder struct {
		k *keyring.Keyring
		s note.Signer
	}
	h := holder{k, must[note.Signer](t)(k.Signer())}
	for _, v := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		out := strings.ToLower(fmt.Sprintf(v+v+v+v, k, h, &h, h.s))
		for _, s := range kms.secrets {
			dec := strings.Trim(fmt.Sprint(s), "[]")
			hexes := strings.TrimSuffix(strings.ReplaceAll(fmt.Sprintf("%#v", s), "[]byte{", ""), "}")
			for _, form := range []string{hex.EncodeToString(s), string(s), dec, hexes} {
				if strings.Contains(out, strings.ToLower(form)) {
					t.Fatalf("%s prints a secret", v)
				}
			}
		}
	}
	if got := fmt.Sprint(k); got != "[keyring, kek term 1]" {
		t.Fatalf("got %s", got)
	}
}
