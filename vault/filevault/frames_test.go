package filevault_test

import (
	"bytes"
	"slices"
	"testing"

	"claimdlq"
	"claimdlq/vault/filevault"
	"claimdlq/vault/vaulttest"
)

const smallFrame = 8 << 10 // plaintext of a small frame

// TestVault_OpensRangesOfUnitsOfEverySizeOfFrames opens ranges that begin and end at,
// before and behind the edges of frames, of units of both kinds.
func TestVault_OpensRangesOfUnitsOfEverySizeOfFrames(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, smallFrame - 1, smallFrame, smallFrame + 1, 2 * smallFrame, 2*smallFrame + 1, 4 * smallFrame, 4*smallFrame + 1, 6 * smallFrame, 100_000, 1 << 20, 1<<20 + 1} {
		b := setup(t, filevault.Options{})
		p := vaulttest.Payload(size, size)
		today := stage(t, b, p)
		before, err := b.StageAsBefore(p)
		if err != nil {
			t.Fatal(err)
		}
		flush(t, b)
		b.reopen(t)
		edges := []int{0, 1, smallFrame - 1, smallFrame, smallFrame + 1, 2 * smallFrame, 5*smallFrame - 1, size / 2, size - smallFrame, size - 1, size}
		for _, ref := range []claimdlq.PayloadRef{today, before} {
			intact(t, b, ref, p)
			for _, from := range edges {
				for _, to := range edges {
					if from < 0 || to < from || to > size {
						continue
					}
					part := ref
					part.Offset, part.Length = int64(from), int64(to-from)
					intact(t, b, part, p[from:to])
				}
			}
			if err := b.Verify(t.Context(), ref); err != nil {
				t.Errorf("%d bytes: %v", size, err)
			}
		}
	}
}

// A payload that lies with hundreds in one unit is opened with its own frames: damage
// elsewhere does not reach it, and is found by who looks at the whole.
func TestVault_OpensNoMoreFramesThanTheRangeLiesIn(t *testing.T) {
	t.Parallel()
	b := setup(t, filevault.Options{})
	p := vaulttest.Payload(1, 6*smallFrame)
	ref := stage(t, b, p)
	flush(t, b)
	path := files(t, b.dir, ".chunk")[0]
	good := read(t, path)
	bad := bytes.Clone(good)
	bad[head+2*(smallFrame+28)+100] ^= 1 // in the third frame
	write(t, path, bad)
	broken(t, b, ref, "the third frame", claimdlq.Corrupt)
	for _, r := range [][2]int64{{0, 2 * smallFrame}, {3 * smallFrame, 3 * smallFrame}} {
		part := ref
		part.Offset, part.Length = r[0], r[1]
		intact(t, b, part, p[r[0]:r[0]+r[1]])
	}
	part := ref
	part.Offset, part.Length = 2*smallFrame-1, 2
	broken(t, b, part, "a range that ends in it", claimdlq.Corrupt)
}

func TestVault_FindsSmallFramesThatWereMoved(t *testing.T) {
	t.Parallel()
	b := setup(t, filevault.Options{})
	ref := stage(t, b, vaulttest.Payload(1, 5*smallFrame))
	flush(t, b)
	path := files(t, b.dir, ".chunk")[0]
	good := read(t, path)
	part := func(n int) []byte { return good[head+n*(smallFrame+28):][:smallFrame+28] }
	rest := good[head+5*(smallFrame+28):]
	for what, bad := range map[string][]byte{
		"two swapped":       slices.Concat(good[:head], part(1), part(0), part(2), part(3), part(4), rest),
		"one doubled":       slices.Concat(good[:head], part(0), part(0), part(2), part(3), part(4), rest),
		"the last in front": slices.Concat(good[:head], part(4), part(0), part(1), part(2), part(3), rest),
	} {
		write(t, path, bad)
		broken(t, b, ref, what, claimdlq.Corrupt)
	}
}

// What a slot says of the size of the frames is sealed with the key.
func TestVault_FindsASlotThatNamesAnotherSizeOfFrames(t *testing.T) {
	t.Parallel()
	b := setup(t, filevault.Options{})
	ref := stage(t, b, vaulttest.Payload(1, 100)) // one frame either way
	flush(t, b)
	path := files(t, b.keys, ".slots")[0]
	forged := bytes.Clone(read(t, path))
	for _, version := range []byte{0, 2, 3} {
		forged[head+1] = version
		write(t, path, withSum(forged, head))
		broken(t, b, ref, "version", claimdlq.Corrupt)
	}
}

func TestVault_RewrapKeepsTheSizeOfFrames(t *testing.T) {
	t.Parallel()
	b := setup(t, filevault.Options{})
	p := vaulttest.Payload(1, 5*smallFrame)
	ref := stage(t, b, p)
	before, err := b.StageAsBefore(p)
	if err != nil {
		t.Fatal(err)
	}
	flush(t, b)
	rotate(t, b)
	b.reopen(t)
	intact(t, b, ref, p)
	intact(t, b, before, p)
}
