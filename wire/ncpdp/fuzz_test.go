package ncpdp_test

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"claimdlq/wire/ncpdp"
)

// FuzzMessage puts any bytes through everything that reads a message.
func FuzzMessage(f *testing.F) {
	f.Add(basicB1)
	f.Add(paidAnswer)
	f.Add(rejectedAnswer)
	f.Add([]byte("\x02" + string(basicB1) + "\x03\x03"))
	f.Add(append(bytes.Clone(basicB1), msg("#/07|EM1|D22#/07")...))
	f.Fuzz(func(t *testing.T, b []byte) { exercise(t, b) })
}

// Messages that are nearly right: a few bytes of a good one were changed, taken
// out or put in, separators above all.
func TestMessage_NearlyRightOnesBreakNothing(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	all := fixtureFiles(t)
	seeds := make([][]byte, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		seeds = append(seeds, all[name])
	}
	const alphabet = "\x1c\x1c\x1d\x1d\x1e\x1e\x1e\x1cAM07\x02\x03\x00\nA0{ 9Z"
	for range 20_000 {
		b := bytes.Clone(seeds[rng.IntN(len(seeds))])
		for range 1 + rng.IntN(4) {
			at := rng.IntN(len(b) + 1)
			end := min(len(b), at+rng.IntN(3))
			put := make([]byte, rng.IntN(3))
			for i := range put {
				put[i] = alphabet[rng.IntN(len(alphabet))]
			}
			b = slices.Replace(b, at, end, put...)
		}
		exercise(t, b)
	}
}

// exercise does all that can be done with a message: nothing panics, nothing is
// changed, and what is cut out, edited or built is a message again.
func exercise(t *testing.T, b []byte) {
	t.Helper()
	kept := bytes.Clone(b)
	m := ncpdp.Parse(b)
	faults := m.Validate()
	if !bytes.Equal(m.Raw(), kept) && len(b) <= ncpdp.MaxMessage {
		t.Fatal("not the bytes that came in")
	}
	for _, s := range m.Segments() {
		for _, fd := range m.Fields(s) {
			_ = m.Value(fd)
		}
		for _, c := range []string{"4C", "7E", "FA", "EC"} {
			m.Repeats(s, ncpdp.IDOf(c))
		}
	}
	for _, fault := range faults {
		if fault.Detail().String() == "DETAIL_INVALID" || fault.Offset < 0 || fault.Offset > len(b) {
			t.Fatalf("%+v", fault)
		}
	}
	request := ncpdp.Parse(basicB1)
	for n := range 6 {
		c, fault := m.Claim(n)
		if fault == nil {
			c.Key(secret(), 0)
		}
		m.Reply(n, nil)
		ncpdp.Correlate(request, m, n)
		if one, err := ncpdp.Cut(m, n); err == nil {
			if p := ncpdp.Parse(one); p.Err() != nil || p.Groups() != 1 {
				t.Fatalf("cut: %v", p.Err())
			}
		}
		if got, err := ncpdp.Set(b, n, ncpdp.Assignment{Segment: "07", Field: "D2", Occurrence: 1, Value: []byte("42")}); err == nil {
			if string(ncpdp.Parse(got).RxOf(n)) != "42" && m.Kind() == ncpdp.KindRequest {
				if s, ok := m.Segment(n, ncpdp.IDOf("07")); ok {
					t.Fatalf("set: %v", s)
				}
			}
		}
		if got, err := ncpdp.BuildReversal(m, n, ncpdp.Reversal{}); err == nil && ncpdp.Parse(got).Err() != nil {
			t.Fatal("a reversal that cannot be read")
		}
	}
	if got, err := ncpdp.BuildResponse(m, 'A', "", []ncpdp.Verdict{{Status: "P"}}); err == nil && ncpdp.Parse(got).Kind() != ncpdp.KindResponse {
		t.Fatalf("a response that cannot be read: %q", got)
	}
	if !bytes.Equal(b, kept) {
		t.Fatal("the input was changed")
	}
}

// FuzzBatch loses no byte of any file and always ends.
func FuzzBatch(f *testing.F) {
	f.Add([]byte(batchHead + detail("REF0000001") + "\x02990000001000000000" + "3" + strings.Repeat(" ", 35) + "\x03"))
	f.Add([]byte("\x0200\x03\x02G1\x03\x0299\x03"))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _, raw, end := readBatch(t, bytes.NewReader(b), ncpdp.BatchOptions{MaxRecord: 300})
		if !bytes.Equal(raw, b) || end == nil {
			t.Fatal("bytes were lost, or no end")
		}
		r := ncpdp.NewBatchReader(bytes.NewReader(b), ncpdp.BatchOptions{})
		for {
			if _, err := r.Next(); errors.Is(err, io.EOF) {
				return
			}
		}
	})
}

// FuzzAssignment never panics on what people write.
func FuzzAssignment(f *testing.F) {
	f.Add("07-D7[2]=1")
	f.Fuzz(func(t *testing.T, s string) {
		a, err := ncpdp.ParseAssignment(s)
		if err != nil {
			return
		}
		if got, err := ncpdp.Edit(basicB1, 1, []ncpdp.Assignment{a}); err == nil && len(a.Value) > 0 && ncpdp.Parse(got).Err() != nil {
			t.Fatal(ncpdp.Parse(got).Err())
		}
	})
}
