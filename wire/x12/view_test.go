package x12_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"claimdlq"
	"claimdlq/wire/x12"
)

// loops returns the loops of a document as the view has them, each once in order.
func loops(t *testing.T, doc []byte) (out []string) {
	t.Helper()
	lines, total, err := x12.LatestRules().View(doc, 1, 1_000_000)
	if err != nil || total != len(lines) {
		t.Fatal(len(lines), total, err)
	}
	for _, l := range lines {
		if l.Loop != "" && (len(out) == 0 || out[len(out)-1] != l.Loop) {
			out = append(out, l.Loop)
		}
	}
	return out
}

// The loop of each segment that the judge faults is the one that the view has: both
// follow the guide.
func TestView_LoopsAreThoseOfTheJudge(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"ok-base.x12", "ok-crlf.x12", "ok-delims-gs.x12"} {
		doc := fixture(t, name)
		got := loops(t, doc)
		for _, want := range []string{"1000A", "1000B", "2000A", "2010AA", "2000B", "2010BA", "2010BB", "2300", "2400"} {
			if !slices.Contains(got, want) {
				t.Errorf("%s: no loop %s in %v", name, want, got)
			}
		}
		lines, _, _ := x12.LatestRules().View(doc, 1, 1_000_000)
		for _, l := range lines {
			if l.Name == "" {
				t.Errorf("%s: %s has no name", name, l.ID)
			}
			for _, e := range l.Elements {
				if e.Name == "" && e.Value != "" {
					t.Errorf("%s: %s-%02d in %s has no name", name, l.ID, e.Element, l.Loop)
				}
			}
		}
	}
}

func TestView_AnyBytesAreShownWithinBounds(t *testing.T) {
	t.Parallel()
	long := strings.Replace(tree, "TESTTWO", strings.Repeat("\xff^:", 100_000), 1)
	lines, total, err := x12.LatestRules().View([]byte(long), 1, 1_000_000)
	if err != nil || total == 0 {
		t.Fatal(err)
	}
	for _, l := range lines {
		for _, e := range l.Elements {
			if len(e.Value) > 3*4096 || len(e.Components) > 99*99 {
				t.Errorf("%s-%d: %d bytes, %d components", l.ID, e.Element, len(e.Value), len(e.Components))
			}
		}
	}
	if _, _, err := x12.LatestRules().View([]byte("no ISA"), 1, 1); !errors.Is(err, claimdlq.Invalid) {
		t.Error(err)
	}
}

func TestApply_NumbersAreThoseOfTheDocumentBefore(t *testing.T) {
	t.Parallel()
	lines, _, err := x12.LatestRules().View([]byte(tree), 1, 1_000)
	if err != nil {
		t.Fatal(err)
	}
	var clms []int
	for _, l := range lines {
		if l.ID == "CLM" {
			clms = append(clms, l.Number)
		}
	}
	got, err := x12.Apply([]byte(tree), []x12.Step{
		{Op: x12.StepSet, Segment: clms[1], Element: 5, Component: 3, Value: []byte("7")},
		{Op: x12.StepInsert, Segment: clms[0], Text: []byte("K3*FIRST")},
		{Op: x12.StepInsert, Segment: clms[0], Text: []byte("K3*SECOND~")},
		{Op: x12.StepDelete, Segment: clms[2]},
		{Op: x12.StepSet, Segment: clms[1], Element: 2, Value: []byte("1")},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(tree, "PCN2*200***11:B:1", "PCN2*1***11:B:7", 1)
	i := strings.Index(want, "CLM*PCN1")
	end := i + strings.Index(want[i:], "~\n") + 2
	want = want[:end] + "K3*FIRST~\nK3*SECOND~\n" + want[end:]
	i = strings.Index(want, "CLM*PCN3")
	end = i + strings.Index(want[i:], "~\n") + 2
	want = want[:i] + want[end:]
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if same, err := x12.Apply([]byte(tree), nil); err != nil || string(same) != tree {
		t.Error("no edits change something", err)
	}
}

func TestApply_SetsARepetition(t *testing.T) {
	t.Parallel()
	lines, _, _ := x12.LatestRules().View([]byte(tree), 1, 1_000)
	i := slices.IndexFunc(lines, func(l x12.Line) bool { return l.ID == "SBR" })
	got, err := x12.Apply([]byte(tree), []x12.Step{{Op: x12.StepSet, Segment: lines[i].Number, Element: 3, Repeat: 3, Component: 2, Value: []byte("X")}})
	if err != nil || !strings.Contains(string(got), "SBR*P**^^:X*") {
		t.Errorf("%v\n%s", err, got)
	}
}

func FuzzApply(f *testing.F) {
	f.Add([]byte(tree), 5, 1, 0, 0, []byte("X"), "K3*X")
	f.Fuzz(func(t *testing.T, doc []byte, segment, element, component, repeat int, value []byte, text string) {
		for _, op := range []string{x12.StepSet, x12.StepInsert, x12.StepDelete} {
			out, err := x12.Apply(doc, []x12.Step{{op, segment, element, component, repeat, value, []byte(text)}})
			if err != nil {
				if e := err.Error(); len(value) > 8 && strings.Contains(e, string(value)) {
					t.Errorf("%s: the value is in the error", op)
				}
				continue
			}
			if _, err := x12.Differences(doc, out); err != nil {
				t.Errorf("%s: %v", op, err)
			}
			if _, _, err := x12.LatestRules().View(out, 1, 100); err != nil {
				t.Errorf("%s: %v", op, err)
			}
		}
	})
}

func TestRule_FindsByWhatASegmentIs(t *testing.T) {
	t.Parallel()
	rule := x12.Rule{Op: x12.RuleReplace, Loop: "2300", Segment: "CLM", Where: []x12.Match{{Element: 5, Component: 1, Value: "11"}}, Element: 5, Component: 3, Equals: "1", Value: "7"}
	if err := rule.Check(); err != nil {
		t.Fatal(err)
	}
	steps, places, err := x12.LatestRules().Find([]byte(tree), []x12.Rule{rule})
	if err != nil || places != strings.Count(tree, "CLM*") || len(steps) != places {
		t.Errorf("%d steps, %d places, %v", len(steps), places, err)
	}
	out, err := x12.Apply([]byte(tree), steps)
	if err != nil || strings.Count(string(out), "11:B:7") != places {
		t.Errorf("%v\n%s", err, out)
	}
	if steps, places, _ = x12.LatestRules().Find(out, []x12.Rule{rule}); len(steps)+places != 0 {
		t.Errorf("%d steps, %d places after it", len(steps), places)
	}
	for _, bad := range []x12.Rule{
		{Op: "set", Segment: "ISA", Element: 6},
		{Op: "set", Segment: "SE", Element: 1},
		{Op: "set", Segment: "CLM"},
		{Op: "insert_after", Segment: "CLM", Text: "SE*1"},
		{Op: "insert_after", Segment: "CLM", Text: "nothing"},
		{Op: "set", Segment: "HL", Element: 1},
		{Op: "other", Segment: "CLM", Element: 1},
		{Op: "set", Segment: "CLM", Element: 100},
		{Op: "delete", Segment: "CLM", Component: 2}, // of no element: not the segment
	} {
		if bad.Check() == nil {
			t.Errorf("%+v is allowed", bad)
		}
	}
}
