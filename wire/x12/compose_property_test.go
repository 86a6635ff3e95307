package x12_test

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"claimdlq/wire/x12"
)

// build writes an interchange with random delimiters and a random tree of
// providers, subscribers, dependents and claims, all drawn from seed. It returns
// it with the claims' names in order.
func build(seed uint64) (doc []byte, claims []string) {
	next := func(n uint64) uint64 {
		seed = seed*6364136223846793005 + 1442695040888963407
		return (seed >> 33) % n
	}
	delims := []string{"*:~^", "|>!{", "\x1d\x1f\x1c\x1e", "*:\n^", "*:\r^", "+:'^"}[next(6)]
	suffix := []string{"", "\n", "\r\n", "\r"}[next(4)]
	if delims[2] == '\n' || delims[2] == '\r' {
		suffix = ""
	}
	var body strings.Builder
	count := 0
	seg := func(format string, a ...any) {
		s := strings.NewReplacer("*", delims[:1], ":", delims[1:2], "~", delims[2:3], "^", delims[3:]).Replace(fmt.Sprintf(format, a...) + "~")
		body.WriteString(s + suffix)
		count++
	}
	seg("ISA*00*          *00*          *ZZ*TESTSENDER     *ZZ*TESTRECEIVER   *260301*0930*^*00501*%09d*1*T*:", 1+next(999999999))
	isa13 := body.String()[90:99]
	groups := int(1 + next(3))
	for g := range groups {
		seg("GS*HC*TESTS*TESTR*20260301*0930*%d*X*005010X222A1", g+1)
		sets := int(1 + next(3))
		for i := range sets {
			count = 0
			seg("ST*837*%04d*005010X222A1", i+1)
			seg("BHT*0019*00*TESTBATCH*20260301*0930*CH")
			hl := 0
			loop := func(parent int, level string, children uint64) int {
				hl++
				up, flag := "", 0
				if parent > 0 {
					up = fmt.Sprint(parent)
				}
				if children > 0 {
					flag = 1
				}
				seg("HL*%d*%s*%s*%d", hl, up, level, flag)
				seg("NM1*XX*1*TEST%s", level)
				return hl
			}
			own := func(n uint64) {
				for range n {
					claims = append(claims, fmt.Sprintf("PCN%d", len(claims)+1))
					seg("CLM*%s*100***11:B:1", claims[len(claims)-1])
					seg("LX*1")
				}
			}
			for range 1 + next(3) {
				subscribers := 1 + next(4)
				provider := loop(0, "20", subscribers)
				for range subscribers {
					dependents := next(3)
					sub := loop(provider, "22", dependents)
					if dependents == 0 {
						own(1 + next(3))
					} else {
						own(next(3))
					}
					for range dependents {
						loop(sub, "23", 0)
						own(1 + next(2))
					}
				}
			}
			seg("SE*%d*%04d", count+1, i+1)
		}
		seg("GE*%d*%d", sets, g+1)
	}
	seg("IEA*%d*%s", groups, isa13)
	return []byte(body.String()), claims
}

// claimContext returns, for each claim of a document, the NM1 loops it lies
// under, by HL parentage. It fails where an HL, a child flag or a count is wrong.
func claimContext(t testing.TB, doc []byte) map[string]string {
	t.Helper()
	out := map[string]string{}
	if len(doc) == 0 {
		return out
	}
	d, n := delimsOf(t, doc)
	type hl struct{ parent, level, flag string }
	var hls []hl
	check := func() {
		for i, h := range hls {
			children := slices.ContainsFunc(hls, func(o hl) bool { return o.parent == fmt.Sprint(i+1) })
			if (h.flag == "1") != children {
				t.Fatalf("HL %d has flag %s, children: %t", i+1, h.flag, children)
			}
		}
	}
	for s := x12.NewSegments(doc[n:], d); s.Next(); {
		switch s.ID() {
		case "ST":
			check()
			hls = nil
		case "HL":
			hls = append(hls, hl{string(s.Element(2)), string(s.Element(3)), string(s.Element(4))})
			if got := string(s.Element(1)); got != fmt.Sprint(len(hls)) {
				t.Fatalf("HL01 %s, want %d", got, len(hls))
			}
		case "CLM":
			path := ""
			for at := fmt.Sprint(len(hls)); at != ""; {
				i := 0
				if _, err := fmt.Sscan(at, &i); err != nil || i < 1 || i > len(hls) {
					t.Fatalf("HL02 %q of %d", at, len(hls))
				}
				path = hls[i-1].level + path
				at = hls[i-1].parent
			}
			out[string(s.Element(1))] = path
		}
	}
	check()
	checkCounts(t, doc)
	return out
}

func TestComposer_AnyTreeLosesExactlyTheClaimsThatAreDropped(t *testing.T) {
	t.Parallel()
	for seed := range uint64(400) {
		doc, claims := build(seed)
		us := units(t, doc)
		if got, _, _ := composeAll(t, us, x12.AddOptions{}); !bytes.Equal(got, doc) {
			t.Fatalf("seed %d: came out changed", seed)
		}
		before := claimContext(t, doc)
		drop := func(i int) bool { return (uint64(i)*2654435761+seed)>>3%3 == 0 }
		var w bytes.Buffer
		c := x12.NewComposer(&w)
		kept := map[string]string{}
		done := 0
		for _, u := range us {
			st, err := c.Add(bytes.NewReader(u), x12.AddOptions{Drop: drop})
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			for i := range st.Claims + st.Dropped {
				if name := claims[done+i]; !drop(i + 1) {
					kept[name] = before[name]
				}
			}
			done += st.Claims + st.Dropped
			if st.AmountCents != int64(st.Claims)*10000 {
				t.Fatalf("seed %d: amount %d of %d claims", seed, st.AmountCents, st.Claims)
			}
		}
		if _, err := c.Close(); err != nil {
			t.Fatal(err)
		}
		after := claimContext(t, w.Bytes())
		if fmt.Sprint(after) != fmt.Sprint(kept) {
			t.Fatalf("seed %d: claims\n%v\nwant\n%v", seed, after, kept)
		}
		if again, err := x12.Repair(w.Bytes()); len(kept) > 0 && (err != nil || !bytes.Equal(again, w.Bytes())) {
			t.Fatalf("seed %d: what was composed needs repair (%v)", seed, err)
		}
	}
}

// endless gives head, then n times the same segments, then tail.
func endless(head, again, tail string, n int) io.Reader {
	rs := []io.Reader{strings.NewReader(head)}
	block := strings.Repeat(again, 1000)
	for range n / 1000 {
		rs = append(rs, strings.NewReader(block))
	}
	return io.MultiReader(append(rs, strings.NewReader(tail))...)
}

// TestComposer_MemoryStaysFlat pins that a unit is read once and not held.
func TestComposer_MemoryStaysFlat(t *testing.T) {
	at := strings.Index(tree, "CLM*PCN1")
	head, tail := tree[:at], tree[strings.Index(tree, "SE*28"):]
	head = strings.Replace(head, "HL*2*1*22*1", "HL*2*1*22*0", 1)
	claim := "CLM*PCN1*1***11:B:1~\nHI*ABK:J069~\nLX*1~\nSV1*HC:99213*1*UN*1***1~\nDTP*472*D8*20260210~\n"
	const n = 400_000 // 35 MB
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	c := x12.NewComposer(io.Discard)
	st, err := c.Add(endless(head, claim, tail, n), x12.AddOptions{Drop: func(i int) bool { return i%2 == 0 }})
	if err != nil || st.Claims != n/2 || st.Dropped != n/2 {
		t.Fatalf("%+v, %v", st, err)
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 4<<20 {
		t.Errorf("allocated %d bytes for %d bytes of input", got, n*len(claim))
	}
}

func TestComposer_SegmentLargerThanTheBufferPassesThrough(t *testing.T) {
	t.Parallel()
	for _, size := range []int{256<<10 - 60, 256 << 10, 256<<10 + 1, 1 << 20} {
		huge := "NTE*ADD*" + strings.Repeat("X", size) + "~\n"
		doc := strings.Replace(tree, "CLM*PCN4*", huge+"CLM*PCN4*", 1)
		doc = strings.Replace(doc, "SE*28", "SE*29", 1)
		got, _, _ := composeAll(t, [][]byte{[]byte(doc)}, x12.AddOptions{Drop: func(int) bool { return false }})
		if string(got) != doc {
			t.Fatalf("%d: came out changed", size)
		}
		got, _, _ = composeAll(t, [][]byte{[]byte(doc)}, x12.AddOptions{Drop: func(i int) bool { return i == 1 }})
		checkCounts(t, got)
	}
}

func TestComposer_ContextWithoutEndIsRefused(t *testing.T) {
	t.Parallel()
	at := strings.Index(tree, "CLM*PCN1")
	r := endless(tree[:at], "REF*EI*"+strings.Repeat("9", 90)+"~\n", tree[at:], 400_000)
	c := x12.NewComposer(io.Discard)
	if _, err := c.Add(r, x12.AddOptions{Drop: func(int) bool { return false }}); err == nil {
		t.Error("40 MB above the first claim were held back")
	}
}

func FuzzComposer(f *testing.F) {
	f.Add([]byte(tree), uint8(3))
	for seed := range uint64(6) {
		doc, _ := build(seed)
		f.Add(doc, uint8(seed))
	}
	f.Fuzz(func(t *testing.T, doc []byte, mask uint8) {
		drop := func(i int) bool { return mask>>(i%8)&1 == 1 }
		var w bytes.Buffer
		c := x12.NewComposer(&w)
		st, err := c.Add(bytes.NewReader(doc), x12.AddOptions{Drop: drop})
		if err != nil {
			return
		}
		if _, err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if w.Len() == 0 {
			return
		}
		// What comes out is a unit again, with the same claims.
		var again bytes.Buffer
		c = x12.NewComposer(&again)
		st2, err := c.Add(bytes.NewReader(w.Bytes()), x12.AddOptions{})
		if err == nil {
			_, err = c.Close()
		}
		if err != nil || st2.Claims != st.Claims || st2.AmountCents != st.AmountCents || !bytes.Equal(again.Bytes(), w.Bytes()) {
			t.Fatalf("%v: %+v, then %+v", err, st, st2)
		}
		if _, err := x12.Diff(doc, w.Bytes()); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzEdit(f *testing.F) {
	for _, set := range []string{"CLM05-3=7", "NM1[3]-09=TEST", "HI01-2=J45", "REF[2]02=", "BHT03=A"} {
		f.Add([]byte(tree), set)
	}
	f.Fuzz(func(t *testing.T, doc []byte, set string) {
		a, err := x12.ParseAssignment(set)
		if err != nil {
			return
		}
		out, err := x12.Edit(doc, []x12.Assignment{a})
		if err != nil {
			return
		}
		h, _ := x12.ParseISA(doc)
		// The element says what was assigned, and no segment came or went.
		count := func(b []byte) (n int, v []byte) {
			seen := 0
			for s := x12.NewSegments(b[h.Len:], h.Delims); s.Next(); n++ {
				if s.ID() != a.Segment {
					continue
				}
				if seen++; seen == max(1, a.Occurrence) {
					v = s.Element(a.Element)
					if a.Component > 0 {
						v = s.Component(a.Element, a.Component)
					}
				}
			}
			return n, v
		}
		n, _ := count(doc)
		m, v := count(out)
		if n != m || h.Delims.Repetition == 0 && !bytes.Equal(v, a.Value) && len(v)+len(a.Value) > 0 {
			t.Fatalf("%d segments became %d, value %q", n, m, v)
		}
		if _, err := x12.Repair(out); err != nil {
			t.Fatal(err)
		}
	})
}

func BenchmarkComposer(b *testing.B) {
	at := strings.Index(tree, "CLM*PCN1")
	claim := "CLM*PCN1*1***11:B:1~\nHI*ABK:J069~\nLX*1~\nSV1*HC:99213*1*UN*1***1~\nDTP*472*D8*20260210~\n"
	// Without dependents, so that nothing is held back.
	doc := strings.Replace(tree[:at], "HL*2*1*22*1", "HL*2*1*22*0", 1) + strings.Repeat(claim, 100_000) + tree[strings.Index(tree, "SE*28"):]
	for name, o := range map[string]x12.AddOptions{"whole": {}, "cut": {Drop: func(i int) bool { return i == 7 }}} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(doc)))
			for b.Loop() {
				c := x12.NewComposer(io.Discard)
				if _, err := c.Add(strings.NewReader(doc), o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
