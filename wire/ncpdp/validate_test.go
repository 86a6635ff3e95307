package ncpdp_test

import (
	"bytes"
	"strings"
	"testing"

	"claimdlq/wire/ncpdp"
)

func TestValidate_CleanMessagesHaveNoFaults(t *testing.T) {
	t.Parallel()
	for name, b := range fixtureFiles(t) {
		if strings.HasPrefix(name, "req_") && !strings.Contains(name, "stx") {
			if faults := ncpdp.Parse(b).Validate(); len(faults) != 0 {
				t.Errorf("%s: %v", name, faults)
			}
		}
	}
}

func TestValidate_FaultsOfARequest(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, old, with string
		want            string // code, segment, field
	}{
		{"BIN with a letter", "999999D0", "99999XD0", "bin//A1"},
		{"count of none", "N   1", "N   0", "transaction_count//A9"},
		{"count of five", "N   1", "N   5", "transaction_count//A9"},
		{"count that is a letter", "N   1", "N   X", "transaction_count//A9"},
		{"count that differs", "N   1", "N   2", "transaction_count//A9"},
		{"no group separator", "#", "", "transaction_count//A9"},
		{"no pharmacy", "1234567893     2026", "               2026", "service_provider//B1"},
		{"no qualifier", "101123", "1  123", "service_provider//B1"},
		{"a day that is none", "20260115", "20260230", "date//D1"},
		{"a date of letters", "20260115", "2026011X", "date//D1"},
		{"control character in the header", "TESTPCN   ", "TEST\x01PCN  ", "control_char//"},
		{"claim segment missing", "/07|EM1|D2000000100001", "/12|EM1|D2000000100001", "segment_missing/07/"},
		{"pricing missing", "/11", "/12", "segment_missing/11/"},
		{"insurance missing", "/04", "/96", "segment_missing/04/"},
		{"no member", "|C2SYN000001", "", "field_missing/04/C2"},
		{"blank member", "|C2SYN000001", "|C2   ", "field_missing/04/C2"},
		{"no prescription", "|D2000000100001", "", "field_missing/07/D2"},
		{"no fill", "|D300", "", "field_missing/07/D3"},
		{"no product", "|D799999000101", "", "field_missing/07/D7"},
		{"no quantity", "|E70000030000", "", "field_missing/07/E7"},
		{"segment twice", "/03|EZ01", "/11|EZ01", "duplicate_segment/11/"},
		{"patient in a transaction", "/03|EZ01", "/01|EZ01", "segment_level/01/"},
		{"prescriber before the first", "/01|C419700101", "/03|C419700101", "segment_level/03/"},
		{"prescription twice", "|E103", "|E103|D2000000100001", "duplicate_field/07/D2"},
		{"prescription of letters", "D2000000100001", "D2ABC", "numeric/07/D2"},
		{"prescription of 13 digits", "D2000000100001", "D20000000100001", "field_length/07/D2"},
		{"birth date", "C419700101", "C419701301", "date/01/C4"},
		{"leap day of 1900", "C419700101", "C419000229", "date/01/C4"},
		{"literal point", "E70000030000", "E730.5", "quantity/07/E7"},
		{"overpunch Z", "D90000123D", "D90000123Z", "money/11/D9"},
		{"amount of nine characters", "D90000123D", "D9000000123D", "field_length/11/D9"},
		{"member of 21 characters", "C2SYN000001", "C2SYN000001000000000001", "field_length/04/C2"},
		{"count of clarifications", "|DJ3", "|DJ3|NX2|DK01", "group_count/07/NX"},
	} {
		f := worst(replace(t, tt.old, tt.with))
		if got := string(f.Code) + "/" + f.Segment + "/" + f.Field; got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestValidate_WhatIsToleratedIsSaid(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, old, with, want string }{
		{"field without value", "|DJ3", "|DJ", "empty_value"},
		{"field of blanks", "|DJ3", "|DJ ", "empty_value"},
		{"amount without sign", "D90000123D", "D900001234", "unsigned_money"},
		{"small letters", "CATEST", "CATest", "lower_case"},
	} {
		faults := ncpdp.Parse(replace(t, tt.old, tt.with)).Validate()
		if len(faults) != 1 || faults[0].Severity != ncpdp.Note || string(faults[0].Code) != tt.want {
			t.Errorf("%s: %v", tt.name, faults)
		}
	}
	for _, with := range []string{"|DJ3|ZZ9 any !", "|DJ3|&B1", "|DJ3|NX2|DK01|DK02", "|DJ3|SE1|ER01"} {
		if faults := ncpdp.Parse(replace(t, "|DJ3", with)).Validate(); len(faults) != 0 {
			t.Errorf("%s: %v", with, faults)
		}
	}
	leap := replace(t, "C419700101", "C420000229")
	if faults := ncpdp.Parse(leap).Validate(); len(faults) != 0 {
		t.Error(faults)
	}
}

func TestValidate_NeedsOfEachTransactionCode(t *testing.T) {
	t.Parallel()
	claim := "#/07|EM1|D21|E103|D799999000101"
	for _, tt := range []struct{ code, body, want string }{
		{"B2", claim, ""}, // no member, no fill, no pricing
		{"B2", "#/07|EM1|D21|E103", "field_missing"},
		{"B2", "#/05|4C1|5C01", "segment_missing"},
		{"B1", "/04|C21" + claim, "field_missing"},
		{"B1", "/04|C21" + claim + "|E71|D30/11|D9{", ""},
		{"B3", "/04|C21" + claim + "|E71|D30", "segment_missing"},
		{"E1", "/04|C21", ""},
		{"E1", "/01|C51", "segment_missing"},
		{"N1", "/04|C21" + claim, ""},
		{"N2", claim, ""},
		{"C1", claim, "segment_missing"},
		{"P3", "#/12|PY1", ""},
		{"S1", "/04|C21", "transaction_count"},
		{"F1", "/04|C21", ""},
	} {
		b := msg(strings.Replace(requestHead, "D0B1", "D0"+tt.code, 1) + tt.body)
		if f := worst(b); string(f.Code) != tt.want {
			t.Errorf("%s%s: %v", tt.code, tt.body, f)
		}
	}
}

func TestValidate_VersionsHaveTheirOwnLengths(t *testing.T) {
	t.Parallel()
	b := replace(t, "D2000000100001", "D212345678")
	if f := worst(b); f.Code != "" {
		t.Error(f)
	}
	old := bytes.Replace(b, []byte("999999D0"), []byte("99999951"), 1)
	// What is too long for 5.1 is said, but that version is read and not sent.
	if faults := ncpdp.Parse(old).Validate(); len(faults) != 1 || faults[0].Code != ncpdp.CodeFieldLength || faults[0].Severity != ncpdp.Note {
		t.Error(faults)
	}
	old = bytes.Replace(replace(t, "D2000000100001", "D21234567"), []byte("999999D0"), []byte("99999951"), 1)
	if faults := ncpdp.Parse(old).Validate(); len(faults) != 0 {
		t.Error(faults)
	}
}

func TestValidate_ResponsesAreJudgedByWhatIsUsed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ body, want string }{
		{"#/21|ANR|FA05|FB70|FB75", ""}, // miscounted
		{"#/21|ANR|FQ" + strings.Repeat("A", 200), ""},
		{"#/21|ANR/21|ANR", ""},
		{"#/21|ANP/23|F5        ", ""},
		{"#/21|ANP/23|F5X", "money"},
		{"", ""},
		{"#/21|ANP#/21|ANP", "transaction_count"},
		{"#/21|AN\x01", "control_char"},
		{"#/21|ANP|X", "short_field"},
	} {
		if f := worst(msg(responseHead + tt.body)); string(f.Code) != tt.want {
			t.Errorf("%s: %v", tt.body, f)
		}
	}
	if f := worst(msg(strings.Replace(responseHead, "11A", "11X", 1))); f.Field != "F1" {
		t.Error(f)
	}
}

// Lists are bounded, no number of notes hides an error, and the work does not
// grow with the square of the message.
func TestValidate_ListsAreBounded(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		piece  string
		errors int
	}{
		"bad amounts": {"|D9Z", ncpdp.MaxFaults}, "empty values": {"|DJ", 1}, "segments": {"/11", ncpdp.MaxFaults},
		"private fields": {"|&&", 1}, "counts": {"|HB9", 1}, "private segments": {"/XX", 1},
	} {
		b := append(bytes.Clone(basicB1), bytes.Repeat(msg(tt.piece), (ncpdp.MaxMessage-1000)/len(msg(tt.piece)))...)
		b = append(b, msg("/08|D9Z")...)
		errors := 0
		faults := ncpdp.Parse(b).Validate()
		for _, f := range faults {
			if f.Severity == ncpdp.Error {
				errors++
			}
		}
		if len(faults) > 2*ncpdp.MaxFaults || errors < tt.errors {
			t.Errorf("%s: %d faults, %d errors", name, len(faults), errors)
		}
	}
}

func TestF6_IsSeenAndNotJudged(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"99999999F6B1 anything at all", "999999F6B1\x00\x01", "F6B11"} {
		m := ncpdp.Parse([]byte(in))
		if len(m.Validate()) != 0 || m.Err() != nil || m.Version() != ncpdp.VersionF6 || m.Transactions() != 0 || len(m.Segments()) != 0 {
			t.Errorf("%q: %v", in, m.Validate())
		}
		if _, fault := m.Claim(1); fault == nil {
			t.Errorf("%q has a key", in)
		}
	}
}

func TestRepeats_GroupsOfFields(t *testing.T) {
	t.Parallel()
	of := func(body, segment, counter string) string {
		m := ncpdp.Parse(msg(requestHead + "#" + body))
		s, ok := m.Segment(1, ncpdp.IDOf(segment))
		if !ok {
			t.Fatal(body)
		}
		var out []string
		for _, g := range m.Repeats(s, ncpdp.IDOf(counter)) {
			var one []string
			for _, f := range g {
				one = append(one, f.ID.String()+string(m.Value(f)))
			}
			out = append(out, strings.Join(one, " "))
		}
		return strings.Join(out, " / ")
	}
	cob := "/05|4C2|5C01|6C03|7C1|E820260115|HB1|HC07|DV1{|5C02|6C03|7C2|5E2|6E70|6E75"
	for _, tt := range []struct{ body, segment, counter, want string }{
		{cob, "05", "4C", "5C01 6C03 7C1 E820260115 HB1 HC07 DV1{ / 5C02 6C03 7C2 5E2 6E70 6E75"},
		{cob, "05", "HB", "HC07 DV1{"},
		{cob, "05", "5E", "6E70 / 6E75"},
		{"/10|EF03|EC02|RE03|TE1|ED1|EE1{|UE01|RE03|TE2|ED2|EE2{", "10", "EC", "RE03 TE1 ED1 EE1{ UE01 / RE03 TE2 ED2 EE2{"},
		{"/08|7E1|E4DD|E5M0|7E2|E4TD", "08", "7E", "7E1 E4DD E5M0 / 7E2 E4TD"},
		{"/07|NX2|DK01|DK02|DJ3", "07", "NX", "DK01 / DK02"},
		{"/07|DJ3", "07", "NX", ""},
		{"/13|VE1|WE01|DOJ45|XE1|ZE20260101|H101|XE2|H102", "13", "XE", "XE1 ZE20260101 H101 / XE2 H102"},
	} {
		if got := of(tt.body, tt.segment, tt.counter); got != tt.want {
			t.Errorf("%s %s: %s", tt.body, tt.counter, got)
		}
	}
}
