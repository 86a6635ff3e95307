// Package vaulttest is the conformance suite of package vault: every adapter
// passes it. It is test code in a package of its own, so that no binary links it.
package vaulttest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"regexp"
	"strings"
	"sync"
	"testing"

	"claimdlq"
	"claimdlq/phi"
	"claimdlq/vault"
)

// Proof is what a store would hand out for a durable audit entry.
var Proof = claimdlq.NewProof(1, 1)

// sizes are around every boundary: nothing, one byte, and a frame of 1 MiB.
var sizes = []int{0, 1, 15, 16, 17, 2500, 1<<20 - 1, 1 << 20, 1<<20 + 1, 3<<20 + 5}

// Payload returns n bytes that differ by seed and position.
func Payload(seed, n int) []byte {
	b := make([]byte, n)
	x := uint32(seed)*2654435761 + 1
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return b
}

// Run runs the suite; open returns an empty vault for each test.
func Run(t *testing.T, open func(*testing.T) vault.Vault) {
	for name, test := range map[string]func(*testing.T, vault.Vault){
		"what is staged can be opened":            testRoundTrip,
		"what is written in pieces can be opened": testWriter,
		"an aborted unit never was":               testAbort,
		"ranges":                                  testRanges,
		"nothing opens without a proof":           testProof,
		"names say nothing":                       testNames,
		"unknown units are not found":             testUnknown,
		"a shredded unit is gone":                 testShred,
		"attributes come back without a payload":  testAttributes,
		"attributes of a unit in pieces":          testDescribe,
		"Units lists what has a live key":         testUnits,
		"staging keeps its own copy":              testCopy,
		"many at once":                            testConcurrent,
		"a closed vault is unavailable":           testClosed,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := open(t)
			test(t, v)
			_ = v.Close()
		})
	}
}

func stage(t *testing.T, v vault.Vault, p []byte) claimdlq.PayloadRef {
	t.Helper()
	ref, err := v.Stage(phi.Wrap(bytes.Clone(p)))
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

func flush(t *testing.T, v vault.Vault) {
	t.Helper()
	if err := v.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// check opens the ref in both ways and verifies it.
func check(t *testing.T, v vault.Vault, ref claimdlq.PayloadRef, want []byte) {
	t.Helper()
	got, err := v.Open(t.Context(), ref, Proof)
	if err != nil || !bytes.Equal(got.Reveal(), want) {
		t.Fatalf("open [%d,+%d): %d bytes, %v", ref.Offset, ref.Length, got.Len(), err)
	}
	r, err := v.OpenReader(t.Context(), ref, Proof)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := io.ReadAll(r)
	if err != nil || !bytes.Equal(stream, want) {
		t.Fatalf("read [%d,+%d): %d bytes, %v", ref.Offset, ref.Length, len(stream), err)
	}
	if err := errors.Join(r.Close(), v.Verify(t.Context(), ref)); err != nil {
		t.Fatal(err)
	}
}

func testRoundTrip(t *testing.T, v vault.Vault) {
	refs := map[int]claimdlq.PayloadRef{}
	for i, n := range sizes {
		refs[i] = stage(t, v, Payload(i, n))
	}
	flush(t, v)
	for i, n := range sizes {
		if refs[i].Offset != 0 || refs[i].Length != int64(n) {
			t.Fatalf("the ref of %d bytes is [%d,+%d)", n, refs[i].Offset, refs[i].Length)
		}
		check(t, v, refs[i], Payload(i, n))
	}
}

func testWriter(t *testing.T, v vault.Vault) {
	for _, piece := range []int{999, 1 << 20, 2<<20 + 3} {
		for i, n := range sizes {
			w, err := v.Create()
			if err != nil {
				t.Fatal(err)
			}
			other := stage(t, v, []byte("between"))
			for rest := Payload(i, n); len(rest) > 0; {
				k := min(piece, len(rest))
				if wrote, err := w.Write(rest[:k]); err != nil || wrote != k {
					t.Fatalf("wrote %d of %d, %v", wrote, k, err)
				}
				rest = rest[k:]
			}
			ref, err := w.Close()
			if err != nil || ref.Length != int64(n) {
				t.Fatalf("ref over %d of %d bytes, %v", ref.Length, n, err)
			}
			if _, err := w.Close(); !errors.Is(err, claimdlq.Unavailable) {
				t.Fatalf("closed twice: %v", err)
			}
			w.Abort()
			flush(t, v)
			check(t, v, ref, Payload(i, n))
			check(t, v, other, []byte("between"))
		}
	}
}

func testAbort(t *testing.T, v vault.Vault) {
	for _, n := range sizes {
		w, err := v.Create()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(Payload(1, n)); err != nil {
			t.Fatal(err)
		}
		w.Abort()
		w.Abort()
		if _, err := w.Close(); err == nil {
			t.Fatal("an aborted unit was closed")
		}
		if _, err := w.Write([]byte("x")); err == nil {
			t.Fatal("an aborted unit was written to")
		}
	}
	if u := units(t, v); len(u) != 0 {
		t.Fatalf("%d units left", len(u))
	}
}

func testRanges(t *testing.T, v vault.Vault) {
	n := int64(2<<20 + 77)
	p := Payload(3, int(n))
	ref := stage(t, v, p)
	flush(t, v)
	f := int64(1 << 20)
	for _, r := range [][2]int64{
		{0, 0}, {0, 1}, {1, 1}, {n - 1, 1}, {n, 0}, {f - 1, 1}, {f - 1, 2}, {f, 1}, {f, f}, {f - 3, f + 6}, {0, f}, {0, n}, {5, n - 5}, {2 * f, n - 2*f},
	} {
		part := ref
		part.Offset, part.Length = r[0], r[1]
		check(t, v, part, p[r[0]:r[0]+r[1]])
	}
	const huge = 1<<63 - 1
	for _, r := range [][2]int64{{-1, 1}, {0, -1}, {0, n + 1}, {n, 1}, {n + 1, 0}, {huge, huge}, {1, huge}, {huge, 0}} {
		part := ref
		part.Offset, part.Length = r[0], r[1]
		if _, err := v.Open(t.Context(), part, Proof); !errors.Is(err, claimdlq.Invalid) {
			t.Errorf("open [%d,+%d): %v; want invalid", r[0], r[1], err)
		}
		if _, err := v.OpenReader(t.Context(), part, Proof); !errors.Is(err, claimdlq.Invalid) {
			t.Errorf("read [%d,+%d): %v; want invalid", r[0], r[1], err)
		}
	}
}

func testProof(t *testing.T, v vault.Vault) {
	ref := stage(t, v, []byte("CANARY"))
	flush(t, v)
	for _, proof := range []claimdlq.Proof{{}, claimdlq.NewProof(0, 5), claimdlq.NewProof(5, 4)} {
		if p, err := v.Open(t.Context(), ref, proof); !errors.Is(err, claimdlq.Refused) || p.Len() != 0 {
			t.Errorf("open: %v; want refused", err)
		}
		if r, err := v.OpenReader(t.Context(), ref, proof); !errors.Is(err, claimdlq.Refused) {
			t.Errorf("read: %v, %v; want refused", r, err)
		}
	}
}

func testNames(t *testing.T, v vault.Vault) {
	grammar := regexp.MustCompile(`^[a-z0-9.]{1,64}$`)
	seen := map[string]bool{}
	prefixes := map[string]int{}
	for range 1000 {
		name := stage(t, v, []byte("same content")).Unit
		if !grammar.MatchString(name) || seen[name] {
			t.Fatalf("name %q", name)
		}
		seen[name] = true
		prefixes[name[:4]]++
	}
	for p, n := range prefixes {
		if n > 50 {
			t.Fatalf("%d of 1000 names begin with %s: they are not random", n, p)
		}
	}
}

func testUnknown(t *testing.T, v vault.Vault) {
	known := stage(t, v, []byte("x")).Unit
	flush(t, v)
	for _, name := range []string{"", "a", known[1:], known + "a", strings.ToUpper(known), flip(known, 0), flip(known, len(known)-1), strings.Repeat("z", 64), "../" + known} {
		ref := claimdlq.PayloadRef{Unit: name, Length: 1}
		if _, err := v.Open(t.Context(), ref, Proof); !errors.Is(err, claimdlq.NotFound) {
			t.Errorf("open %q: %v; want not_found", name, err)
		}
		if err := v.Verify(t.Context(), ref); !errors.Is(err, claimdlq.NotFound) || errors.Is(err, vault.ErrShredded) {
			t.Errorf("verify %q: %v; want not_found", name, err)
		}
	}
}

func flip(s string, i int) string {
	c := byte('b')
	if s[i] == c {
		c = 'c'
	}
	return s[:i] + string(c) + s[i+1:]
}

func testShred(t *testing.T, v vault.Vault) {
	for i, n := range []int{10, 1<<20 + 1} {
		for _, synced := range []bool{false, true} {
			gone, kept := stage(t, v, Payload(i, n)), stage(t, v, Payload(i+9, n))
			if synced {
				flush(t, v)
			}
			part := gone
			part.Offset, part.Length = 1, 1 // a unit is shredded whole
			for range 2 {
				if err := v.Shred(t.Context(), part); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := v.Open(t.Context(), gone, Proof); !errors.Is(err, claimdlq.NotFound) || !errors.Is(err, vault.ErrShredded) {
				t.Fatalf("open: %v; want not_found, shredded", err)
			}
			if err := v.Verify(t.Context(), gone); !errors.Is(err, claimdlq.NotFound) || !errors.Is(err, vault.ErrShredded) {
				t.Fatalf("verify: %v; want not_found, shredded", err)
			}
			check(t, v, kept, Payload(i+9, n))
		}
	}
}

// attributes opens those of the ref's unit.
func attributes(t *testing.T, v vault.Vault, ref claimdlq.PayloadRef, want []byte) {
	t.Helper()
	got, err := v.Attributes(t.Context(), ref, Proof)
	if err != nil || !bytes.Equal(got.Reveal(), want) {
		t.Fatalf("attributes: %d bytes of %d, %v", got.Len(), len(want), err)
	}
}

func testAttributes(t *testing.T, v vault.Vault) {
	var refs []claimdlq.PayloadRef
	lengths := []int{0, 1, 6, 300, vault.MaxAttributes}
	for i, n := range sizes {
		for k, about := range lengths {
			ref, err := v.StageWith(phi.Wrap(Payload(i, n)), phi.Wrap(Payload(100+k, about)))
			if err != nil {
				t.Fatal(err)
			}
			refs = append(refs, ref)
		}
	}
	attributes(t, v, refs[2], Payload(102, 6)) // not synced yet
	flush(t, v)
	for i, ref := range refs {
		n := i / len(lengths)
		check(t, v, ref, Payload(n, sizes[n]))
		part := ref
		part.Offset = 1 << 40 // of the unit, whatever the range
		attributes(t, v, part, Payload(100+i%len(lengths), lengths[i%len(lengths)]))
	}
	if _, err := v.StageWith(phi.Wrap([]byte("x")), phi.Wrap(make([]byte, vault.MaxAttributes+1))); !errors.Is(err, claimdlq.Invalid) {
		t.Fatalf("more than there may be: %v", err)
	}
	if p, err := v.Attributes(t.Context(), refs[2], claimdlq.Proof{}); !errors.Is(err, claimdlq.Refused) || p.Len() != 0 {
		t.Fatalf("without a proof: %v", err)
	}
	if err := v.Shred(t.Context(), refs[2]); err != nil {
		t.Fatal(err)
	}
	if p, err := v.Attributes(t.Context(), refs[2], Proof); !errors.Is(err, claimdlq.NotFound) || p.Len() != 0 {
		t.Fatalf("of a shredded unit: %v", err)
	}
	attributes(t, v, refs[3], Payload(103, 300))
}

func testDescribe(t *testing.T, v vault.Vault) {
	for i, n := range sizes {
		w, err := v.Create()
		if err != nil {
			t.Fatal(err)
		}
		about := []byte("TEST attributes")
		if err := w.Describe(phi.Wrap([]byte("TEST others"))); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(Payload(i, n)); err != nil {
			t.Fatal(err)
		}
		if err := w.Describe(phi.Wrap(make([]byte, vault.MaxAttributes+1))); !errors.Is(err, claimdlq.Invalid) {
			t.Fatalf("more than there may be: %v", err)
		}
		if err := w.Describe(phi.Wrap(about)); err != nil {
			t.Fatal(err)
		}
		clear(about)
		ref, err := w.Close()
		if err != nil {
			t.Fatal(err)
		}
		flush(t, v)
		check(t, v, ref, Payload(i, n))
		attributes(t, v, ref, []byte("TEST attributes"))
	}
}

func units(t *testing.T, v vault.Vault) map[string]int64 {
	t.Helper()
	out := map[string]int64{}
	if err := v.Units(t.Context(), func(u string, n int64) bool { out[u] = n; return true }); err != nil {
		t.Fatal(err)
	}
	return out
}

func testUnits(t *testing.T, v vault.Vault) {
	want := map[string]int64{}
	for i, n := range sizes {
		ref := stage(t, v, Payload(i, n))
		if i%3 == 0 {
			if err := v.Shred(t.Context(), ref); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want[ref.Unit] = ref.Length
	}
	flush(t, v)
	got := units(t, v)
	if len(got) != len(want) {
		t.Fatalf("%d units; want %d", len(got), len(want))
	}
	for u, n := range want {
		if got[u] != n {
			t.Errorf("%s: %d bytes; want %d", u, got[u], n)
		}
	}
	calls := 0
	if err := v.Units(t.Context(), func(string, int64) bool { calls++; return false }); err != nil || calls != 1 {
		t.Fatalf("%d calls after false, %v", calls, err)
	}
}

func testCopy(t *testing.T, v vault.Vault) {
	b := []byte("before")
	ref, err := v.Stage(phi.Wrap(b))
	if err != nil {
		t.Fatal(err)
	}
	copy(b, "after!")
	flush(t, v)
	check(t, v, ref, []byte("before"))
}

func testConcurrent(t *testing.T, v vault.Vault) {
	var wg sync.WaitGroup
	for g := range 16 {
		wg.Go(func() {
			for i := range 30 {
				p := Payload(g*1000+i, 1+g*i*7)
				ref, err := v.Stage(phi.Wrap(p))
				if err == nil {
					err = v.Sync(context.Background())
				}
				if err != nil {
					t.Error(err)
					return
				}
				got, err := v.Open(context.Background(), ref, Proof)
				if err != nil || !bytes.Equal(got.Reveal(), p) {
					t.Errorf("goroutine %d, unit %d: %v", g, i, err)
					return
				}
				if i%5 == 0 {
					if err := v.Shred(context.Background(), ref); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	if n := len(units(t, v)); n != 16*24 {
		t.Fatalf("%d units; want %d", n, 16*24)
	}
}

func testClosed(t *testing.T, v vault.Vault) {
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Stage(phi.Wrap([]byte("x"))); !errors.Is(err, claimdlq.Unavailable) {
		t.Errorf("stage: %v", err)
	}
	if _, err := v.Create(); !errors.Is(err, claimdlq.Unavailable) {
		t.Errorf("create: %v", err)
	}
	if err := v.Sync(t.Context()); !errors.Is(err, claimdlq.Unavailable) {
		t.Errorf("sync: %v", err)
	}
}
