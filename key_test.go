package claimdlq_test

import (
	"bytes"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"claimdlq"
)

func identity() *claimdlq.Identity {
	return claimdlq.NewIdentity(1, bytes.Repeat([]byte("TEST"), 8))
}

func parts(ss ...string) (out [][]byte) {
	for _, s := range ss {
		out = append(out, []byte(s))
	}
	return out
}

// Flaw F3 of the seeds: fields joined by a separator are ambiguous.
func TestKey_WhereAPartEndsMatters(t *testing.T) {
	t.Parallel()
	i := identity()
	seen := map[claimdlq.Key][]string{}
	for _, p := range [][]string{
		{"1", "2:3"}, {"1:2", "3"}, {"1:2:3"}, {"1", "2", "3"}, {"", "1:2:3"}, {"1:2:3", ""}, {"1", "", "2:3"}, {}, {""}, {"", ""},
	} {
		k := i.Key("test", parts(p...)...)
		if before, ok := seen[k]; ok {
			t.Errorf("%q and %q have one key", before, p)
		}
		seen[k] = p
	}
}

func TestKey_DiffersByDomainAndBySecret(t *testing.T) {
	t.Parallel()
	i, other := identity(), claimdlq.NewIdentity(1, bytes.Repeat([]byte("OTHR"), 8))
	k := i.Key("claim", parts("a")...)
	for name, same := range map[string]bool{
		"domain": k == i.Key("set", parts("a")...), "secret": k == other.Key("claim", parts("a")...),
		"no key": k == claimdlq.Key{}, "repeated": k != i.Key("claim", parts("a")...),
	} {
		if same {
			t.Errorf("%s makes no difference", name)
		}
	}
	if a, b := i.Ref("x", parts("a")...), i.Ref("y", parts("a")...); a == b {
		t.Error("refs of two domains are one")
	}
}

func TestKey_IsInjectiveOverParts(t *testing.T) {
	t.Parallel()
	tuple := rapid.SliceOfN(rapid.StringMatching(`[ab:]{0,3}`), 0, 4)
	i := identity()
	rapid.Check(t, func(rt *rapid.T) {
		a, b := tuple.Draw(rt, "a"), tuple.Draw(rt, "b")
		same := len(a) == len(b)
		for n := 0; same && n < len(a); n++ {
			same = a[n] == b[n]
		}
		if (i.Key("t", parts(a...)...) == i.Key("t", parts(b...)...)) != same {
			rt.Fatalf("%q and %q", a, b)
		}
	})
}

func TestDigest_DoesNotDependOnHowTheBytesArrive(t *testing.T) {
	t.Parallel()
	i := identity()
	rapid.Check(t, func(rt *rapid.T) {
		b := rapid.SliceOf(rapid.Byte()).Draw(rt, "bytes")
		cut := rapid.IntRange(0, len(b)).Draw(rt, "cut")
		want := i.Digest(b)
		w := i.NewDigest()
		_, _ = w.Write(b[:cut])
		_, _ = w.Write(b[cut:])
		if got := i.Digest(b[:cut], b[cut:]); got != want || w.Sum() != want {
			rt.Fatal("digests differ")
		}
		if i.Digest(b, []byte{0}) == want {
			rt.Fatal("a byte more makes no difference")
		}
	})
}

func TestIdentity_ClonesMayWorkAtOnce(t *testing.T) {
	t.Parallel()
	i := identity()
	want := i.Key("k", parts("a", "b")...)
	var wg sync.WaitGroup
	for range 4 {
		c := i.Clone()
		wg.Go(func() {
			for range 100 {
				if c.Key("k", parts("a", "b")...) != want || c.Term != i.Term {
					t.Error("a clone makes other keys")
				}
			}
		})
	}
	wg.Wait()
}

func TestRefs_OfDisplayKeysAndParentsAreStableAndApart(t *testing.T) {
	t.Parallel()
	// Stored on disk: these values must never change.
	if got := claimdlq.DisplayRef("000000123:0001"); got != displayRef123 {
		t.Errorf("display ref is %#x", uint64(got))
	}
	if got := claimdlq.ParentRef(1); got != parentRef1 {
		t.Errorf("parent ref is %#x", uint64(got))
	}
	seen := map[claimdlq.Ref]bool{}
	for id := range claimdlq.ID(10_000) {
		seen[claimdlq.ParentRef(id)] = true
	}
	if len(seen) != 10_000 {
		t.Errorf("%d refs for 10000 parents", len(seen))
	}
}
