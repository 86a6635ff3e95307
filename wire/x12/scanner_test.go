package x12_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"claimdlq"
	"claimdlq/wire/x12"
)

// seen is what a scan returned, by kind.
type seen struct {
	junk   []x12.Junk
	starts []x12.InterchangeStart
	loose  []x12.Loose
	groups []x12.GroupEnd
	sets   []x12.Set
	ends   []x12.InterchangeEnd
	claims []x12.Claim
	parts  int
}

// scan reads in with the given options, and keeps what it returned.
func scan(t testing.TB, in string, o x12.Options) (s seen) {
	t.Helper()
	o.OnClaim = func(c *x12.Claim) {
		kept := *c
		kept.CLM01 = bytes.Clone(c.CLM01)
		kept.Fingerprint = nil
		for _, p := range c.Fingerprint {
			kept.Fingerprint = append(kept.Fingerprint, bytes.Clone(p))
		}
		s.claims = append(s.claims, kept)
	}
	sc := x12.NewScanner(strings.NewReader(in), o)
	for {
		ev, err := sc.Next()
		if errors.Is(err, io.EOF) {
			return s
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := ev.(type) {
		case *x12.Junk:
			s.junk = append(s.junk, *e)
		case *x12.InterchangeStart:
			s.starts = append(s.starts, *e)
		case *x12.Loose:
			s.loose = append(s.loose, *e)
		case *x12.SetPart:
			s.parts++
		case *x12.Set:
			s.sets = append(s.sets, *e)
		case *x12.GroupEnd:
			s.groups = append(s.groups, *e)
		case *x12.InterchangeEnd:
			s.ends = append(s.ends, *e)
		}
	}
}

// verdict is a scan in one line: TA1s, AK9s, IK5s with their codes, and notes.
func (s seen) verdict() string {
	var w []string
	for _, e := range s.ends {
		w = append(w, "TA1 "+e.TA1+" "+e.Note)
		w = append(w, e.Notes...)
	}
	for _, g := range s.groups {
		w = append(w, "AK9 "+strings.Join(append([]string{g.AK9}, g.AK905...), " "))
	}
	for _, e := range s.sets {
		w = append(w, "IK5 "+strings.Join(append([]string{e.IK5}, e.IK502...), " "))
	}
	return strings.Join(w, ", ")
}

const clean = "TA1 A 000, AK9 A, IK5 A"

// change replaces old, which must be there once, by new.
func change(t testing.TB, in, old, with string) string {
	t.Helper()
	if strings.Count(in, old) != 1 {
		t.Fatalf("%q is there %d times", old, strings.Count(in, old))
	}
	return strings.Replace(in, old, with, 1)
}

// next is base under other numbers.
func next(t testing.TB) string {
	return strings.ReplaceAll(strings.ReplaceAll(base, "000000101", "000000102"), "*201", "*202")
}

func TestScanner_CleanFileHasNoFaults(t *testing.T) {
	t.Parallel()
	s := scan(t, base, x12.Options{})
	if v := s.verdict(); v != clean {
		t.Fatal(v)
	}
	set := s.sets[0]
	if set.Format != claimdlq.Format837P || set.Segments != 30 || set.Claims != 2 || set.AmountCents != 25000 {
		t.Errorf("%+v", set)
	}
	if string(set.BHT03) != "BATCH1" || set.BHT04 != "20260301" || set.Size != int64(len(set.Raw)) || base[set.Offset:][:3] != "ST*" {
		t.Errorf("BHT03 %s, BHT04 %s, size %d, offset %d", set.BHT03, set.BHT04, set.Size, set.Offset)
	}
	if g := s.groups[0]; g.Included != 1 || g.Received != 1 || g.Accepted != 1 {
		t.Errorf("%+v", g)
	}
}

func TestScanner_ToleratesAndNotes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, verdict string }{
		"line breaks everywhere":   {strings.ReplaceAll(base, "~", "~\n"), clean},
		"CR LF everywhere":         {strings.ReplaceAll(base, "~", "~\r\n"), clean},
		"CR LF, the last has none": {strings.TrimSuffix(strings.ReplaceAll(base, "~", "~\r\n"), "\r\n"), clean},
		"CR terminates":            {strings.ReplaceAll(base, "~", "\r"), clean},
		"CR terminates, LF after":  {strings.ReplaceAll(base, "~", "\r\n"), clean},
		"LF terminates":            {strings.ReplaceAll(base, "~", "\n"), clean},
		"control characters":       {strings.NewReplacer("*", "\x1d", ":", "\x1f", "^", "\x1e", "~", "\x1c").Replace(base), clean},
		"some line breaks":         {change(t, base, "GE*", "\nGE*"), "TA1 A 000, LINE_BREAKS, AK9 A, IK5 A"},
		"indented":                 {change(t, strings.ReplaceAll(base, "~", "~\n"), "LX*1~\nSV1*HC:99213*125*UN*1***1~\nDTP*472*D8*20260210~\nREF*6R*LN2", "  LX*1~\n    SV1*HC:99213*125*UN*1***1~\nDTP*472*D8*20260210~\nREF*6R*LN2"), "TA1 A 000, INDENTED, AK9 A, IK5 A"},
		"blank lines":              {change(t, strings.ReplaceAll(base, "~", "~\n"), "GE*", "\n\nGE*"), "TA1 A 000, LINE_BREAKS, AK9 A, IK5 A"},
		"terminator twice":         {change(t, base, "~GE*", "~~GE*"), "TA1 A 000, EMPTY_SEGMENT, AK9 A, IK5 A"},
		"no last terminator":       {strings.TrimSuffix(base, "~"), "TA1 A 000, LAST_TERMINATOR, AK9 A, IK5 A"},
		"padded counts":            {change(t, change(t, base, "GE*1*", "GE*001*"), "SE*30*", "SE*0030*"), "TA1 A 000, PADDED_COUNT, AK9 A, IK5 A"},
		"number not padded":        {change(t, base, "IEA*1*000000101", "IEA*1*101"), "TA1 A 000, PADDED_NUMBER, AK9 A, IK5 A"},
		"GE02 padded":              {change(t, base, "GE*1*201", "GE*1*0201"), "TA1 A 000, PADDED_NUMBER, AK9 A, IK5 A"},
		"U for ISA11":              {change(t, base, "*^*", "*U*"), "TA1 A 000, ISA11_LETTER, AK9 A, IK5 A"},
		"number of zeros":          {strings.ReplaceAll(base, "000000101", "000000000"), "TA1 A 000, ISA13_ZERO, AK9 A, IK5 A"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, o := range []x12.Options{{}, {EnvelopeOnly: true}} {
				if v := scan(t, c.in, o).verdict(); v != c.verdict {
					t.Errorf("%s\nwant %s", v, c.verdict)
				}
			}
		})
	}
}

func TestScanner_HardWrapIsUnwrappedWhereverItFalls(t *testing.T) {
	t.Parallel()
	for width := 40; width < 140; width++ {
		if width == 105 {
			continue // the break would stand where the terminator must
		}
		for _, br := range []string{"\n", "\r\n"}[width%2:][:1] {
			var in strings.Builder
			for i := 0; i < len(base); i += width {
				in.WriteString(base[i:min(i+width, len(base))] + br)
			}
			for _, o := range []x12.Options{{}, {EnvelopeOnly: true}} {
				s := scan(t, in.String(), o)
				if len(s.sets) != 1 || s.sets[0].IK5 != "A" || s.sets[0].Claims != 2 || s.sets[0].AmountCents != 25000 || s.ends[0].TA1 != "A" || s.groups[0].AK9 != "A" {
					t.Errorf("width %d: %s", width, s.verdict())
				}
				if !o.EnvelopeOnly && !slices.Contains(s.ends[0].Notes, "WRAPPED") {
					t.Errorf("width %d is not noted: %v", width, s.ends[0].Notes)
				}
			}
		}
	}
}

func TestScanner_EnvelopeFaults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, verdict string }{
		"IEA02 differs":        {change(t, base, "IEA*1*000000101", "IEA*1*000000102"), "TA1 R 001, AK9 A, IK5 A"},
		"IEA01 wrong":          {change(t, base, "IEA*1*", "IEA*2*"), "TA1 R 021, AK9 A, IK5 A"},
		"IEA01 no number":      {change(t, base, "IEA*1*", "IEA*X*"), "TA1 R 021, AK9 A, IK5 A"},
		"IEA cut off":          {strings.TrimSuffix(base, "0101~"), "TA1 R 023, AK9 A, IK5 A"},
		"no IEA":               {change(t, base, "IEA*1*000000101~", ""), "TA1 R 023, AK9 A, IK5 A"},
		"no GE":                {change(t, base, "GE*1*201~", ""), "TA1 A 000, AK9 R 3, IK5 A"},
		"no GE, no IEA":        {change(t, base, "GE*1*201~IEA*1*000000101~", ""), "TA1 R 023, AK9 R 3, IK5 A"},
		"no SE":                {change(t, base, "SE*30*0001~", ""), "TA1 A 000, AK9 R, IK5 R 2"},
		"ends in a set":        {base[:strings.Index(base, "SE*")], "TA1 R 023, AK9 R 3, IK5 R 2"},
		"GE01 wrong":           {change(t, base, "GE*1*", "GE*2*"), "TA1 A 000, AK9 R 5, IK5 A"},
		"GE01 no number":       {change(t, base, "GE*1*", "GE*X*"), "TA1 A 000, AK9 R 5, IK5 A"},
		"GE02 differs":         {change(t, base, "GE*1*201", "GE*1*202"), "TA1 A 000, AK9 R 4, IK5 A"},
		"GS06 no number":       {strings.ReplaceAll(base, "*201", "*20A"), "TA1 A 000, AK9 R 6, IK5 A"},
		"GS06 zero":            {strings.ReplaceAll(base, "*201", "*0"), "TA1 A 000, AK9 R 6, IK5 A"},
		"GS06 too long":        {strings.ReplaceAll(base, "*201", "*1234567890"), "TA1 A 000, AK9 R 6, IK5 A"},
		"GS01 unknown":         {change(t, base, "GS*HC", "GS*PO"), "TA1 A 000, AK9 R 1, IK5 A"},
		"GS08 unknown":         {change(t, base, "*X*005010X222A1", "*X*005010X999A1"), "TA1 A 000, AK9 R 2, IK5 A"},
		"GS04 no date":         {change(t, base, "RECEIVER*20260301*0930*201", "RECEIVER*20261301*0930*201"), "TA1 R 024, AK9 R, IK5 A"},
		"GS05 no time":         {change(t, base, "20260301*0930*201", "20260301*2530*201"), "TA1 R 024, AK9 R, IK5 A"},
		"GS02 empty":           {change(t, base, "HC*TESTSENDER*", "HC**"), "TA1 R 024, AK9 R, IK5 A"},
		"stray segment":        {change(t, base, "GS*HC", "REF*X*1~GS*HC"), "TA1 R 024, AK9 A, IK5 A"},
		"stray between sets":   {change(t, base, "GE*1", "REF*X*1~GE*1"), "TA1 R 024, AK9 A, IK5 A"},
		"set without a group":  {strings.NewReplacer("GE*1*201~", "", "GS*HC*TESTSENDER*TESTRECEIVER*20260301*0930*201*X*005010X222A1~", "").Replace(base), "TA1 R 024"},
		"nothing inside":       {isa + "IEA*0*000000101~", "TA1 R 024"},
		"ISA alone":            {isa, "TA1 R 023"},
		"SE01 low":             {change(t, base, "SE*30*", "SE*29*"), "TA1 A 000, AK9 R, IK5 R 4"},
		"SE01 high":            {change(t, base, "SE*30*", "SE*31*"), "TA1 A 000, AK9 R, IK5 R 4"},
		"SE02 differs":         {change(t, base, "SE*30*0001", "SE*30*0002"), "TA1 A 000, AK9 R, IK5 R 3"},
		"SE02 is text":         {change(t, base, "SE*30*0001", "SE*30*00001"), "TA1 A 000, AK9 R, IK5 R 3"},
		"ST02 short":           {strings.ReplaceAll(base, "*0001*005010", "*01*005010"), "TA1 A 000, AK9 R, IK5 R 7 3"},
		"ST01 unknown":         {change(t, base, "ST*837", "ST*838"), "TA1 A 000, AK9 R, IK5 R 6 1"},
		"ST01 of other groups": {change(t, base, "ST*837", "ST*835"), "TA1 A 000, AK9 R, IK5 R 18 1"},
		"ST03 and GS08 differ": {change(t, base, "0001*005010X222A1", "0001*005010X223A2"), "TA1 A 000, AK9 R, IK5 R 19"},
		"ST03 missing":         {change(t, base, "0001*005010X222A1", "0001"), "TA1 A 000, AK9 R, IK5 R 19"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := scan(t, c.in, x12.Options{EnvelopeOnly: true}).verdict()
			if v != c.verdict {
				t.Errorf("%s\nwant %s", v, c.verdict)
			}
			// The guides may add what is wrong with a segment (IK502 5), nothing else.
			judged := scan(t, c.in, x12.Options{}).verdict()
			if judged = strings.TrimSuffix(judged, " 5"); judged != v {
				t.Errorf("with guides %s\nwithout %s", judged, v)
			}
		})
	}
}

func TestScanner_LostTrailerBeforeTheNextInterchange(t *testing.T) {
	t.Parallel()
	cut := change(t, base, "IEA*1*000000101~", "")
	other := strings.NewReplacer("*", "|", ":", ">", "^", "{", "~", "!").Replace(next(t))
	for name, in := range map[string]string{
		"same delimiters":         cut + next(t),
		"other delimiters":        cut + other,
		"cut inside a set":        base[:strings.Index(base, "HL*2")] + next(t),
		"cut inside a segment":    base[:strings.Index(base, "TFIRST")] + next(t),
		"cut, other delimiters":   base[:strings.Index(base, "HL*2")] + other,
		"cut inside, other ones":  base[:strings.Index(base, "TFIRST")] + other,
		"cut inside the envelope": base[:strings.Index(base, "GS*HC")+20] + next(t),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scan(t, in, x12.Options{})
			if len(s.ends) != 2 || s.ends[0].Note != "023" || s.ends[1].TA1 != "A" {
				t.Fatal(s.verdict())
			}
			if last := s.sets[len(s.sets)-1]; last.IK5 != "A" || last.Claims != 2 {
				t.Errorf("the second interchange must be whole: %+v", last)
			}
		})
	}
}

func TestScanner_EachInterchangeHasItsDelimiters(t *testing.T) {
	t.Parallel()
	other := strings.NewReplacer("*", "|", ":", ">", "^", "{", "~", "!").Replace(next(t))
	s := scan(t, base+other, x12.Options{})
	if v := s.verdict(); v != "TA1 A 000, TA1 A 000, AK9 A, AK9 A, IK5 A, IK5 A" {
		t.Fatal(v)
	}
	if d := s.starts[1].Delims; d.Element != '|' || d.Component != '>' || d.Segment != '!' || d.Repetition != '{' {
		t.Errorf("%+v", d)
	}
}

func TestScanner_DuplicateNumbers(t *testing.T) {
	t.Parallel()
	set := base[strings.Index(base, "ST*"):strings.Index(base, "GE*")]
	group := base[strings.Index(base, "GS*"):strings.Index(base, "IEA*")]
	other := change(t, base, "TESTRECEIVER   *", "OTHERRECEIVER  *")
	bad := change(t, base, "IEA*1*", "IEA*9*")
	for name, c := range map[string]struct{ in, verdict string }{
		"ISA13 again":                {base + base, "TA1 A 000, TA1 R 025, AK9 A, AK9 A, IK5 A, IK5 A"},
		"ISA13 to another receiver":  {base + other, "TA1 A 000, TA1 A 000, AK9 A, AK9 A, IK5 A, IK5 A"},
		"ISA13 of a rejected one":    {bad + base, "TA1 R 021, TA1 A 000, AK9 A, AK9 A, IK5 A, IK5 A"},
		"ST02 again":                 {change(t, change(t, base, "GE*1", set+"GE*1"), "GE*1", "GE*2"), "TA1 A 000, AK9 P, IK5 A, IK5 R 23"},
		"GS06 again":                 {change(t, change(t, base, "IEA*1", group+"IEA*1"), "IEA*1", "IEA*2"), "TA1 A 000, AK9 A, AK9 R 19, IK5 A, IK5 A"},
		"GS06 again, padded":         {change(t, change(t, base, "IEA*1", strings.ReplaceAll(group, "*201", "*0201")+"IEA*1"), "IEA*1", "IEA*2"), "TA1 A 000, AK9 A, AK9 R 19, IK5 A, IK5 A"},
		"ST02 again in other groups": {change(t, change(t, base, "IEA*1", strings.ReplaceAll(group, "*201", "*202")+"IEA*1"), "IEA*1", "IEA*2"), "TA1 A 000, AK9 A, AK9 A, IK5 A, IK5 A"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if v := scan(t, c.in, x12.Options{}).verdict(); v != c.verdict {
				t.Errorf("%s\nwant %s", v, c.verdict)
			}
		})
	}
}

func TestScanner_ManySetNumbersOutOfOrder(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(isa + "GS*HC*TESTSENDER*TESTRECEIVER*20260301*0930*201*X*005010X222A1~")
	order := []int{}
	for i := range 300 { // counting up, down, in jumps, and from the middle
		order = append(order, 1000+i, 9000-i, 20000+7*i)
	}
	slices.SortFunc(order[300:600], func(a, b int) int { return a - b })
	for _, n := range order {
		fmt.Fprintf(&b, "ST*837*%05d*005010X222A1~SE*2*%05d~", n, n)
	}
	again := []int{1000, 1150, 9000, 8800, 20000, 20007, 22093}
	for _, n := range again {
		fmt.Fprintf(&b, "ST*837*%05d*005010X222A1~SE*2*%05d~", n, n)
	}
	fmt.Fprintf(&b, "GE*%d*201~IEA*1*000000101~", len(order)+len(again))
	s := scan(t, b.String(), x12.Options{EnvelopeOnly: true})
	for i, set := range s.sets {
		if dup := slices.Contains(set.IK502, "23"); dup != (i >= len(order)) {
			t.Errorf("set %d, ST02 %s: duplicate %v", i, set.ST02, dup)
		}
	}
}

func TestScanner_TA1Only(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, verdict string }{
		{isa + "TA1*000000099*260301*0930*A*000~IEA*0*000000101~", "TA1 A 000"},
		{isa + "TA1*000000099*260301*0930*A*000~IEA*1*000000101~", "TA1 A 000, TA1_COUNTED_AS_GROUP"},
		{isa + "TA1*99*260301*0930*A*000~IEA*0*000000101~", "TA1 A 000, TA101_UNPADDED"},
		{isa + "TA1*000000099*260301*0930*A*000~IEA*2*000000101~", "TA1 R 021"},
		{change(t, base, "GS*HC", "TA1*000000099*260301*0930*R*006~GS*HC"), clean},
	} {
		s := scan(t, c.in, x12.Options{})
		if v := s.verdict(); v != c.verdict {
			t.Errorf("%s\nwant %s", v, c.verdict)
		}
		if len(s.loose) != 1 || s.loose[0].ID != "TA1" || len(s.loose[0].Elements) != 5 || s.loose[0].Elements[1] != "260301" {
			t.Errorf("%+v", s.loose)
		}
	}
}

func TestScanner_JunkAroundInterchanges(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in       string
		harmless []bool
		ta1      string
		poison   bool
		good     int
	}{
		"byte order mark":     {"\xef\xbb\xbf" + base, []bool{true}, "", false, 1},
		"blank line":          {"\r\n" + base, []bool{true}, "", false, 1},
		"Ctrl-Z":              {base + "\r\n\x1a", []bool{true}, "", false, 1},
		"words between":       {base + "HELLO WORLD" + next(t), []bool{false}, "", false, 2},
		"words after":         {base + "GOODBYE", []bool{false}, "", false, 1},
		"words before":        {"HELLO" + base, []bool{false}, "", false, 1},
		"words that begin so": {"ISAAC AND ISA*BELLA" + base, []bool{false}, "", false, 1},
		"nothing but words":   {"HELLO WORLD", []bool{false}, "", true, 0},
		"cut off ISA":         {isa[:60], []bool{false}, "023", true, 0},
		"bad ISA, then good":  {strings.Replace(isa, "*T*:", "*T:", 1) + base, []bool{false}, "022", true, 1},
		"bad terminator":      {isa[:105] + "G" + base[106:], []bool{false}, "004", true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scan(t, c.in, x12.Options{})
			if len(s.junk) != len(c.harmless) || len(s.ends) != c.good {
				t.Fatalf("junk %+v, %s", s.junk, s.verdict())
			}
			for i, j := range s.junk {
				if j.Harmless != c.harmless[i] || j.TA1 != c.ta1 || j.Poison != c.poison {
					t.Errorf("%+v", j)
				}
			}
			for _, e := range s.ends {
				if e.TA1 != "A" {
					t.Error(s.verdict())
				}
			}
		})
	}
}

func TestScanner_NamesThatBeginLikeAnInterchange(t *testing.T) {
	t.Parallel()
	in := strings.ReplaceAll(base, "TESTLAST", "ISAACSON")
	if v := scan(t, in, x12.Options{}).verdict(); v != clean {
		t.Error(v)
	}
}

func TestScanner_ReadsOfAnySizeGiveTheSameEvents(t *testing.T) {
	t.Parallel()
	in := "\xef\xbb\xbf" + strings.ReplaceAll(base, "~", "~\r\n") + "JUNK" + strings.Repeat("x", 70000) + next(t)
	for _, o := range []x12.Options{{}, {PartSize: 64}, {PartSize: 1, MaxSegment: 200}, {EnvelopeOnly: true, PartSize: 100}} {
		whole, _ := scanAll(t, strings.NewReader(in), o)
		slow, _ := scanAll(t, iotest.OneByteReader(strings.NewReader(in)), o)
		if string(whole) != in || string(slow) != in {
			t.Errorf("%+v: %d and %d bytes of %d", o, len(whole), len(slow), len(in))
		}
	}
}

func TestScanner_ErrorOfTheReaderIsReturned(t *testing.T) {
	t.Parallel()
	want := errors.New("the disk is gone")
	s := x12.NewScanner(io.MultiReader(strings.NewReader(base[:400]), iotest.ErrReader(want)), x12.Options{})
	for range 10 {
		if _, err := s.Next(); err != nil {
			if !errors.Is(err, want) {
				t.Fatal(err)
			}
			if _, again := s.Next(); !errors.Is(again, want) {
				t.Fatal("the error must stay")
			}
			return
		}
	}
	t.Fatal("no error")
}

// longRead is a reader of n bytes of one segment that never ends.
type longRead struct{ left int }

func (e *longRead) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n := min(len(p), e.left)
	for i := range p[:n] {
		p[i] = 'x'
	}
	e.left -= n
	return n, nil
}

func TestScanner_HugeSegmentPassesInParts(t *testing.T) {
	t.Parallel()
	at := strings.Index(base, "HI*ABK")
	const size = 64 << 20
	r := io.MultiReader(strings.NewReader(base[:at]+"NTE*ADD*"), &longRead{size}, strings.NewReader("~"+change(t, base[at:], "SE*30", "SE*31")))
	var total, largest int64
	var set *x12.Set
	s := x12.NewScanner(r, x12.Options{PartSize: 1 << 20, MaxSegment: 64 << 10})
	for {
		ev, err := s.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		n := int64(len(raw(ev)))
		total += n
		largest = max(largest, n)
		if e, ok := ev.(*x12.Set); ok {
			set = e
		}
	}
	if want := int64(len(base) + 9 + size); total != want {
		t.Errorf("%d bytes of %d", total, want)
	}
	if largest > 3<<20 {
		t.Errorf("an event of %d bytes", largest)
	}
	if set.Whole || len(set.BadClaims) != 1 || set.BadClaims[0].Ordinal != 1 || set.Claims != 2 {
		t.Errorf("%+v", set.BadClaims)
	}
	if f := set.Faults[0]; f.Segment != "NTE" || f.IK403 != "5" || f.Element != "02" {
		t.Errorf("%+v", f)
	}
}

func TestScanner_LargeSetComesInParts(t *testing.T) {
	t.Parallel()
	in := string(professional(200_000))
	s := scan(t, in, x12.Options{PartSize: 4096})
	if s.parts == 0 {
		t.Fatal("no part")
	}
	whole := scan(t, in, x12.Options{})
	if s.verdict() != whole.verdict() || len(s.claims) != len(whole.claims) {
		t.Error(s.verdict())
	}
	for i := range s.claims {
		if fmt.Sprint(s.claims[i]) != fmt.Sprint(whole.claims[i]) {
			t.Fatalf("claim %d: %v, whole %v", i, s.claims[i], whole.claims[i])
		}
	}
}

func TestScanner_MemoryDoesNotGrowWithTheFile(t *testing.T) {
	const perSet = 40
	small, large := professional(512<<10), professional(4<<20)
	count := func(in []byte) float64 {
		return testing.AllocsPerRun(2, func() { _, _ = drain(x12.NewScanner(bytes.NewReader(in), x12.Options{OnClaim: func(*x12.Claim) {}})) })
	}
	a, b := count(small), count(large)
	sets, _ := drain(x12.NewScanner(bytes.NewReader(large), x12.Options{}))
	if grown := b - a; grown > float64(perSet*sets) {
		t.Errorf("%.0f allocations more for %d sets: some segment or claim costs one", grown, sets)
	}
}

func drain(s *x12.Scanner) (sets int, err error) {
	for {
		ev, err := s.Next()
		if err != nil {
			return sets, err
		}
		if _, ok := ev.(*x12.Set); ok {
			sets++
		}
	}
}
