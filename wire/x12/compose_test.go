package x12_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"claimdlq"
	"claimdlq/wire/x12"
)

// fixture returns a shared fixture, or skips where there are none.
func fixture(t testing.TB, name string) []byte {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if b, err := os.ReadFile(filepath.Join(dir, "shared", "fixtures", "x12", "files", name)); err == nil {
			return b
		}
	}
	t.Skip("no shared X12 fixtures above this directory")
	return nil
}

// delimsOf returns the delimiters of an interchange and where its body starts.
func delimsOf(t testing.TB, doc []byte) (x12.Delims, int) {
	t.Helper()
	h, ta1 := x12.ParseISA(doc)
	if ta1 != "" {
		t.Fatalf("ISA: TA1 %s", ta1)
	}
	return h.Delims, h.Len
}

// units splits a file into its sealed units: ISA, GS and ST to SE.
func units(t testing.TB, file []byte) [][]byte {
	t.Helper()
	var out [][]byte
	var isa, gs, unit []byte
	for len(file) > 0 {
		d, n := delimsOf(t, file)
		isa = file[:n]
		s := x12.NewSegments(file[n:], d)
		end := len(file)
		for s.Next() {
			switch s.ID() {
			case "GS":
				gs = s.Raw()
			case "ST":
				unit = slices.Concat(isa, gs)
			}
			if unit != nil {
				unit = append(unit, s.Raw()...)
			}
			if s.ID() == "SE" {
				out, unit = append(out, unit), nil
			}
			if s.ID() == "IEA" {
				end = n + s.Offset() + len(s.Raw())
				break
			}
		}
		file = file[end:]
	}
	return out
}

func composeAll(t testing.TB, us [][]byte, o x12.AddOptions) ([]byte, []x12.SetStats, x12.Totals) {
	t.Helper()
	var w bytes.Buffer
	var stats []x12.SetStats
	c := x12.NewComposer(&w)
	for _, u := range us {
		st, err := c.Add(bytes.NewReader(u), o)
		if err != nil {
			t.Fatal(err)
		}
		stats = append(stats, st)
	}
	totals, err := c.Close()
	if err != nil {
		t.Fatal(err)
	}
	if totals.Bytes != int64(w.Len()) {
		t.Errorf("totals say %d bytes, written were %d", totals.Bytes, w.Len())
	}
	return w.Bytes(), stats, totals
}

func TestComposer_CleanInterchangeFedSetBySetComesOutAsItWentIn(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"ok-base", "ok-lf", "ok-crlf", "ok-term-cr", "ok-term-crlf", "ok-term-0x1c", "ok-delims-pipe", "ok-delims-gs", "ok-two-st",
		"ok-two-gs-same-st02", "ok-two-isa", "ok-two-isa-different-delims", "ok-rep-u-00501", "ok-isa-in-data", "ok-freq8-f8",
		"ok-encounter-rp", "ok-empty-trailing-elements", "biz-5000-claims", "biz-101-claims-one-patient",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := fixture(t, name+".x12")
			keep := func(int) bool { return false }
			for _, o := range []x12.AddOptions{{}, {Drop: keep}} {
				if got, _, _ := composeAll(t, units(t, file), o); !bytes.Equal(got, file) {
					t.Errorf("drop func %t: came out changed (%d bytes of %d)", o.Drop != nil, len(got), len(file))
				}
			}
		})
	}
}

func TestComposer_ReadsAUnitInAnyPieces(t *testing.T) {
	t.Parallel()
	file := fixture(t, "ok-crlf.x12")
	for _, r := range []io.Reader{
		iotest.OneByteReader(bytes.NewReader(file)), iotest.DataErrReader(bytes.NewReader(file)), iotest.HalfReader(bytes.NewReader(file)),
	} {
		var w bytes.Buffer
		c := x12.NewComposer(&w)
		if _, err := c.Add(r, x12.AddOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Close(); err != nil || !bytes.Equal(w.Bytes(), file) {
			t.Errorf("a whole interchange as a unit came out changed (%v)", err)
		}
	}
}

func TestComposer_WrappedFileIsWrittenUnwrapped(t *testing.T) {
	t.Parallel()
	got, _, _ := composeAll(t, units(t, fixture(t, "ok-wrap80.x12")), x12.AddOptions{})
	if !bytes.Equal(got, fixture(t, "ok-base.x12")) {
		t.Errorf("got %d bytes, want those of the file before it was wrapped", len(got))
	}
}

// tree is a set with two providers, three subscribers and two dependents.
// Claims: 1 and 2 under the first subscriber itself, 3 under its first
// dependent, 4 under its second, 5 under subscriber two, 6 under provider two.
const tree = `ISA*00*          *00*          *ZZ*TESTSENDER     *ZZ*TESTRECEIVER   *260301*0930*^*00501*000000007*1*T*:~
GS*HC*TESTSENDER*TESTRECEIVER*20260301*0930*9*X*005010X222A1~
ST*837*0001*005010X222A1~
BHT*0019*00*TESTBATCH*20260301*0930*CH~
NM1*41*2*TEST SUBMITTER*****46*SUB001~
HL*1**20*1~
NM1*85*2*TEST CLINIC ONE*****XX*1234567893~
HL*2*1*22*1~
SBR*P********CI~
NM1*IL*1*TESTONE~
CLM*PCN1*100.5***11:B:1~
LX*1~
CLM*PCN2*200***11:B:1~
LX*1~
HL*3*2*23*0~
PAT*19~
CLM*PCN3*300***11:B:1~
LX*1~
HL*4*2*23*0~
PAT*19~
CLM*PCN4*400.25***11:B:1~
HL*5*1*22*0~
NM1*IL*1*TESTTWO~
CLM*PCN5*500***11:B:1~
HL*6**20*1~
NM1*85*2*TEST CLINIC TWO*****XX*1234567893~
HL*7*6*22*0~
NM1*IL*1*TESTTHREE~
CLM*PCN6*600***11:B:1~
SE*28*0001~
GE*1*9~
IEA*1*000000007~
`

// outline returns the HL and CLM segments of a document, and its trailers.
func outline(t testing.TB, doc []byte) string {
	t.Helper()
	d, n := delimsOf(t, doc)
	var out []string
	for s := x12.NewSegments(doc[n:], d); s.Next(); {
		switch s.ID() {
		case "CLM":
			out = append(out, string(s.Element(1)))
		case "HL", "SE", "GE", "IEA":
			out = append(out, strings.TrimRight(string(s.Raw()), "~\r\n"))
		}
	}
	return strings.Join(out, " ")
}

func TestComposer_DroppedClaimsTakeEmptyLoopsWithThem(t *testing.T) {
	t.Parallel()
	tests := []struct {
		drop  []int
		cents int64
		want  string
	}{
		{drop: nil, cents: 210075, want: "HL*1**20*1 HL*2*1*22*1 PCN1 PCN2 HL*3*2*23*0 PCN3 HL*4*2*23*0 PCN4 HL*5*1*22*0 PCN5 HL*6**20*1 HL*7*6*22*0 PCN6 SE*28*0001 GE*1*9 IEA*1*000000007"},
		{drop: []int{1}, cents: 200025, want: "HL*1**20*1 HL*2*1*22*1 PCN2 HL*3*2*23*0 PCN3 HL*4*2*23*0 PCN4 HL*5*1*22*0 PCN5 HL*6**20*1 HL*7*6*22*0 PCN6 SE*26*0001 GE*1*9 IEA*1*000000007"},
		// A subscriber without claims of its own stays for its dependent.
		{drop: []int{1, 2, 3}, cents: 150025, want: "HL*1**20*1 HL*2*1*22*1 HL*3*2*23*0 PCN4 HL*4*1*22*0 PCN5 HL*5**20*1 HL*6*5*22*0 PCN6 SE*20*0001 GE*1*9 IEA*1*000000007"},
		// Dependents that are all gone leave a subscriber with child flag 0.
		{drop: []int{3, 4}, cents: 140050, want: "HL*1**20*1 HL*2*1*22*0 PCN1 PCN2 HL*3*1*22*0 PCN5 HL*4**20*1 HL*5*4*22*0 PCN6 SE*21*0001 GE*1*9 IEA*1*000000007"},
		{drop: []int{5}, cents: 160075, want: "HL*1**20*1 HL*2*1*22*1 PCN1 PCN2 HL*3*2*23*0 PCN3 HL*4*2*23*0 PCN4 HL*5**20*1 HL*6*5*22*0 PCN6 SE*25*0001 GE*1*9 IEA*1*000000007"},
		// A provider that has lost every claim goes too.
		{drop: []int{1, 2, 3, 4, 5}, cents: 60000, want: "HL*1**20*1 HL*2*1*22*0 PCN6 SE*9*0001 GE*1*9 IEA*1*000000007"},
		{drop: []int{6}, cents: 150075, want: "HL*1**20*1 HL*2*1*22*1 PCN1 PCN2 HL*3*2*23*0 PCN3 HL*4*2*23*0 PCN4 HL*5*1*22*0 PCN5 SE*23*0001 GE*1*9 IEA*1*000000007"},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint("without ", tt.drop), func(t *testing.T) {
			t.Parallel()
			drop := func(i int) bool { return slices.Contains(tt.drop, i) }
			got, stats, _ := composeAll(t, units(t, []byte(tree)), x12.AddOptions{Drop: drop})
			if o := outline(t, got); o != tt.want {
				t.Errorf("got  %s\nwant %s", o, tt.want)
			}
			want := x12.SetStats{Claims: 6 - len(tt.drop), Dropped: len(tt.drop), AmountCents: tt.cents}
			if stats[0] != want {
				t.Errorf("stats %+v, want %+v", stats[0], want)
			}
			checkCounts(t, got)
		})
	}
}

// checkCounts checks SE01 against the segments of its set.
func checkCounts(t testing.TB, doc []byte) {
	t.Helper()
	d, n := delimsOf(t, doc)
	count := 0
	for s := x12.NewSegments(doc[n:], d); s.Next(); {
		if s.ID() == "ST" {
			count = 0
		}
		count++
		if s.ID() == "SE" && string(s.Element(1)) != fmt.Sprint(count) {
			t.Errorf("SE01 is %s, the set has %d segments", s.Element(1), count)
		}
	}
}

func TestComposer_SetThatLosesEveryClaimIsNotWritten(t *testing.T) {
	t.Parallel()
	us := units(t, fixture(t, "ok-two-st.x12"))
	var w bytes.Buffer
	c := x12.NewComposer(&w)
	st, err := c.Add(bytes.NewReader(us[0]), x12.AddOptions{Drop: func(int) bool { return true }})
	if err != nil || st != (x12.SetStats{Dropped: 2}) {
		t.Fatalf("got %+v, %v", st, err)
	}
	if _, err := c.Add(bytes.NewReader(us[1]), x12.AddOptions{}); err != nil {
		t.Fatal(err)
	}
	totals, err := c.Close()
	if err != nil || totals.Sets != 1 || totals.Groups != 1 {
		t.Fatalf("got %+v, %v", totals, err)
	}
	if got, want := outline(t, w.Bytes()), "HL*1**20*1 HL*2*1*22*0 PCN0003 SE*24*0002 GE*1*201 IEA*1*000000101"; got != want {
		t.Errorf("got %s", got)
	}
}

func TestComposer_NothingKeptWritesNothing(t *testing.T) {
	t.Parallel()
	got, _, totals := composeAll(t, units(t, []byte(tree)), x12.AddOptions{Drop: func(int) bool { return true }})
	if len(got) != 0 || totals != (x12.Totals{}) {
		t.Errorf("wrote %d bytes, %+v", len(got), totals)
	}
}

func TestCutClaim_EachClaimHasItsOwnContext(t *testing.T) {
	t.Parallel()
	unit := units(t, []byte(tree))[0]
	tests := []string{
		1: "HL*1**20*1 HL*2*1*22*0 PCN1 SE*11*0001 GE*1*9 IEA*1*000000007",
		2: "HL*1**20*1 HL*2*1*22*0 PCN2 SE*11*0001 GE*1*9 IEA*1*000000007",
		3: "HL*1**20*1 HL*2*1*22*1 HL*3*2*23*0 PCN3 SE*13*0001 GE*1*9 IEA*1*000000007",
		4: "HL*1**20*1 HL*2*1*22*1 HL*3*2*23*0 PCN4 SE*12*0001 GE*1*9 IEA*1*000000007",
		5: "HL*1**20*1 HL*2*1*22*0 PCN5 SE*9*0001 GE*1*9 IEA*1*000000007",
		6: "HL*1**20*1 HL*2*1*22*0 PCN6 SE*9*0001 GE*1*9 IEA*1*000000007",
	}
	for ordinal, want := range tests {
		if ordinal == 0 {
			continue
		}
		var w bytes.Buffer
		st, err := x12.CutClaim(&w, bytes.NewReader(unit), ordinal, x12.Numbers{})
		if err != nil || st.Claims != 1 {
			t.Fatalf("claim %d: %+v, %v", ordinal, st, err)
		}
		if got := outline(t, w.Bytes()); got != want {
			t.Errorf("claim %d\ngot  %s\nwant %s", ordinal, got, want)
		}
		checkCounts(t, w.Bytes())
	}
	var w bytes.Buffer
	if _, err := x12.CutClaim(&w, bytes.NewReader(unit), 7, x12.Numbers{}); !errors.Is(err, claimdlq.NotFound) || w.Len() != 0 {
		t.Errorf("claim 7 of 6: %v, %d bytes", err, w.Len())
	}
}

func TestCutClaim_DanglingParentStaysAFault(t *testing.T) {
	t.Parallel()
	// HL 7 names as its parent a provider loop that has ended. Renumbered, that
	// number would be another loop's.
	bad := strings.Replace(tree, "HL*7*6*22*0", "HL*7*1*22*0", 1)
	var w bytes.Buffer
	if _, err := x12.CutClaim(&w, strings.NewReader(bad), 6, x12.Numbers{}); err != nil {
		t.Fatal(err)
	}
	if got, want := outline(t, w.Bytes()), "HL*1**20*1 HL*2**22*0 PCN6 SE*9*0001 GE*1*9 IEA*1*000000007"; got != want {
		t.Errorf("got %s", got)
	}
}

func TestComposer_NumbersReplaceTheEnvelopeOnly(t *testing.T) {
	t.Parallel()
	n := x12.Numbers{ISA13: 42, GS06: 43, ST02: "0009", BHT03: "R000000042", Date: "20270405", Time: "0607"}
	for _, name := range []string{"ok-base", "ok-crlf", "ok-term-cr", "ok-delims-gs", "ok-wrap80"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := fixture(t, name+".x12")
			var w bytes.Buffer
			if _, err := x12.CutClaim(&w, bytes.NewReader(file), 2, n); err != nil {
				t.Fatal(err)
			}
			h, ta1 := x12.ParseISA(w.Bytes())
			if ta1 != "" || h.Note != "" || h.Len-len(h.Delims.Suffix) != 106 || h.Number != 42 || h.Envelope.Date != "270405" || h.Envelope.Time != "0607" {
				t.Fatalf("ISA: %s %+v", ta1, h)
			}
			want := map[string][]string{
				"GS": {4: "20270405", 5: "0607", 6: "43", 8: "005010X222A1"}, "ST": {2: "0009"}, "BHT": {3: "R000000042", 4: "20260301"},
				"SE": {1: "24", 2: "0009"}, "GE": {1: "1", 2: "43"}, "IEA": {1: "1", 2: "000000042"}, "CLM": {1: "PCN0002", 2: "125"},
			}
			for s := x12.NewSegments(w.Bytes()[h.Len:], h.Delims); s.Next(); {
				for i, v := range want[s.ID()] {
					if v != "" && string(s.Element(i)) != v {
						t.Errorf("%s%02d is %q, want %q", s.ID(), i, s.Element(i), v)
					}
				}
			}
			checkCounts(t, w.Bytes())
		})
	}
}

func TestComposer_RefusesNumbersThatAreNone(t *testing.T) {
	t.Parallel()
	for _, n := range []x12.Numbers{
		{ISA13: 1_000_000_000},
		{GS06: 1_000_000_000},
		{ST02: "001"},
		{ST02: "0123456789"},
		{ST02: "00*1"},
		{BHT03: "A~B"},
		{BHT03: strings.Repeat("9", 51)},
		{Date: "20260230"},
		{Date: "260301"},
		{Time: "2460"},
		{Time: "093"},
	} {
		if _, err := x12.NewComposer(io.Discard).Add(strings.NewReader(tree), x12.AddOptions{Numbers: n}); !errors.Is(err, claimdlq.Invalid) {
			t.Errorf("%+v: %v", n, err)
		}
	}
	ok := x12.Numbers{ISA13: 999_999_999, GS06: 999_999_999, ST02: "999999999", BHT03: strings.Repeat("9", 50)}
	if _, err := x12.NewComposer(io.Discard).Add(strings.NewReader(tree), x12.AddOptions{Numbers: ok}); err != nil {
		t.Error(err)
	}
}

func TestComposer_RefusesWhatIsNoUnit(t *testing.T) {
	t.Parallel()
	for name, unit := range map[string]string{
		"nothing":              "",
		"no ISA":               "GS*HC~",
		"half an ISA":          tree[:60],
		"no set":               tree[:108],
		"no group":             strings.Replace(tree, "GS*HC*TESTSENDER*TESTRECEIVER*20260301*0930*9*X*005010X222A1~\n", "", 1),
		"no SE":                tree[:strings.Index(tree, "SE*28")],
		"two interchanges":     tree + tree,
		"an unpadded ISA":      strings.Replace(tree, "TESTSENDER     *ZZ", "TESTSENDER*ZZ", 1),
		"a set inside another": strings.Replace(tree, "SE*28*0001~\n", "ST*837*0002~\n", 1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := x12.NewComposer(io.Discard)
			_, err := c.Add(strings.NewReader(unit), x12.AddOptions{})
			if !errors.Is(err, claimdlq.Invalid) {
				t.Fatalf("got %v", err)
			}
			if _, again := c.Close(); !errors.Is(again, err) {
				t.Errorf("after an error Close says %v", again)
			}
		})
	}
}

func TestComposer_GivesReaderAndWriterErrorsBack(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	c := x12.NewComposer(io.Discard)
	if _, err := c.Add(io.MultiReader(strings.NewReader(tree[:700]), iotest.ErrReader(broken)), x12.AddOptions{}); !errors.Is(err, broken) {
		t.Errorf("reader: %v", err)
	}
	c = x12.NewComposer(&brokenWriter{broken})
	_, err := c.Add(strings.NewReader(tree), x12.AddOptions{})
	if err == nil {
		_, err = c.Close()
	}
	if !errors.Is(err, broken) {
		t.Errorf("writer: %v", err)
	}
}

type brokenWriter struct{ err error }

func (w *brokenWriter) Write([]byte) (int, error) { return 0, w.err }
