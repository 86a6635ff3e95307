package x12_test

import (
	"strings"
	"testing"

	"claimdlq/wire/x12"
)

// withISA returns an ISA with element n replaced; the value keeps its width.
func withISA(t *testing.T, n int, value string) string {
	t.Helper()
	el := strings.Split(strings.TrimSuffix(isa, "~"), "*")
	if len(value) != len(el[n]) {
		t.Fatalf("ISA%02d is %d wide", n, len(el[n]))
	}
	el[n] = value
	return strings.Join(el, "*") + "~"
}

func TestParseISA_ReadsDelimitersAndAddresses(t *testing.T) {
	t.Parallel()
	h, ta1 := x12.ParseISA([]byte(isa + "\r\nGS*HC"))
	if ta1 != "" || h.Note != "" {
		t.Fatalf("TA105 %q %q", ta1, h.Note)
	}
	want := x12.Delims{Element: '*', Component: ':', Segment: '~', Repetition: '^', Suffix: "\r\n"}
	if h.Delims != want {
		t.Errorf("delimiters %+v", h.Delims)
	}
	if h.Len != 108 || h.Number != 101 || h.ISA13 != "000000101" || !h.AckWanted {
		t.Errorf("%+v", h)
	}
	if e := h.Envelope; e.Sender != "TESTSENDER" || e.Receiver != "TESTRECEIVER" || e.SenderQualifier != "ZZ" || e.Date != "260301" || e.Time != "0930" || e.Usage != "T" {
		t.Errorf("envelope %+v", e)
	}
}

func TestParseISA_EachBadElementHasItsNote(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		el    int
		value string
		note  string
	}{
		{1, "99", "010"},
		{2, "A*B       ", "011"},
		{3, "XX", "012"},
		{4, "   \x01      ", "013"},
		{5, "QQ", "005"},
		{6, "               ", "006"},
		{6, "TEST*SENDER    ", "006"},
		{7, "  ", "007"},
		{8, "               ", "008"},
		{9, "261301", "014"},
		{9, "260229", "014"},
		{9, "26 301", "014"},
		{10, "2400", "015"},
		{10, "0960", "015"},
		{11, "A", "016"},
		{11, "*", "016"},
		{11, ":", "016"},
		{12, "00999", "003"},
		{12, "00401", "003"},
		{12, "ABCDE", "017"},
		{13, "ABC000101", "018"},
		{13, "0000 0101", "018"},
		{14, "2", "019"},
		{15, "Q", "020"},
		{15, " ", "020"},
	} {
		h, ta1 := x12.ParseISA([]byte(withISA(t, c.el, c.value) + "GS*"))
		if ta1 != "" || h.Note != c.note {
			t.Errorf("ISA%02d %q: TA105 %q %q, want %s", c.el, c.value, ta1, h.Note, c.note)
		}
	}
}

func TestParseISA_GoodElements(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		el    int
		value string
	}{
		{1, "03"},
		{3, "01"},
		{5, "30"},
		{9, "240229"},
		{10, "2359"},
		{11, "U"},
		{14, "0"},
		{15, "P"},
		{15, "I"},
		{13, "000000000"},
	} {
		if h, ta1 := x12.ParseISA([]byte(withISA(t, c.el, c.value))); ta1 != "" || h.Note != "" {
			t.Errorf("ISA%02d %q: TA105 %q %q", c.el, c.value, ta1, h.Note)
		}
	}
	if h, _ := x12.ParseISA([]byte(withISA(t, 11, "U"))); h.Delims.Repetition != 0 || !h.LetterRepetition {
		t.Error("U must not become a repetition separator")
	}
	if h, _ := x12.ParseISA([]byte(withISA(t, 13, "000000000"))); !h.ZeroNumber {
		t.Error("a number of zeros must be noted")
	}
}

func TestParseISA_WhatCannotBeReadSaysWhy(t *testing.T) {
	t.Parallel()
	term := func(c string) string { return isa[:105] + c + "GS*HC*A*B" }
	for name, c := range map[string]struct{ in, ta1 string }{
		"nothing":               {"", "022"},
		"another protocol":      {`MSH|^~\&|A`, "022"},
		"one letter":            {"I", "023"},
		"cut off":               {isa[:60], "023"},
		"cut off at the end":    {isa[:105], "023"},
		"an element missing":    {strings.Replace(isa, "*T*:", "*T:", 1) + "GS*HC*A*B*C*D*E*F", "022"},
		"letter as terminator":  {term("G"), "004"},
		"digit as terminator":   {term("1"), "004"},
		"blank as terminator":   {term(" "), "004"},
		"one element too many":  {term("*"), "022"},
		"letter as separator":   {strings.ReplaceAll(isa, "*", "X"), "026"},
		"ISA16 missing":         {isa[:104] + "~GS*HC*A*B", "027"},
		"words that begin so":   {"ISAAC NEWTON WAS BORN IN 1642", "022"},
		"widths, and no follow": {"ISA*00**00**ZZ*A*ZZ*B*260301*0930*^*00501*000000101*1*T*:~HELLO", "022"},
	} {
		if _, ta1 := x12.ParseISA([]byte(c.in)); ta1 != c.ta1 {
			t.Errorf("%s: TA105 %q, want %s", name, ta1, c.ta1)
		}
	}
}

func TestParseISA_ComponentSeparatorThatIsNone(t *testing.T) {
	t.Parallel()
	for _, c := range []string{"A", "*", "~", " "} {
		h, ta1 := x12.ParseISA([]byte(isa[:104] + c + "~GS*HC"))
		if ta1 != "" || h.Note != "027" || h.Delims.Component != 0 {
			t.Errorf("component %q: %q %q %q", c, ta1, h.Note, h.Delims.Component)
		}
	}
}

func TestParseISA_UnpaddedElementsAreFoundByTheirSeparators(t *testing.T) {
	t.Parallel()
	in := "ISA*00*          *00*          *ZZ*SHORT*ZZ*TESTRECEIVER   *260301*0930*^*00501*000000101*1*T*:~\nGS*HC"
	h, ta1 := x12.ParseISA([]byte(in))
	if ta1 != "" || h.Note != "006" || h.Envelope.Sender != "SHORT" || h.Delims.Segment != '~' || h.Len != len(in)-5 {
		t.Errorf("%q %+v", ta1, h)
	}
}

func TestParseISA_LineBreaksInsideAreLeftOut(t *testing.T) {
	t.Parallel()
	in := isa[:80] + "\r\n" + isa[80:] + "GS*HC"
	h, ta1 := x12.ParseISA([]byte(in))
	if ta1 != "" || h.Note != "" || !h.Wrapped || h.Len != 108 || h.Delims.Segment != '~' {
		t.Errorf("%q %+v", ta1, h)
	}
}

func TestParseISA_AnyByteMayBeTheTerminator(t *testing.T) {
	t.Parallel()
	for c := 1; c < 256; c++ {
		b := byte(c)
		in := []byte(isa[:105] + string([]byte{b}) + "GS*HC*A*B")
		h, ta1 := x12.ParseISA(in)
		bad := b >= '0' && b <= '9' || b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z' || b == ' '
		switch {
		case b == '*':
		case bad && ta1 != "004":
			t.Errorf("terminator %q: TA105 %q", b, ta1)
		case !bad && (ta1 != "" || h.Delims.Segment != b):
			t.Errorf("terminator %q: TA105 %q, read %q", b, ta1, h.Delims.Segment)
		}
	}
}
