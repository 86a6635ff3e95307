package ncpdp_test

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"claimdlq/wire/ncpdp"
)

// TestApply_AnyStepsLeaveAMessageThatIsWhole gives random edits to a message: each is
// refused as a StepError with its index, or the message can be read, and what is locked
// is as it was.
func TestApply_AnyStepsLeaveAMessageThatIsWhole(t *testing.T) {
	t.Parallel()
	seeds := [][]byte{basicB1, append(slices.Clone(basicB1), msg("#/07|EM1|D22#/07")...), msg("")}
	segments := []string{"", "01", "04", "05", "07", "08", "11", "13", "AA", "99", "07x", "\x1e"}
	fields := []string{"", "A1", "A2", "A3", "A4", "A9", "AK", "B1", "D1", "D2", "EM", "C2", "D7", "E1", "7C", "DQ", "AM", "6E", "EZ", "d7", "\x1cA", "D"}
	values := []string{"", "", "0", "X", "99999000102", "A B", "5", "7", "\x1c", "\x1d", "\x1e", "\x02", "\x03", "ü", "\n", "AM07", "{"}
	rapid.Check(t, func(rt *rapid.T) {
		doc := rapid.SampledFrom(seeds).Draw(rt, "message")
		steps := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) ncpdp.Step {
			return ncpdp.Step{
				Op: rapid.SampledFrom([]string{"set", "set", "insert", "delete"}).Draw(rt, "op"), Transaction: rapid.SampledFrom([]int{0, 1, 1, 2, 3, 9}).Draw(rt, "transaction"),
				Segment: rapid.SampledFrom(segments).Draw(rt, "segment"), Field: rapid.SampledFrom(fields).Draw(rt, "field"),
				Occurrence: rapid.SampledFrom([]int{0, 1, 1, 2, 3, -1}).Draw(rt, "occurrence"), Value: []byte(rapid.SampledFrom(values).Draw(rt, "value")),
			}
		}), 1, 4).Draw(rt, "steps")
		before := slices.Clone(doc)
		out, err := ncpdp.Apply(doc, steps)
		if !slices.Equal(doc, before) {
			rt.Fatal("the message that was given has changed")
		}
		if err != nil {
			if e, ok := errors.AsType[*ncpdp.StepError](err); !ok || e.Index < 0 || e.Index >= len(steps) {
				rt.Fatal(err)
			}
			return
		}
		m := ncpdp.Parse(out)
		if m.Err() != nil {
			rt.Fatal(m.Err())
		}
		ds, err := ncpdp.Differences(doc, out)
		if err != nil {
			rt.Fatal(err)
		}
		for _, d := range ds {
			seg := d.Segment
			if ncpdp.Locked(seg, d.Field) || d.Field == "" && seg == "07" {
				rt.Fatalf("%+v is locked, after %+v", d.Change, steps)
			}
		}
		blocks, _, err := m.View()
		if err != nil || len(blocks) == 0 {
			rt.Fatal(err)
		}
	})
}
