package x12_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimdlq"
	"claimdlq/wire/x12"
)

func TestDiff_NamesPositionsNeverValues(t *testing.T) {
	t.Parallel()
	sub := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(tree) }
	tests := []struct {
		name string
		b    string
		want []x12.Change
	}{
		{"nothing", tree, nil},
		{"other line breaks", strings.ReplaceAll(tree, "\n", "\r\n"), nil},
		{"one component", sub("PCN2*200***11:B:1", "PCN2*200***11:B:77"), []x12.Change{
			{Segment: "CLM", Position: 11, Loop: "2300", Element: "05-3", Kind: x12.Changed, OldLen: 1, NewLen: 2},
		}},
		{"two elements", sub("PCN2*200*", "PCN2CANARY*1*"), []x12.Change{
			{Segment: "CLM", Position: 11, Loop: "2300", Element: "01", Kind: x12.Changed, OldLen: 4, NewLen: 10},
			{Segment: "CLM", Position: 11, Loop: "2300", Element: "02", Kind: x12.Changed, OldLen: 3, NewLen: 1},
		}},
		{"an element added", sub("NM1*IL*1*TESTTWO~", "NM1*IL*1*TESTTWO*CANARY~"), []x12.Change{
			{Segment: "NM1", Position: 21, Loop: "2010BA", Element: "04", Kind: x12.Changed, OldLen: 0, NewLen: 6},
		}},
		{"a segment added", sub("NM1*IL*1*TESTTWO~\n", "NM1*IL*1*TESTTWO~\nN3*CANARY~\n"), []x12.Change{
			{Segment: "N3", Position: 22, Loop: "2010BA", Kind: x12.Added, NewLen: 9},
		}},
		{"a segment removed", sub("SBR*P********CI~\n", ""), []x12.Change{
			{Segment: "SBR", Position: 7, Loop: "2000B", Kind: x12.Removed, OldLen: 15},
		}},
		{"a segment replaced by another", sub("SBR*P********CI~\n", "K3*CANARY~\n"), []x12.Change{
			{Segment: "SBR", Position: 7, Loop: "2000B", Kind: x12.Removed, OldLen: 15},
			{Segment: "K3", Position: 7, Loop: "2000B", Kind: x12.Added, NewLen: 9},
		}},
		{"far apart", sub("TESTBATCH", "B", "PCN6*600", "PCN6*6"), []x12.Change{
			{Segment: "BHT", Position: 2, Element: "03", Kind: x12.Changed, OldLen: 9, NewLen: 1},
			{Segment: "CLM", Position: 27, Loop: "2300", Element: "02", Kind: x12.Changed, OldLen: 3, NewLen: 1},
		}},
		{"the trailer", sub("GE*1*9", "GE*2*9"), []x12.Change{
			{Segment: "GE", Element: "01", Kind: x12.Changed, OldLen: 1, NewLen: 1},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := x12.Diff([]byte(tree), []byte(tt.b))
			if d := cmp.Diff(tt.want, got); err != nil || d != "" {
				t.Errorf("%v\n%s", err, d)
			}
		})
	}
}

func TestDiff_OtherDelimitersAreNoChangeButOfTheISA(t *testing.T) {
	t.Parallel()
	got, err := x12.Diff(fixture(t, "ok-base.x12"), fixture(t, "ok-delims-gs.x12"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range got {
		if c.Segment != "ISA" {
			t.Errorf("%+v", c)
		}
	}
}

func TestDiff_ReadsOnlyInterchanges(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{{"", tree}, {tree, "GS*HC~"}} {
		if _, err := x12.Diff([]byte(pair[0]), []byte(pair[1])); !errors.Is(err, claimdlq.Invalid) {
			t.Error(err)
		}
	}
}

func TestDiff_MoreChangesThanTheSearchBoundStillPairById(t *testing.T) {
	t.Parallel()
	many := func(v string) []byte {
		var b strings.Builder
		b.WriteString(tree[:strings.Index(tree, "HL*1**20")])
		for i := range 3000 {
			fmt.Fprintf(&b, "REF*EI*%s%d~\n", v, i)
		}
		return []byte(b.String())
	}
	got, err := x12.Diff(many("A"), many("B"))
	if err != nil || len(got) != 3000 || got[2999].Kind != x12.Changed || got[2999].Element != "02" {
		t.Errorf("%d changes, %v", len(got), err)
	}
}
