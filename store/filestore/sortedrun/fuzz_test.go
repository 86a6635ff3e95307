package sortedrun_test

import (
	"bytes"
	"testing"

	"claimdlq/store/filestore/sortedrun"
)

func FuzzBlock(f *testing.F) {
	one := sortedrun.AppendEntry(nil, keyOf(1), []byte("value"))
	f.Add(one)
	f.Add(sortedrun.AppendEntry(one, keyOf(2), bytes.Repeat([]byte{7}, 300)))
	f.Add(append(one, 0xff, 0xff))
	f.Add(append(make([]byte, 16), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01))
	f.Fuzz(func(t *testing.T, b []byte) {
		keys, values, ok := sortedrun.DecodeBlock(b)
		if !ok {
			return
		}
		var again []byte
		for i, k := range keys {
			if i > 0 && compareKeys(keys[i-1], k) >= 0 {
				t.Fatal("keys out of order")
			}
			if len(values[i]) > sortedrun.MaxValue {
				t.Fatal("a value over the limit")
			}
			again = sortedrun.AppendEntry(again, k, values[i])
		}
		if len(again) > len(b) {
			t.Fatalf("%d bytes were read as %d", len(b), len(again))
		}
	})
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte("claimdlq sorted runs 1\nnext 3\nrun 1\nrun 2\ncrc32c 00000000\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if again, ok := sortedrun.ManifestRoundTrip(b); ok && !bytes.Equal(again, b) {
			t.Fatal("two texts mean one manifest")
		}
	})
}

func FuzzFooter(f *testing.F) {
	f.Add(make([]byte, 100), uint64(1), uint64(5000))
	f.Fuzz(func(t *testing.T, b []byte, number, offset uint64) {
		if p, ok := sortedrun.DecodeFooter(b, number, offset); ok && p[0]+p[1]+p[2] != offset {
			t.Fatalf("places %v do not add up to %d", p, offset)
		}
	})
}
