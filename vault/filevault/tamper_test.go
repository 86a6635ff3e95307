package filevault_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"claimdlq"
	"claimdlq/phi"
	"claimdlq/vault/filevault"
	"claimdlq/vault/vaulttest"
)

const (
	frame = 1<<20 + 28 // of ciphertext
	head  = 128        // header of every file, and size of a slot
)

func stage(t testing.TB, b *bundle, p []byte) claimdlq.PayloadRef {
	t.Helper()
	ref, err := b.Stage(phi.Wrap(p))
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

// stream stages p through a Writer.
func stream(t testing.TB, b *bundle, p []byte) claimdlq.PayloadRef {
	t.Helper()
	w, err := b.Create()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(p); err != nil {
		t.Fatal(err)
	}
	ref, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

func flush(t testing.TB, b *bundle) {
	t.Helper()
	if err := b.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// reopen closes and opens everything, so that no handle and no key is left over.
func (b *bundle) reopen(t testing.TB) {
	t.Helper()
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	b.open(t)
}

func files(t testing.TB, dir, ext string) []string {
	t.Helper()
	out, err := filepath.Glob(filepath.Join(dir, "*"+ext))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return out
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func write(t testing.TB, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func intact(t testing.TB, b *bundle, ref claimdlq.PayloadRef, want []byte) {
	t.Helper()
	got, err := b.Vault.Open(t.Context(), ref, vaulttest.Proof)
	if err != nil || !bytes.Equal(got.Reveal(), want) {
		t.Fatalf("unit is not intact: %d bytes, %v", got.Len(), err)
	}
}

// broken expects that neither reading nor verifying the unit succeeds.
func broken(t testing.TB, b *bundle, ref claimdlq.PayloadRef, what string, codes ...claimdlq.Code) {
	t.Helper()
	got, err := b.Vault.Open(t.Context(), ref, vaulttest.Proof)
	if !slices.ContainsFunc(codes, func(c claimdlq.Code) bool { return errors.Is(err, c) }) || got.Len() != 0 {
		t.Fatalf("%s: open: %v; want %v", what, err, codes)
	}
	if err := b.Verify(t.Context(), ref); err == nil {
		t.Fatalf("%s: verified", what)
	}
}

// TestVault_FindsAChangeOfAnyByte changes every byte that belongs to a small unit:
// its ciphertext, and its key slot.
func TestVault_FindsAChangeOfAnyByte(t *testing.T) {
	t.Parallel()
	b := setup(t, filevault.Options{})
	ref := stage(t, b, vaulttest.Payload(1, 100))
	b.reopen(t) // without the zeros ahead, which nobody needs to guard
	chunk, slots := files(t, b.dir, ".chunk")[0], files(t, b.keys, ".slots")[0]
	for _, path := range []string{chunk, slots} {
		good := read(t, path)
		for i := head; i < len(good); i++ {
			bad := bytes.Clone(good)
			bad[i] ^= 1 << (i % 8)
			write(t, path, bad)
			broken(t, b, ref, filepath.Base(path), claimdlq.Corrupt)
		}
		for n := head; n < len(good); n++ {
			write(t, path, good[:n])
			broken(t, b, ref, filepath.Base(path)+" cut", claimdlq.Corrupt, claimdlq.NotFound)
		}
		write(t, path, good)
	}
	intact(t, b, ref, vaulttest.Payload(1, 100))
}

func TestVault_FindsFramesThatWereMoved(t *testing.T) {
	t.Parallel()
	b := setup(t, filevault.Options{})
	p := vaulttest.Payload(1, 3<<20) // three whole frames
	ref, other := stream(t, b, p), stream(t, b, vaulttest.Payload(2, 3<<20))
	flush(t, b)
	paths := files(t, b.dir, ".unit")
	good, theirs := read(t, paths[0]), read(t, paths[1])
	part := func(b []byte, n int) []byte { return b[head+n*frame:][:frame] }
	for what, bad := range map[string][]byte{
		"two frames swapped":       slices.Concat(good[:head], part(good, 1), part(good, 0), part(good, 2)),
		"a frame doubled":          slices.Concat(good[:head], part(good, 0), part(good, 0), part(good, 2)),
		"the last frame cut off":   good[:head+2*frame],
		"the last frame in front":  slices.Concat(good[:head], part(good, 2), part(good, 0), part(good, 1)),
		"a frame of another unit":  slices.Concat(good[:head], part(good, 0), part(theirs, 1), part(good, 2)),
		"the file of another unit": theirs,
		"nothing":                  nil,
	} {
		write(t, paths[0], bad)
		broken(t, b, ref, what, claimdlq.Corrupt)
	}
	if err := os.Remove(paths[0]); err != nil {
		t.Fatal(err)
	}
	b.reopen(t)
	broken(t, b, ref, "file removed", claimdlq.Corrupt)
	intact(t, b, other, vaulttest.Payload(2, 3<<20))
}

func TestVault_FindsSlotsThatWereMoved(t *testing.T) {
	t.Parallel()
	b := setup(t, filevault.Options{})
	one, two := stage(t, b, vaulttest.Payload(1, 50)), stage(t, b, vaulttest.Payload(2, 50))
	flush(t, b)
	path := files(t, b.keys, ".slots")[0]
	good := read(t, path)
	write(t, path, slices.Concat(good[:head], good[2*head:3*head], good[head:2*head]))
	broken(t, b, one, "swapped", claimdlq.NotFound)
	broken(t, b, two, "swapped", claimdlq.NotFound)
	// The random part is in the clear: with it in the right place, the key still
	// belongs to the other unit.
	forged := bytes.Clone(good)
	copy(forged[head+44:head+44+60], good[2*head+44:])
	write(t, path, withSum(forged, head))
	broken(t, b, one, "key of another unit", claimdlq.Corrupt)
	forged = bytes.Clone(good)
	copy(forged[head+8:head+32], good[2*head+8:2*head+32])
	write(t, path, withSum(forged, head))
	broken(t, b, one, "place of another unit", claimdlq.Corrupt)
	intact(t, b, two, vaulttest.Payload(2, 50))
}

// withSum gives the slot at off its right checksum.
func withSum(b []byte, off int) []byte {
	sum := filevault.SlotSum(b[off : off+124])
	copy(b[off+124:], sum[:])
	return b
}

func TestVault_AnotherKeyringOpensNothing(t *testing.T) {
	t.Parallel()
	b, other := setup(t, filevault.Options{}), setup(t, filevault.Options{})
	ref := stage(t, b, vaulttest.Payload(1, 50))
	flush(t, b)
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	for _, path := range append(files(t, b.dir, ".chunk"), files(t, b.keys, ".slots")...) {
		dir := other.dir
		if strings.HasSuffix(path, ".slots") {
			dir = other.keys
		}
		write(t, filepath.Join(dir, filepath.Base(path)), read(t, path))
	}
	other.open(t)
	broken(t, other, ref, "another keyring", claimdlq.NotFound)
}

func TestVault_FilesShowNothing(t *testing.T) {
	t.Parallel()
	b := setup(t, filevault.Options{})
	canary := []byte("CANARY-MEMBER-ID-0001")
	stage(t, b, canary)
	stream(t, b, bytes.Repeat(canary, 80_000))
	stage(t, b, bytes.Repeat(canary, 80_000))
	flush(t, b)
	for _, dir := range []string{b.dir, b.keys} {
		info, err := os.Stat(dir)
		if err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: mode %v", filepath.Base(dir), info.Mode())
		}
		for _, path := range files(t, dir, "*") {
			info, err := os.Stat(path)
			if err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: mode %v", filepath.Base(path), info.Mode())
			}
			if bytes.Contains(read(t, path), canary[:12]) {
				t.Errorf("%s shows the payload", filepath.Base(path))
			}
		}
	}
	// The same content twice is not the same ciphertext.
	raw := read(t, files(t, b.dir, ".chunk")[0])
	if bytes.Count(raw, raw[head:head+16]) != 1 {
		t.Error("ciphertext repeats")
	}
}
