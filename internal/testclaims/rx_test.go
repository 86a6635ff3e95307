package testclaims_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/internal/testclaims"
	"claimdlq/wire/ncpdp"
)

func generateRx(t *testing.T, o testclaims.RxOptions) ([]byte, testclaims.RxStats) {
	t.Helper()
	var b bytes.Buffer
	s, err := testclaims.GenerateRx(&b, o)
	if err != nil {
		t.Fatal(err)
	}
	if s.Bytes != int64(b.Len()) {
		t.Fatalf("stats say %d bytes, the file has %d", s.Bytes, b.Len())
	}
	return b.Bytes(), s
}

func newRx(t *testing.T, o testclaims.RxOptions) *testclaims.Rx {
	t.Helper()
	g, err := testclaims.NewRx(o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

var rxShapes = map[string]testclaims.RxOptions{
	"one claim":      {},
	"several":        {Claims: 300},
	"two together":   {Claims: 301, TransactionsPer: 2},
	"four together":  {Claims: 301, TransactionsPer: 4},
	"all special":    {Claims: 60, CompoundEvery: 1, COBEvery: 2, PartialEvery: 3},
	"other payers":   {Claims: 60, COBEvery: 1, TransactionsPer: 3, PartialEvery: -1},
	"canaries":       {Claims: 60, Canary: true, COBEvery: 4, CompoundEvery: 5},
	"canaries multi": {Claims: 60, Canary: true, TransactionsPer: 4},
	"limited":        {Bytes: 20000},
	"pharmacies":     {Claims: 10, Pharmacies: 3, BIN: "610999", PCN: "A", Vendor: "V"},
}

// each calls f with every transmission of the options.
func each(t *testing.T, o testclaims.RxOptions, f func(n int, m *ncpdp.Message)) {
	t.Helper()
	g := newRx(t, o)
	for n := range min(g.Len(), 400) {
		f(n+1, ncpdp.Parse(g.Append(nil, n+1)))
	}
}

func TestGenerateRx_EveryShapeIsStrictlyValidAndCounted(t *testing.T) {
	t.Parallel()
	for name, o := range rxShapes {
		for _, code := range []string{"B1", "B2", "B3", "E1"} {
			for _, batch := range []bool{false, true} {
				t.Run(name+" "+code, func(t *testing.T) {
					t.Parallel()
					o := o
					o.Code, o.Batch = code, batch
					claims, cents := 0, int64(0)
					o.OnClaim = func(c testclaims.RxClaim) { claims++; cents += c.AmountCents }
					file, stats := generateRx(t, o)
					if claims != stats.Claims || cents != stats.AmountCents || stats.BadClaims != 0 {
						t.Fatalf("told of %d claims, %d cents; stats %+v", claims, cents, stats)
					}
					transmissions, transactions, money := readRx(t, file, batch)
					if transmissions != stats.Transmissions || transactions != stats.Claims && code != "E1" {
						t.Fatalf("the file has %d transmissions, %d claims; stats %+v", transmissions, transactions, stats)
					}
					if (code == "B1" || code == "B3") && money != stats.AmountCents {
						t.Fatalf("the file has %d cents, stats say %d", money, stats.AmountCents)
					}
				})
			}
		}
	}
}

// readRx judges every transmission of a clean file.
func readRx(t *testing.T, file []byte, batch bool) (transmissions, transactions int, cents int64) {
	t.Helper()
	judge := func(m *ncpdp.Message) {
		transmissions++
		if f := m.Validate(); len(f) > 0 {
			t.Fatalf("transmission %d: %v", transmissions, f)
		}
		transactions += m.Transactions()
		for i := range m.Transactions() {
			if _, f := m.Claim(i + 1); f != nil {
				t.Fatalf("transmission %d: %v", transmissions, f)
			}
			d, _ := m.AmountOf(i+1, ncpdp.IDOf("DU"))
			cents += d.Units
		}
	}
	if !batch {
		for m := range bytes.SplitSeq(bytes.TrimSuffix(file, []byte{3}), []byte{3, 2}) {
			judge(ncpdp.Parse(bytes.TrimPrefix(m, []byte{2})))
		}
		return transmissions, transactions, cents
	}
	r := ncpdp.NewBatchReader(bytes.NewReader(file), ncpdp.BatchOptions{})
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return transmissions, transactions, cents
		}
		if err != nil {
			t.Fatal(err)
		}
		switch rec := rec.(type) {
		case *ncpdp.BatchStart:
			noFaults(t, rec.Faults)
		case *ncpdp.BatchDetail:
			noFaults(t, rec.Faults)
			judge(rec.Message)
		case *ncpdp.BatchEnd:
			noFaults(t, rec.Faults)
		case *ncpdp.BatchJunk:
			t.Fatal("junk in a clean batch")
		}
	}
}

func noFaults(t *testing.T, faults []ncpdp.Fault) {
	t.Helper()
	if len(faults) > 0 {
		t.Fatalf("faults %v", faults)
	}
}

func TestRx_TheSameTransmissionInAnyOrderAndFromAnyStart(t *testing.T) {
	t.Parallel()
	o := testclaims.RxOptions{Claims: 400, Seed: 7}
	a, b := newRx(t, o), newRx(t, o)
	o.FirstClaim = 201
	c := newRx(t, o)
	for n := 400; n > 0; n-- {
		first := a.Append(nil, n)
		again := b.Append([]byte("X"), 401-n)
		if n <= 200 && !bytes.Equal(c.Append(nil, n), a.Append(nil, n+200)) {
			t.Fatalf("claim %d depends on where the file starts", n+200)
		}
		if !bytes.Equal(again[1:], a.Append(nil, 401-n)) || !bytes.Equal(first, a.Append(nil, n)) {
			t.Fatalf("transmission %d depends on what came before", n)
		}
	}
	o = testclaims.RxOptions{Claims: 400, Seed: 8}
	x, _ := generateRx(t, o)
	y, _ := generateRx(t, testclaims.RxOptions{Claims: 400, Seed: 7})
	if bytes.Equal(x, y) {
		t.Fatal("the seed decides nothing")
	}
}

func TestRx_AReversalIsThatOfItsBilling(t *testing.T) {
	t.Parallel()
	for _, canary := range []bool{false, true} {
		o := testclaims.RxOptions{Claims: 80, Canary: canary}
		o.Code = "B2"
		reversals := newRx(t, o)
		o.Code = "B1"
		each(t, o, func(n int, m *ncpdp.Message) {
			want, err := ncpdp.BuildReversal(m, 1, ncpdp.Reversal{})
			if err != nil || !bytes.Equal(want, reversals.Append(nil, n)) {
				t.Fatalf("claim %d: %v", n, err)
			}
		})
	}
}

func TestRx_EveryClaimIsAnotherClaim(t *testing.T) {
	t.Parallel()
	id := claimdlq.NewIdentity(1, bytes.Repeat([]byte{7}, 32))
	for name, o := range rxShapes {
		seen, n := map[claimdlq.Key]bool{}, 0
		each(t, o, func(_ int, m *ncpdp.Message) {
			for i := range m.Transactions() {
				c, f := m.Claim(i + 1)
				if f != nil {
					t.Fatal(f)
				}
				seen[c.Key(id, 0)] = true
				n++
			}
		})
		if len(seen) != n {
			t.Errorf("%s: %d claims have %d keys", name, n, len(seen))
		}
	}
}

func TestRx_ACompletionSharesThePrescriptionOfItsPartialFill(t *testing.T) {
	t.Parallel()
	for _, per := range []int{1, 4} {
		var partial []byte
		pairs := 0
		each(t, testclaims.RxOptions{Claims: 100, PartialEvery: 5, TransactionsPer: per}, func(_ int, m *ncpdp.Message) {
			for i := range m.Transactions() {
				status, _ := m.Get(i+1, ncpdp.IDOf("07"), ncpdp.IDOf("HD"))
				switch string(status) {
				case "P":
					partial = m.RxOf(i + 1)
				case "C":
					if pairs++; !bytes.Equal(partial, m.RxOf(i+1)) {
						t.Fatal("another prescription")
					}
				}
			}
		})
		if pairs == 0 {
			t.Fatal("no partial fills")
		}
	}
}

func TestRxFaults_TheCodecSaysWhatIsExpected(t *testing.T) {
	t.Parallel()
	for _, k := range testclaims.RxCatalog() {
		for _, per := range []int{1, 2} {
			for _, code := range []string{"B1", "B2", "E1"} {
				o := testclaims.RxOptions{Claims: 6, TransactionsPer: per, Code: code, Batch: k.Scope == testclaims.InFile || strings.HasPrefix(k.Name, "reference")}
				if !k.AppliesTo(o) {
					continue
				}
				t.Run(k.Name+" "+code, func(t *testing.T) {
					t.Parallel()
					o := o
					place := 2
					if k.Scope == testclaims.InFile {
						place = 1
					}
					clean, _ := generateRx(t, o)
					o.Faults = []testclaims.Fault{{Name: k.Name, At: []int{place}}}
					bad, stats := generateRx(t, o)
					if len(stats.Made) != 1 || stats.Made[0].Fault != k.Name || bytes.Equal(clean, bad) {
						t.Fatalf("made %+v", stats.Made)
					}
					if refused := stats.BadClaims > 0; refused != (k.Expect.Verdict == "POISON" && k.Scope != testclaims.InFile) {
						t.Fatalf("%d bad claims", stats.BadClaims)
					}
					if o.Batch {
						wantBatch(t, bad, k)
						return
					}
					wantRx(t, newRx(t, o), k, o)
				})
			}
		}
	}
}

// wantRx wants the fault in its transmission and the others clean.
func wantRx(t *testing.T, g *testclaims.Rx, k testclaims.RxKind, o testclaims.RxOptions) {
	t.Helper()
	place := 2
	if k.Scope == testclaims.InClaim && o.TransactionsPer == 2 && o.Code == "B1" {
		place = 1
	}
	for n := range g.Len() {
		m := ncpdp.Parse(g.Append(nil, n+1))
		faults := m.Validate()
		worst, bad := ncpdp.Worst(faults)
		switch e := k.Expect; {
		case n+1 != place:
			noFaults(t, faults)
		case e.Verdict == "ROUTE_F6":
			if m.Version() != ncpdp.VersionF6 || bad {
				t.Fatalf("version %v, faults %v", m.Version(), faults)
			}
		case e.Verdict == "OK":
			if bad || len(faults) != 1 || !sameFault(faults[0], e) {
				t.Fatalf("want %+v, got %v", e, faults)
			}
		case !bad || !sameFault(worst, e):
			t.Fatalf("want %+v, got %+v", e, faults)
		}
	}
}

func sameFault(f ncpdp.Fault, e testclaims.RxExpect) bool {
	return string(f.Code) == e.Code && (e.Segment == "" || f.Segment == e.Segment) &&
		(e.Field == "" || f.Field == e.Field) && (e.Hint == "" || string(f.Hint) == e.Hint)
}

// wantBatch wants the fault and no other in the records of the file.
func wantBatch(t *testing.T, file []byte, k testclaims.RxKind) {
	t.Helper()
	r := ncpdp.NewBatchReader(bytes.NewReader(file), ncpdp.BatchOptions{})
	var all []ncpdp.Fault
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch rec := rec.(type) {
		case *ncpdp.BatchStart:
			all = append(all, rec.Faults...)
		case *ncpdp.BatchDetail:
			all = append(all, rec.Faults...)
		case *ncpdp.BatchEnd:
			all = append(all, rec.Faults...)
		case *ncpdp.BatchJunk:
			all = append(all, rec.Faults...)
		}
	}
	if len(all) == 0 || !sameFault(all[0], k.Expect) {
		t.Fatalf("want %+v, got %v", k.Expect, all)
	}
}

func TestGenerateRx_CanaryMarksEveryPHIField(t *testing.T) {
	t.Parallel()
	marked := map[ncpdp.ID]bool{}
	o := testclaims.RxOptions{Claims: 40, Canary: true, PartialEvery: 7, COBEvery: 4, CompoundEvery: 5}
	marks := testclaims.RxMarks(o)
	each(t, o, func(_ int, m *ncpdp.Message) {
		for _, s := range m.Segments() {
			for _, f := range m.Fields(s) {
				for _, mark := range marks {
					if bytes.Contains(m.Value(f), []byte(mark)) {
						marked[f.ID] = true
					}
				}
			}
		}
	})
	for _, d := range ncpdp.Dictionary() {
		// Of these nothing but a code, a state or a small number is valid.
		tooShort := strings.Contains("C5 CX CO CI 3V D3 D5 ED", d.ID.String())
		if d.PHI == "" || marked[d.ID] || tooShort {
			continue
		}
		if inRequests[d.ID.String()] {
			t.Errorf("field %s is PHI (%s) and has no mark", d.ID, d.PHI)
		}
	}
	file, _ := generateRx(t, testclaims.RxOptions{Claims: 40, Canary: true, Batch: true, PartialEvery: 7, COBEvery: 4})
	plain, _ := generateRx(t, testclaims.RxOptions{Claims: 40, Batch: true})
	for _, m := range testclaims.RxMarks(testclaims.RxOptions{Batch: true}) {
		if !bytes.Contains(file, []byte(m)) {
			t.Errorf("mark %s is not in the file", m)
		}
		if m[0] != '2' && bytes.Contains(plain, []byte(m)) { // dates of service are in every file
			t.Errorf("a plain file holds mark %s", m)
		}
	}
}

// inRequests are the PHI fields that a billing may carry and that are long
// enough for a mark.
var inRequests = func() map[string]bool {
	m := map[string]bool{}
	for id := range strings.FieldsSeq("C2 C4 CA CB CC CD CM CN CP CQ CY CZ HN N5 2A D2 D7 E7 DE E8 EK EN EP EV CW DO DY CF CG CH CJ CK CL DZ PP PY 8C 3Q 3U 5J 6D 4K BM A7 TE") {
		m[id] = true
	}
	return m
}()

func TestGenerateRx_RefusesWhatItCannotMake(t *testing.T) {
	t.Parallel()
	bad := map[string]testclaims.RxOptions{
		"code":          {Code: "B"},
		"two codes":     {Code: "1 B"},
		"claims":        {Claims: -1},
		"five together": {TransactionsPer: 5},
		"partial":       {PartialEvery: 1},
		"bin":           {BIN: "99999A"},
		"short bin":     {BIN: "99999"},
		"pcn":           {PCN: "ELEVENCHARS"},
		"lower case":    {PCN: "pcn"},
		"separator":     {Vendor: "A\x1cB"},
		"sender":        {Sender: strings.Repeat("S", 25)},
		"number":        {BatchNumber: 10_000_000},
		"file type":     {FileType: 'X'},
		"year":          {Date: time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC)},
		"unknown fault": {Faults: []testclaims.Fault{{Name: "missing-hi", At: []int{1}}}},
		"not a batch":   {Faults: []testclaims.Fault{{Name: "batch-count", At: []int{1}}}},
		"no pricing":    {Code: "B2", Faults: []testclaims.Fault{{Name: "bad-money", At: []int{1}}}},
	}
	for name, o := range bad {
		if _, err := testclaims.GenerateRx(io.Discard, o); !errors.Is(err, claimdlq.Invalid) {
			t.Errorf("%s: got %v, want Invalid", name, err)
		}
	}
	for _, s := range []string{"", "missing-hi", "bad-money@0", "bad-money/0"} {
		if _, err := testclaims.ParseRxFault(s); !errors.Is(err, claimdlq.Invalid) {
			t.Errorf("%q: got %v, want Invalid", s, err)
		}
	}
	if f, err := testclaims.ParseRxFault("bad-money/3"); err != nil || f.Every != 3 {
		t.Errorf("got %+v, %v", f, err)
	}
}

func TestGenerateRx_EndsWithTheFirstTransmissionPastTheBytes(t *testing.T) {
	t.Parallel()
	for _, batch := range []bool{false, true} {
		file, s := generateRx(t, testclaims.RxOptions{Bytes: 600_000, Batch: batch})
		if s.Bytes < 600_000 || s.Bytes > 601_000 || s.Claims != s.Transmissions || file[len(file)-1] != 3 {
			t.Fatalf("stats %+v", s)
		}
	}
}

func TestGenerateRx_ReturnsTheWritersError(t *testing.T) {
	t.Parallel()
	for _, left := range []int{0, 1 << 19} {
		if _, err := testclaims.GenerateRx(&failing{left}, testclaims.RxOptions{Claims: 5000}); !errors.Is(err, io.ErrShortWrite) {
			t.Fatalf("got %v", err)
		}
	}
}

func BenchmarkRxAppend(b *testing.B) {
	g, err := testclaims.NewRx(testclaims.RxOptions{Claims: 1 << 40})
	if err != nil {
		b.Fatal(err)
	}
	var buf []byte
	n := 0
	for b.Loop() {
		n++
		buf = g.Append(buf[:0], n)
	}
	b.SetBytes(int64(len(buf)))
}

func TestEachRx_GivesWhatTheFileHolds(t *testing.T) {
	t.Parallel()
	o := testclaims.RxOptions{Claims: 9, TransactionsPer: 2, Faults: []testclaims.Fault{{Name: "bad-money", At: []int{4}}}}
	var joined []byte
	st, err := testclaims.EachRx(o, func(_ int, b []byte) error {
		joined = append(append(append(joined, 2), b...), 3)
		return nil
	})
	file, want := generateRx(t, o)
	if err != nil || !bytes.Equal(joined, file) || st.Claims != want.Claims || st.BadClaims != 1 || len(st.Made) != 1 || st.AmountCents != want.AmountCents {
		t.Fatalf("%v, %+v, want %+v", err, st, want)
	}
	calls := 0
	if _, err := testclaims.EachRx(o, func(int, []byte) error { calls++; return io.ErrShortWrite }); !errors.Is(err, io.ErrShortWrite) || calls != 1 {
		t.Fatalf("%v after %d calls", err, calls)
	}
}
