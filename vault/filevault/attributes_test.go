package filevault_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"claimdlq"
	"claimdlq/phi"
	"claimdlq/vault/filevault"
	"claimdlq/vault/vaulttest"
)

func stageWith(t testing.TB, b *bundle, p, attributes []byte) claimdlq.PayloadRef {
	t.Helper()
	ref, err := b.StageWith(phi.Wrap(p), phi.Wrap(attributes))
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

// TestVault_FindsAChangeOfAnyByteOfAttributes changes every byte of a unit that has
// attributes: Attributes refuses what is theirs or the slot's, and Verify everything.
func TestVault_FindsAChangeOfAnyByteOfAttributes(t *testing.T) {
	t.Parallel()
	b := setup(t, filevault.Options{})
	about := []byte("TEST attributes")
	ref := stageWith(t, b, vaulttest.Payload(1, 100), about)
	b.reopen(t)
	chunk, slots := files(t, b.dir, ".chunk")[0], files(t, b.keys, ".slots")[0]
	for _, path := range []string{chunk, slots} {
		good := read(t, path)
		for i := head; i < len(good); i++ {
			bad := bytes.Clone(good)
			bad[i] ^= 1 << (i % 8)
			write(t, path, bad)
			if err := b.Verify(t.Context(), ref); !errors.Is(err, claimdlq.Corrupt) {
				t.Fatalf("byte %d: verify: %v", i, err)
			}
			ours := path == slots || i >= head+100+28
			if _, err := b.Attributes(t.Context(), ref, vaulttest.Proof); ours != errors.Is(err, claimdlq.Corrupt) {
				t.Fatalf("byte %d: attributes: %v", i, err)
			}
		}
		write(t, path, good)
	}
	if got, err := b.Attributes(t.Context(), ref, vaulttest.Proof); err != nil || !bytes.Equal(got.Reveal(), about) {
		t.Fatal(err)
	}
}

func TestVault_AttributesAreOfTheirUnitAndLength(t *testing.T) {
	t.Parallel()
	b := setup(t, filevault.Options{})
	one := stageWith(t, b, vaulttest.Payload(1, 50), []byte("TEST one"))
	two := stageWith(t, b, vaulttest.Payload(2, 50), []byte("TEST two"))
	none := stage(t, b, vaulttest.Payload(3, 50))
	b.reopen(t)
	chunk, slots := files(t, b.dir, ".chunk")[0], files(t, b.keys, ".slots")[0]
	good := read(t, chunk)
	const unit, payload = 50 + 28 + 8 + 28, 50 + 28
	swapped := slices.Concat(good[:head+payload], good[head+unit+payload:head+2*unit], good[head+unit:])
	write(t, chunk, swapped)
	if _, err := b.Attributes(t.Context(), one, vaulttest.Proof); !errors.Is(err, claimdlq.Corrupt) {
		t.Errorf("those of another unit: %v", err)
	}
	write(t, chunk, good)
	keys := read(t, slots)
	for i, n := range []uint32{0, 7, 9} { // said to have none, fewer, more
		forged := bytes.Clone(keys)
		binary.LittleEndian.PutUint32(forged[head+104:], n)
		write(t, slots, withSum(forged, head))
		if err := b.Verify(t.Context(), one); !errors.Is(err, claimdlq.Corrupt) {
			t.Errorf("%d: length %d: %v", i, n, err)
		}
	}
	forged := bytes.Clone(keys)
	binary.LittleEndian.PutUint32(forged[3*head+104:], 1)
	write(t, slots, withSum(forged, 3*head))
	if _, err := b.Attributes(t.Context(), none, vaulttest.Proof); !errors.Is(err, claimdlq.Corrupt) {
		t.Errorf("a unit that has none: %v", err)
	}
	write(t, slots, keys)
	if got, err := b.Attributes(t.Context(), two, vaulttest.Proof); err != nil || string(got.Reveal()) != "TEST two" {
		t.Error(err)
	}
}

func TestVault_AttributesSurviveARotationAndNotAShredding(t *testing.T) {
	t.Parallel()
	b := setup(t, filevault.Options{})
	kept, gone := stageWith(t, b, vaulttest.Payload(1, 50), []byte("TEST kept")), stageWith(t, b, nil, []byte("TEST gone"))
	if err := b.Shred(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	rotate(t, b)
	b.reopen(t)
	if got, err := b.Attributes(t.Context(), kept, vaulttest.Proof); err != nil || string(got.Reveal()) != "TEST kept" {
		t.Error(err)
	}
	if _, err := b.Attributes(t.Context(), gone, vaulttest.Proof); !errors.Is(err, claimdlq.NotFound) {
		t.Error(err)
	}
}

// What a wrapped key was bound to before there were attributes must not change, or
// every older unit would look damaged.
func TestVault_AUnitWithoutAttributesIsBoundAsBefore(t *testing.T) {
	t.Parallel()
	want := slices.Concat(bytes.Repeat([]byte{'n'}, 26), []byte{
		3,          // single, small
		2, 0, 0, 0, // file
		3, 0, 0, 0, 0, 0, 0, 0, // offset
		4, 0, 0, 0, 0, 0, 0, 0, // size
	})
	if got := filevault.BoundTo(0); !bytes.Equal(got, want) {
		t.Errorf("bound to %v, before %v", got, want)
	}
	if got := filevault.BoundTo(5); len(got) != len(want)+4 || got[26] != 7 {
		t.Errorf("with attributes bound to %v", got)
	}
}
