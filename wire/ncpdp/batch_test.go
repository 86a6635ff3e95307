package ncpdp_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"claimdlq"
	"claimdlq/wire/ncpdp"
)

// readBatch reads a whole batch: its codes in order, its references, and its bytes
// put together again.
func readBatch(t testing.TB, r io.Reader, o ncpdp.BatchOptions) (codes, refs []string, raw []byte, end *ncpdp.BatchEnd) {
	t.Helper()
	b := ncpdp.NewBatchReader(r, o)
	add := func(faults []ncpdp.Fault) {
		for _, f := range faults {
			codes = append(codes, string(f.Code))
		}
	}
	for {
		rec, err := b.Next()
		if errors.Is(err, io.EOF) {
			return codes, refs, raw, end
		}
		if err != nil {
			t.Fatal(err)
		}
		switch rec := rec.(type) {
		case *ncpdp.BatchStart:
			raw = append(raw, rec.Raw...)
			add(rec.Faults)
		case *ncpdp.BatchDetail:
			raw = append(raw, rec.Raw...)
			refs = append(refs, string(rec.Ref))
			add(rec.Faults)
			if f, bad := ncpdp.Worst(rec.Message.Validate()); bad {
				codes = append(codes, string(f.Code))
			}
		case *ncpdp.BatchEnd:
			raw = append(raw, rec.Raw...)
			add(rec.Faults)
			end = rec
		case *ncpdp.BatchJunk:
			raw = append(raw, rec.Raw...)
			add(rec.Faults)
		}
	}
}

func TestBatch_TheSharedCases(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"batch12_requests": "", "batch12_bad_count": "record_count", "batch12_no_trailer": "no_trailer", "batch12_dup_ref": "duplicate_reference",
	} {
		b := fixtureFiles(t)[name+".ncpdp"]
		if !ncpdp.IsBatch(b) {
			t.Errorf("%s: not seen", name)
		}
		codes, refs, raw, end := readBatch(t, iotest.OneByteReader(bytes.NewReader(b)), ncpdp.BatchOptions{})
		if got := strings.Join(codes, " "); got != want || !bytes.Equal(raw, b) || end.Details != len(refs) || len(refs) < 2 || refs[0] != "REF0000001" {
			t.Errorf("%s: %q %v", name, got, refs)
		}
	}
	for _, b := range [][]byte{basicB1, append([]byte{2}, "003858D0B1"...), []byte("\x0200"), nil} {
		if ncpdp.IsBatch(b) {
			t.Errorf("%.12q is no batch", b)
		}
	}
}

const (
	batchHead = "\x0200TSENDER0001              0000001202601151200T12RECEIVER01              \x03"
	batchEnd  = "\x02990000001%010d                                   \x03"
)

func detail(ref string) string { return "\x02G1" + ref + string(basicB1) + "\x03" }

func TestBatch_Faults(t *testing.T) {
	t.Parallel()
	one, two := detail("REF0000001"), detail("REF0000002")
	end := func(n int) string { return fmt.Sprintf(batchEnd, n) }
	for _, tt := range []struct{ name, in, want string }{
		{"good", batchHead + one + two + end(4), ""},
		{"line breaks and doubled ETX between records", batchHead + "\r\n" + one + "\x03\x03\n" + two + end(4) + "\n\x1a", ""},
		{"a short trailer", batchHead + one + "\x029900000010000000003\x03", ""},
		{"no details", batchHead + end(2), ""},
		{"another number", batchHead + one + strings.Replace(end(3), "990000001", "990000002", 1), "batch_number"},
		{"a count of letters", batchHead + one + "\x02990000001ABCDEFGHIJ" + strings.Repeat(" ", 35) + "\x03", "batch_trailer"},
		{"a trailer cut off", batchHead + one + "\x0299000\x03", "batch_trailer"},
		{"no header", one + end(2), "batch_header batch_header"},
		{"header too short", batchHead[:70] + "\x03" + one + end(3), "batch_header"},
		{"a type that is none", strings.Replace(batchHead, "00T", "00X", 1) + one + end(3), "batch_header"},
		{"a version that is none", strings.Replace(batchHead, "T12R", "T15R", 1) + one + end(3), "batch_header"},
		{"an hour that is none", strings.Replace(batchHead, "201601", "201601", 1)[:43] + "2500" + batchHead[47:] + one + end(3), "batch_header"},
		{"two headers", batchHead + batchHead + one + end(4), "batch_framing"},
		{"two trailers", batchHead + one + end(3) + end(3), "batch_framing"},
		{"a detail after the trailer", batchHead + one + end(3) + two, "after_trailer"},
		{"blank reference", batchHead + detail("          ") + end(3), "reference"},
		{"the reference again, padded", batchHead + detail("A         ") + detail("         A") + end(4), "duplicate_reference"},
		{"a record cut off", batchHead + one[:40] + two + end(3), "batch_framing"},
		{"a record of no known type", batchHead + "\x02XX\x03" + one + end(4), "batch_framing"},
		{"bytes between records", batchHead + "ABC" + one + end(3), "batch_framing"},
		{"cut off in a detail", batchHead + one[:100], "batch_framing no_trailer"},
		{"a bad message", batchHead + strings.Replace(one, "D90000123D", "D90000123Z", 1) + end(3), "money"},
		{"an empty message", batchHead + "\x02G1REF0000001\x03" + end(3), "empty"},
		{"nothing", "", "batch_header no_trailer"},
	} {
		codes, _, raw, end := readBatch(t, strings.NewReader(tt.in), ncpdp.BatchOptions{})
		if got := strings.Join(codes, " "); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if string(raw) != tt.in || end == nil {
			t.Errorf("%s: bytes were lost, or no end", tt.name)
		}
	}
}

// A file may hold several batches, each with its own count and references.
func TestBatch_SeveralInOneFile(t *testing.T) {
	t.Parallel()
	one, two := detail("REF0000001"), detail("REF0000002")
	end := func(n int) string { return fmt.Sprintf(batchEnd, n) }
	good := batchHead + one + two + end(4)
	for _, tt := range []struct{ name, in, several, single string }{
		{"two good ones", good + good, "", "batch_framing"},
		{"with a line break between", good + "\r\n" + good + "\n", "", "batch_framing"},
		{"the second miscounts", good + batchHead + one + end(4), "record_count", "batch_framing"},
		{"the second has no trailer", good + batchHead + one, "no_trailer", "batch_framing"},
		{"a header before the first has ended", batchHead + one + good, "batch_framing", "batch_framing"},
		{"a detail between them", good + one + good, "after_trailer", "after_trailer"},
		{"a reference twice in the second", good + batchHead + one + one + end(4), "duplicate_reference", "batch_framing"},
	} {
		for several, want := range map[bool]string{true: tt.several, false: tt.single} {
			codes, _, raw, last := readBatch(t, strings.NewReader(tt.in), ncpdp.BatchOptions{Several: several})
			got := ""
			if len(codes) > 0 {
				got = codes[0]
			}
			if got != want || string(raw) != tt.in || last == nil {
				t.Errorf("%s, several %v: %v, want %q first", tt.name, several, codes, want)
			}
		}
	}
	b := ncpdp.NewBatchReader(strings.NewReader(good+good), ncpdp.BatchOptions{Several: true})
	var numbers, counts []int
	for rec, err := b.Next(); err == nil; rec, err = b.Next() {
		switch rec := rec.(type) {
		case *ncpdp.BatchDetail:
			numbers = append(numbers, rec.Number)
		case *ncpdp.BatchEnd:
			counts = append(counts, rec.Details)
		}
	}
	if !slices.Equal(numbers, []int{1, 2, 3, 4}) || !slices.Equal(counts, []int{2, 2}) {
		t.Errorf("details are %v, in each batch %v", numbers, counts)
	}
}

func TestBatch_LimitsHold(t *testing.T) {
	t.Parallel()
	in := batchHead + detail("REF0000001") + detail("REF0000002") + detail("REF0000003") + fmt.Sprintf(batchEnd, 5)
	codes, _, _, _ := readBatch(t, strings.NewReader(in), ncpdp.BatchOptions{MaxDetails: 2})
	if got := strings.Join(codes, " "); got != "too_many_details" {
		t.Error(got)
	}
	codes, _, raw, _ := readBatch(t, strings.NewReader(in), ncpdp.BatchOptions{MaxRecord: 100})
	if len(codes) == 0 || codes[0] != "batch_framing" || string(raw) != in {
		t.Error(codes)
	}
	b := ncpdp.NewBatchReader(iotest.ErrReader(errors.New("disk")), ncpdp.BatchOptions{})
	if _, err := b.Next(); err == nil || errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

func TestBatchWriter_WhatItWritesIsRead(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w, err := ncpdp.NewBatchWriter(&out, ncpdp.BatchHeader{Sender: "TESTSENDER", Number: "0000042", Date: "20260115", Time: "2359", Receiver: "TESTRECEIVER"})
	if err != nil {
		t.Fatal(err)
	}
	framed := append(append([]byte{2}, basicB1...), 3, 3)
	for i, m := range [][]byte{basicB1, framed, basicB1} {
		if err := w.Add(fmt.Sprintf("R%d", i), m); err != nil {
			t.Fatal(err)
		}
	}
	for ref, m := range map[string][]byte{"R0": basicB1, "": basicB1, "R0123456789": basicB1, "\x01": basicB1, "R9": append([]byte("A\x03"), basicB1...)} {
		if err := w.Add(ref, m); !errors.Is(err, claimdlq.Invalid) || strings.Contains(err.Error(), "R0") {
			t.Errorf("%q: %v", ref, err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	codes, refs, _, end := readBatch(t, &out, ncpdp.BatchOptions{})
	if len(codes) != 0 || strings.Join(refs, " ") != "R0 R1 R2" || end.Count != 5 || end.Number != "0000042" {
		t.Error(codes, refs, end)
	}
	for _, h := range []ncpdp.BatchHeader{{}, {Number: "42", Date: "20260115", Time: "0000"}, {Number: "0000001", Date: "20260115", Time: "2400"}, {Number: "0000001", Date: "20260115", Time: "0000", Sender: strings.Repeat("A", 25)}} {
		if _, err := ncpdp.NewBatchWriter(io.Discard, h); !errors.Is(err, claimdlq.Invalid) {
			t.Errorf("%+v: %v", h, err)
		}
	}
}

// A file of random pieces loses no byte and never panics.
func TestBatch_NoByteIsLost(t *testing.T) {
	t.Parallel()
	pieces := []string{batchHead, detail("REF0000001"), detail("R2        "), "\x02", "\x03", "\x02G1", "\x0299", "\x0200", "\r\n", "ABC", "\x00", fmt.Sprintf(batchEnd, 3)}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var in strings.Builder
		for range rng.IntN(8) {
			in.WriteString(pieces[rng.IntN(len(pieces))])
		}
		if _, _, raw, end := readBatch(t, strings.NewReader(in.String()), ncpdp.BatchOptions{MaxRecord: 500}); string(raw) != in.String() || end == nil {
			t.Fatalf("%q", in.String())
		}
	}
}

// One record is held at a time: a batch of 100 MB is read in little memory.
func TestBatch_MemoryDoesNotGrowWithTheFile(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 100 MB")
	}
	one := detail("REF0000001")
	n := 100 << 20 / len(one)
	r := ncpdp.NewBatchReader(io.MultiReader(strings.NewReader(batchHead), &repeated{s: one, n: n}), ncpdp.BatchOptions{})
	allocs := testing.AllocsPerRun(1, func() {
		for range n / 4 {
			if _, err := r.Next(); err != nil {
				t.Fatal(err)
			}
		}
	})
	if per := allocs / float64(n/4); per > 4 { // the record, its faults
		t.Errorf("%.1f allocations for each detail", per)
	}
}

type repeated struct {
	s  string
	n  int
	at int
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.n == 0 {
		return 0, io.EOF
	}
	c := copy(p, r.s[r.at:])
	if r.at += c; r.at == len(r.s) {
		r.at, r.n = 0, r.n-1
	}
	return c, nil
}
