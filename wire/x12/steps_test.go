package x12_test

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"claimdlq"
	"claimdlq/internal/testclaims"
	"claimdlq/wire/x12"
)

// place is a component of a segment: element, repetition, component.
type place struct{ e, r, c int }

// cells is what a document says, without what is empty.
func cells(t *rapid.T, doc []byte) (ids []string, out []map[place]string) {
	lines, _, err := x12.LatestRules().View(doc, 1, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lines {
		m := map[place]string{}
		for _, e := range l.Elements {
			if len(e.Components) == 0 {
				m[place{e.Element, 1, 1}] = e.Value
			}
			for _, c := range e.Components {
				m[place{e.Element, c.Repeat, c.Component}] = c.Value
			}
		}
		maps.DeleteFunc(m, func(_ place, v string) bool { return v == "" })
		ids, out = append(ids, l.ID), append(out, m)
	}
	return ids, out
}

// done is what a step makes of a segment's cells.
func done(m map[place]string, st *x12.Step) {
	at := place{st.Element, max(1, st.Repeat), st.Component}
	if st.Component > 0 {
		m[at] = string(st.Value)
		return
	}
	maps.DeleteFunc(m, func(p place, _ string) bool { return p.e == at.e && (st.Repeat == 0 || p.r == at.r) })
	for i, repetition := range strings.Split(string(st.Value), "^") {
		for k, v := range strings.Split(repetition, ":") {
			m[place{at.e, at.r + i, k + 1}] = v
		}
	}
}

// TestApply_SetsOnePlaceAndNoOther sets places of a document at random, repetitions and
// components among them: the place has the value, and every other one what it had.
func TestApply_SetsOnePlaceAndNoOther(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if _, err := testclaims.Generate(&b, testclaims.Options{Format: claimdlq.Format837P, Claims: 1}); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		doc := b.Bytes()
		ids, _ := cells(rt, doc)
		prv := slices.Index(ids, "PRV") + 1
		for range 12 {
			st := x12.Step{
				Op:      x12.StepSet,
				Segment: rapid.SampledFrom([]int{0, 1, 3, prv, prv, prv, prv, prv + 1, len(ids), len(ids) + 1}).Draw(rt, "segment"),
				Element: rapid.IntRange(0, 3).Draw(rt, "element"), Component: rapid.SampledFrom([]int{0, 0, 1, 2, 3}).Draw(rt, "component"),
				Repeat: rapid.IntRange(0, 3).Draw(rt, "repeat"),
				Value:  []byte(rapid.SampledFrom([]string{"", "X", "Q9", "A B", "A:B", "A^B", "A:B^C:D", "A*B", "~", "\n", "\x00"}).Draw(rt, "value")),
			}
			out, err := x12.Apply(doc, []x12.Step{st})
			if err != nil {
				if e, ok := errors.AsType[*x12.StepError](err); !ok || e.Index != 0 {
					rt.Fatal(err)
				}
				continue
			}
			_, want := cells(rt, doc)
			done(want[st.Segment-1], &st)
			maps.DeleteFunc(want[st.Segment-1], func(_ place, v string) bool { return v == "" })
			now, got := cells(rt, out)
			if !slices.Equal(now, ids) || !slices.EqualFunc(got, want, maps.Equal) {
				rt.Fatalf("%+v: segment %d is %v, want %v", st, st.Segment, got[st.Segment-1], want[st.Segment-1])
			}
			doc = out
		}
	})
}
