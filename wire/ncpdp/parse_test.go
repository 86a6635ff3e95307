package ncpdp_test

import (
	"bytes"
	"strings"
	"testing"

	"claimdlq/wire/ncpdp"
)

// worst returns the code of the first error, or "".
func worst(b []byte) ncpdp.Fault {
	f, _ := ncpdp.Worst(ncpdp.Parse(b).Validate())
	return f
}

func TestParse_HeaderAndSegmentsOfARequest(t *testing.T) {
	t.Parallel()
	m := ncpdp.Parse(basicB1)
	if m.Err() != nil || m.Kind() != ncpdp.KindRequest || m.Version() != ncpdp.VersionD0 || m.Transactions() != 1 || m.Count() != 1 {
		t.Fatal(m.Err(), m.Kind(), m.Version(), m.Transactions())
	}
	for name, got := range map[string][]byte{
		"999999": m.BIN(), "TESTPCN": m.PCN(), "B1": m.TransactionCode(), "01": m.ProviderQualifier(),
		"1234567893": m.Provider(), "20260115": m.ServiceDate(), "SYNTHCERT1": m.Vendor(),
	} {
		if string(got) != name {
			t.Errorf("%q, want %q", got, name)
		}
	}
	var places []string
	for _, s := range m.Segments() {
		places = append(places, s.String()+"@"+string('0'+rune(s.Transaction)))
	}
	if got := strings.Join(places, " "); got != "04@0 01@0 07@1 11@1 03@1" {
		t.Error(got)
	}
	if v, ok := m.Get(1, ncpdp.IDOf("11"), ncpdp.IDOf("DU")); !ok || string(v) != "0000138D" {
		t.Errorf("%q %v", v, ok)
	}
	if _, ok := m.Get(1, ncpdp.IDOf("04"), ncpdp.IDOf("C2")); ok {
		t.Error("a segment of all transactions was found in one")
	}
	if d, ok := m.AmountOf(1, ncpdp.IDOf("D9")); !ok || d.String() != "12.34" {
		t.Error(d, ok)
	}
	if q, ok := m.QuantityOf(1); !ok || q.Units != 30000 || q.Scale != 3 {
		t.Error(q, ok)
	}
}

func TestParse_HeaderOfAResponse(t *testing.T) {
	t.Parallel()
	m := ncpdp.Parse(paidAnswer)
	if m.Err() != nil || m.Kind() != ncpdp.KindResponse || m.HeaderStatus() != 'A' || string(m.Provider()) != "1234567893" ||
		string(m.ServiceDate()) != "20260115" || m.BIN() != nil || len(m.PCN()) != 0 {
		t.Errorf("%v %c %q", m.Err(), m.HeaderStatus(), m.Provider())
	}
	if d, ok := m.AmountOf(1, ncpdp.IDOf("F9")); !ok || d.Units != 1284 {
		t.Error(d, ok)
	}
}

func TestParse_WhatTheBytesAre(t *testing.T) {
	t.Parallel()
	pad := strings.Repeat(" ", 60)
	for _, tt := range []struct {
		in   string
		kind ncpdp.Kind
		ver  ncpdp.Version
	}{
		{"999999D0B1" + pad, ncpdp.KindRequest, ncpdp.VersionD0},
		{"99999951B1" + pad, ncpdp.KindRequest, ncpdp.Version51},
		{"999999F6B1" + pad, ncpdp.KindRequest, ncpdp.VersionF6},
		{"99999999F6B1" + pad, ncpdp.KindRequest, ncpdp.VersionF6},
		{"D0B11A01" + pad, ncpdp.KindResponse, ncpdp.VersionD0},
		{"51B11A01" + pad, ncpdp.KindResponse, ncpdp.Version51},
		{"51B11R51" + pad, ncpdp.KindResponse, ncpdp.Version51},
		{"F6B11A01" + pad, ncpdp.KindResponse, ncpdp.VersionF6},
		{"510455D0B1" + pad, ncpdp.KindRequest, ncpdp.VersionD0}, // a BIN may begin with 51
		{"51B111D0B1" + pad, ncpdp.KindRequest, ncpdp.VersionD0},
		{"\x02999999D0B1" + pad, ncpdp.KindRequest, ncpdp.VersionD0},
		{"999999ZZB1" + pad, ncpdp.KindUnknown, ncpdp.VersionUnknown},
		{"9999993CB1" + pad, ncpdp.KindUnknown, ncpdp.VersionUnknown},
		{"d0b11a01" + pad, ncpdp.KindUnknown, ncpdp.VersionUnknown},
		{"", ncpdp.KindUnknown, ncpdp.VersionUnknown},
	} {
		m := ncpdp.Parse([]byte(tt.in))
		if m.Kind() != tt.kind || m.Version() != tt.ver {
			t.Errorf("%.12q: %v %v", tt.in, m.Kind(), m.Version())
		}
	}
}

func TestParse_FaultsOfTheStructure(t *testing.T) {
	t.Parallel()
	head := requestHead
	for _, tt := range []struct {
		name string
		in   []byte
		code ncpdp.Code
		hint ncpdp.Hint
		at   int
	}{
		{"nothing", nil, ncpdp.CodeEmpty, "", 0},
		{"a frame only", []byte("\x02"), ncpdp.CodeEmpty, "", 0},
		{"header one byte short", []byte(head[:55]), ncpdp.CodeHeaderShort, "", 55},
		{"header alone", []byte(head), ncpdp.CodeNoSeparators, "", 56},
		{"header without padding", msg("999999D0B1TESTPCN1011234567893202601150000000000/04|C2X#/07|D21"), ncpdp.CodeHeaderShort, ncpdp.HintUnpadded, 48},
		{"response header one byte short", []byte(responseHead[:30]), ncpdp.CodeHeaderShort, "", 30},
		{"small letters", bytes.ToLower(basicB1), ncpdp.CodeVersion, ncpdp.HintLowerCase, 0},
		{"a web page", []byte("<!DOCTYPE HTML><title>x</title>"), ncpdp.CodeVersion, ncpdp.HintHTML, 0},
		{"an old version", []byte("9999993CB1TESTPCN   1"), ncpdp.CodeVersion, ncpdp.HintOldVersion, 0},
		{"unknown code", replace(t, "D0B1", "D0Q9"), ncpdp.CodeTransactionCode, "", 8},
		{"small code", replace(t, "D0B1", "D0b1"), ncpdp.CodeTransactionCode, ncpdp.HintLowerCase, 8},
		{"pictures", []byte(head + "\u241e\u241cAM04\u241cC2TEST"), ncpdp.CodeNoSeparators, ncpdp.HintPictures, 56},
		{"notation", []byte(head + "<1E><1C>AM04<1C>C2TEST"), ncpdp.CodeNoSeparators, ncpdp.HintNotation, 56},
		{"escapes", []byte(head + `\x1e\x1cAM04\x1cC2TEST`), ncpdp.CodeNoSeparators, ncpdp.HintNotation, 56},
		{"line break", replace(t, "00000#", "00000\r\n#"), ncpdp.CodeControlChar, ncpdp.HintLineBreak, 170},
		{"line break at the end", append(bytes.Clone(basicB1), '\n'), ncpdp.CodeControlChar, ncpdp.HintLineBreak, len(basicB1)},
		{"NUL at the end", append(bytes.Clone(basicB1), 0), ncpdp.CodeControlChar, ncpdp.HintNUL, len(basicB1)},
		{"letters outside ASCII", replace(t, "CATEST", "CAT\u00d8ST"), ncpdp.CodeControlChar, ncpdp.HintNonASCII, 119},
		{"lost segment separator", replace(t, "/11", "|AM11"), ncpdp.CodeAMInside, "", 267},
		{"lost field separator", replace(t, "/11", "\x1eAM11"), ncpdp.CodeStray, "", 268},
		{"one letter field", replace(t, "|DJ3", "|DJ3|X"), ncpdp.CodeShortField, "", 267},
		{"segment id of one letter", replace(t, "/11", "/1"), ncpdp.CodeSegmentID, "", 268},
		{"segment without its id", replace(t, "/11|D9", "\x1e|D9"), ncpdp.CodeSegmentID, "", 268},
		{"field without a segment", replace(t, "#/07", "#|EM1/07"), ncpdp.CodeSegmentID, "", 171},
		{"segment separator at the end", append(bytes.Clone(basicB1), 0x1e), ncpdp.CodeSegmentID, "", len(basicB1) + 1},
		{"five transactions", append(bytes.Clone(basicB1), msg("#/07|D2#/07|D2#/07|D2#/07|D2")...), ncpdp.CodeTransactionCount, "", 389},
		{"a second message", append(append(bytes.Clone(basicB1), 3), basicB1...), ncpdp.CodeStray, "", len(basicB1) + 1},
		{"too large", make([]byte, ncpdp.MaxMessage+1), ncpdp.CodeTooLarge, "", 0},
	} {
		f, ok := ncpdp.Parse(tt.in).Fault()
		if !ok || f.Code != tt.code || f.Hint != tt.hint || f.Offset != tt.at || f.Severity != ncpdp.Error {
			t.Errorf("%s: %+v", tt.name, f)
		}
		if w := worst(tt.in); w.Code != tt.code {
			t.Errorf("%s: Validate begins with %q", tt.name, w.Code)
		}
	}
}

func TestParse_FramesAreKeptAndSaid(t *testing.T) {
	t.Parallel()
	for frame, note := range map[string]bool{
		"\x02|": false, "|\x03": false, "\x02|\x03": false, "|\x03\x03": false, "\x02\x02|\x03": false,
		"|\x03\r\n": true, "|\x03**5556": true, "\x02|\x03\x00": true,
	} {
		before, after, _ := strings.Cut(frame, "|")
		in := append(append([]byte(before), basicB1...), after...)
		m := ncpdp.Parse(in)
		faults := m.Validate()
		if !ncpdp.OK(faults) || (len(faults) == 1 && faults[0].Code == ncpdp.CodeTrailing) != note {
			t.Errorf("%q: %v", frame, faults)
		}
		if !bytes.Equal(m.Raw(), in) || string(m.BIN()) != "999999" || m.Transactions() != 1 {
			t.Errorf("%q: not kept", frame)
		}
		if v, _ := m.Get(1, ncpdp.IDOf("03"), ncpdp.IDOf("DR")); string(v) != "PRESCRIBER" {
			t.Errorf("%q: the last field is %q", frame, v)
		}
	}
}

func TestParse_PrivateSegmentsAndFieldsAreKept(t *testing.T) {
	t.Parallel()
	in := append(bytes.Clone(basicB1), "\x1e\x1cAMXX\x1c&B1\x1c#A2\x1c!F3"...)
	in = append(in, msg("/99|A6PRIVATE|*AD0|**5556")...)
	m := ncpdp.Parse(in)
	if faults := m.Validate(); len(faults) != 0 {
		t.Fatal(faults)
	}
	s, ok := m.Segment(1, ncpdp.IDOf("XX"))
	if !ok || len(m.Fields(s)) != 3 || s.String() != "??" {
		t.Fatal(ok, s)
	}
	if v, _ := m.In(s, ncpdp.IDOf("#A")); string(v) != "2" {
		t.Errorf("%q", v)
	}
	if s, _ := m.Segment(1, ncpdp.IDOf("99")); len(m.Fields(s)) != 3 {
		t.Error(m.Fields(s))
	}
}

// Every byte of the body is in exactly one segment or separates two: putting the
// header, the segments and what is between them together gives the message.
func TestParse_EveryByteHasItsPlace(t *testing.T) {
	t.Parallel()
	for name, b := range fixtureFiles(t) {
		m := ncpdp.Parse(b)
		if !bytes.Equal(m.Raw(), b) {
			t.Errorf("%s: not the bytes that came in", name)
		}
		if m.Err() != nil {
			continue
		}
		last := int32(0)
		for _, s := range m.Segments() {
			if s.Start < last || b[s.Start] != 0x1e || int(s.End) > len(b) {
				t.Fatalf("%s: segment %s at %d after %d", name, s, s.Start, last)
			}
			last = s.End
			at := s.Start + 6 // 1E 1C A M and the id
			for _, f := range m.Fields(s) {
				if f.Start != at || b[f.Start] != 0x1c || f.End > s.End {
					t.Fatalf("%s: field %s at %d, want %d", name, f.ID, f.Start, at)
				}
				at = f.End
			}
			if at != s.End {
				t.Fatalf("%s: segment %s ends at %d, its fields at %d", name, s, s.End, at)
			}
		}
	}
}

func TestFault_NeverHoldsWhatTheMessageSays(t *testing.T) {
	t.Parallel()
	in := replace(t, "|DJ3", "|canary|DJCANARY|CANARY\x01")
	for _, f := range ncpdp.Parse(in).Validate() {
		all := f.String() + f.Err().Error() + f.Detail().String()
		if strings.Contains(strings.ToUpper(all), "CANARY") || strings.Contains(all, "NARY") || f.Detail().String() == "DETAIL_INVALID" {
			t.Errorf("%s", all)
		}
	}
	// CA is a name in the dictionary, so it may be said; XY is too; ZZ is not.
	if got := ncpdp.IDOf("ZZ").String() + ncpdp.IDOf("ca").String() + ncpdp.IDOf("CA").String() + ncpdp.IDOf("C").String(); got != "????CA??" {
		t.Error(got)
	}
	if d := (ncpdp.Fault{Code: ncpdp.CodeMoney, Segment: "11", Field: "D9"}).Detail().String(); d != "NCPDP:11-D9:MONEY" {
		t.Error(d)
	}
	if d := (ncpdp.Fault{Code: ncpdp.CodeNumeric, Segment: "??", Field: "??"}).Detail().String(); d != "NCPDP:__-__:NUMERIC" {
		t.Error(d)
	}
}

func TestReset_LeavesNothingOfTheMessageBefore(t *testing.T) {
	t.Parallel()
	m := ncpdp.Parse(append(bytes.Clone(basicB1), "\x03**1"...))
	for _, b := range [][]byte{paidAnswer, nil, basicB1, []byte("D0B1"), rejectedAnswer} {
		m.Reset(b)
		fresh := ncpdp.Parse(b)
		if len(m.Segments()) != len(fresh.Segments()) || m.Kind() != fresh.Kind() || len(m.Validate()) != len(fresh.Validate()) ||
			m.Transactions() != fresh.Transactions() {
			t.Errorf("%.20q: differs from a fresh one", b)
		}
	}
}

// Every byte in every place of a word is seen, and none is taken for another.
func TestParse_EveryByteThatIsNotPrintableIsSeen(t *testing.T) {
	t.Parallel()
	for c := range 256 {
		for at := range 20 {
			v := bytes.Repeat([]byte{'~'}, 20)
			v[at] = byte(c)
			if at > 0 {
				v[at-1] = ' '
			}
			m := ncpdp.Parse(append(msg(requestHead+"/04|C2"), v...))
			f, bad := m.Fault()
			want := c < 0x1c && c != 3 || c == 0x1f || c > 0x7e
			if (bad && f.Code == ncpdp.CodeControlChar) != want || want && f.Offset != 65+at {
				t.Fatalf("byte %#02x at %d: %v %v", c, at, bad, f)
			}
		}
	}
}

func TestSeveral_ABodyOfMoreThanOneTransmissionIsTold(t *testing.T) {
	t.Parallel()
	one, answer := string(basicB1), string(paidAnswer)
	for name, c := range map[string]struct {
		body string
		want bool
	}{
		"nothing":                     {"", false},
		"one":                         {one, false},
		"one framed":                  {"\x02" + one + "\x03\x03\r\n", false},
		"one with its STX twice":      {"\x02\x02" + one + "\x03", false},
		"two framed":                  {"\x02" + one + "\x03\x02" + one + "\x03", true},
		"two on lines":                {"\r\n\x02" + one + "\x03\r\n\x02" + one + "\x03", true},
		"a frame that never ends":     {"\x02" + one + "\x02" + one + "\x03", true},
		"three, the second no claim":  {"\x02" + one + "\x03\x02TEST\x03\x02" + one, true},
		"two answers":                 {"\x02" + answer + "\x03\x02" + answer + "\x03", true},
		"a frame that strayed in":     {"\x02" + one[:100] + "\x03\x02" + one[100:] + "\x03", false},
		"an STX at its end":           {"\x02" + one + "\x03\x02", false},
		"filling with an STX in it":   {"\x02\x03\x02" + one, false},
		"a batch of one":              {"\x0200T" + one[:40] + "\x03" + detail("R1"), false},
		"D0 in a word after one":      {"\x02" + one + "\x03\x02D0 is a word", false},
		"two without frames are none": {one + "\x03" + one, false}, // nothing tells where the second begins
	} {
		if got := ncpdp.Several([]byte(c.body)); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
