package ncpdp_test

import (
	"errors"
	"strings"
	"testing"

	"claimdlq"
	"claimdlq/wire/ncpdp"
)

// The order of the dictionary is the standard's; every name is of a field it has.
func TestNames_AreOfFieldsThatTheDictionaryHas(t *testing.T) {
	t.Parallel()
	named := 0
	for _, d := range ncpdp.Dictionary() {
		title := ncpdp.FieldTitle(d.ID.String())
		if !strings.HasPrefix(title, d.Number+"-") {
			t.Errorf("%s: %q", d.ID, title)
		}
		if strings.Contains(title, " ") {
			named++
		}
	}
	if named < 200 {
		t.Errorf("%d fields have names", named)
	}
	if ncpdp.FieldTitle("ZZ") != "" || ncpdp.SegmentTitle("99") != "" || ncpdp.SegmentTitle("07") != "Claim" {
		t.Error("what is not there has a name")
	}
}

func FuzzView(f *testing.F) {
	f.Add(basicB1, "07", "D7", "X")
	f.Fuzz(func(t *testing.T, doc []byte, segment, field, value string) {
		m := ncpdp.Parse(doc)
		blocks, _, err := m.View()
		if err == nil && (len(blocks) == 0 || blocks[0].Segment != "") {
			t.Error("no header")
		}
		for _, op := range []string{ncpdp.StepSet, ncpdp.StepInsert, ncpdp.StepDelete} {
			out, err := ncpdp.Apply(doc, []ncpdp.Step{{Op: op, Transaction: 1, Segment: segment, Field: field, Value: []byte(value)}})
			if err != nil {
				if len(value) > 8 && strings.Contains(err.Error(), value) {
					t.Error("the value is in the error")
				}
				continue
			}
			if err := ncpdp.Parse(out).Err(); err != nil {
				t.Errorf("%s: %v", op, err)
			}
		}
	})
}

func TestFind_LocksWhatSaysWhichFillItIs(t *testing.T) {
	t.Parallel()
	for _, u := range []ncpdp.Rule{
		{Op: "set", Segment: "07", Field: "D2", Value: "1"},
		{Op: "replace", Field: "B1", Equals: "1", Value: "2"},
		{Op: "delete", Segment: "07"},
	} {
		if err := u.Check(); !errors.Is(err, claimdlq.Refused) {
			t.Errorf("%+v: %v", u, err)
		}
	}
	for _, u := range []ncpdp.Rule{
		{Op: "set", Segment: "07"},
		{Op: "other", Segment: "07", Field: "D7"},
		{Op: "set", Segment: "99", Field: "D7"},
		{Op: "insert", Field: "A4"},
	} {
		if err := u.Check(); !errors.Is(err, claimdlq.Invalid) {
			t.Errorf("%+v: %v", u, err)
		}
	}
}
