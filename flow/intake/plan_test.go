package intake_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"claimdlq"
	"claimdlq/flow/intake"
	"claimdlq/wire/x12"
)

func run(first, last claimdlq.ID) claimdlq.IDRange { return claimdlq.IDRange{First: first, Last: last} }

func TestPlan_TheFirstGoesUnderItsOwnNumbersAndTheRestGroupByGroup(t *testing.T) {
	t.Parallel()
	groups := [][]claimdlq.IDRange{{run(1, 4), run(6, 6)}, {run(7, 9)}}
	cases := []struct {
		limit int
		own   bool
		want  string
	}{
		{8, true, "[{true [1 2] [{1 4} {6 6} {7 9}]}]"},
		{7, true, "[{true [1 2] [{1 4} {6 6} {7 8}]} {false [2] [{9 9}]}]"},
		{5, true, "[{true [1] [{1 4} {6 6}]} {false [2] [{7 9}]}]"},
		{3, true, "[{true [1] [{1 3}]} {false [1] [{4 4} {6 6}]} {false [2] [{7 9}]}]"},
		{8, false, "[{false [1] [{1 4} {6 6}]} {false [2] [{7 9}]}]"},
	}
	for _, c := range cases {
		if got := fmt.Sprint(intake.Plan(groups, c.limit, c.own)); got != c.want {
			t.Errorf("limit %d, own %v:\ngot  %s\nwant %s", c.limit, c.own, got, c.want)
		}
	}
	if got := intake.Plan([][]claimdlq.IDRange{nil, {}}, 5, true); got != nil {
		t.Errorf("an interchange without queued sets makes %v", got)
	}
}

func TestPlan_CarriesEveryMemberOnceInOrderAndNeverTooMany(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var groups [][]claimdlq.IDRange
		next, total := claimdlq.ID(1), 0
		for range rapid.IntRange(0, 5).Draw(t, "groups") {
			var ids []claimdlq.IDRange
			for range rapid.IntRange(0, 4).Draw(t, "runs") {
				n := rapid.IntRange(1, 9).Draw(t, "length")
				ids = append(ids, run(next, next+claimdlq.ID(n)-1))
				next += claimdlq.ID(n) + 1
				total += n
			}
			groups = append(groups, ids)
		}
		limit := rapid.IntRange(1, 12).Draw(t, "limit")
		last, seen := claimdlq.ID(0), 0
		for i, p := range intake.Plan(groups, limit, true) {
			n := 0
			for _, m := range p.Members {
				if m.First <= last || m.Last < m.First {
					t.Fatal("out of order")
				}
				last = m.Last
				n += int(m.Last-m.First) + 1
			}
			if n == 0 || n > limit || p.Own != (i == 0) || !p.Own && len(p.Groups) != 1 {
				t.Fatalf("parcel %d: %+v", i, p)
			}
			seen += n
		}
		if seen != total {
			t.Fatalf("%d of %d members", seen, total)
		}
	})
}

func TestJudge_WhatIsHeldAndWhatGoesOn(t *testing.T) {
	t.Parallel()
	bad := func(n int, s x12.Severity) x12.BadClaim {
		return x12.BadClaim{Ordinal: n, Fault: x12.Fault{Segment: "HI", IK304: "3", Rule: "TEST", Severity: s}}
	}
	cases := []struct {
		name string
		set  x12.Set
		dups []int
		want string
	}{
		{"clean", x12.Set{ST01: "837", IK5: "A", Claims: 2}, nil, "{  []}"},
		{"accepted with errors", x12.Set{ST01: "837", IK5: "E", Claims: 2}, nil, "{  []}"},
		{"one of two is bad", x12.Set{ST01: "837", IK5: "R", Claims: 2, BadClaims: []x12.BadClaim{bad(2, x12.Error)}}, nil, "{  [2]}"},
		{"one is bad and one a duplicate, of three", x12.Set{ST01: "837", IK5: "R", Claims: 3, BadClaims: []x12.BadClaim{bad(2, x12.Error)}}, []int{3}, "{  [2 3]}"},
		{"all are bad: the set is held", x12.Set{ST01: "837", IK5: "R", Claims: 1, BadClaims: []x12.BadClaim{bad(1, x12.Business)}}, nil, "{RULE:TEST TERMINAL []}"},
		{"all are duplicates: the set is held", x12.Set{ST01: "837", IK5: "A", Claims: 1}, []int{1}, "{RULE:DUPLICATE_CLAIM TERMINAL []}"},
		{"the header is bad", x12.Set{ST01: "837", IK5: "R", Whole: true, Claims: 2, Faults: []x12.Fault{{Segment: "NTE", IK304: "2"}, bad(1, x12.Error).Fault}}, nil, "{IK3:HI:3 POISON []}"},
		{"the trailer is bad", x12.Set{ST01: "837", IK5: "R", Whole: true, Claims: 2, IK502: []string{"4"}}, nil, "{IK5:R:4 POISON []}"},
		{"rejected without a reason", x12.Set{ST01: "837", IK5: "R", Claims: 2}, nil, "{IK5:R POISON []}"},
		{"no claim at all", x12.Set{ST01: "837", IK5: "A"}, nil, "{IK3:CLM:3 POISON []}"},
		{"not a claim file", x12.Set{ST01: "835", IK5: "A", Claims: 0}, nil, "{RULE:NOT_A_CLAIM TERMINAL []}"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := fmt.Sprint(intake.Judge(&c.set, c.dups...)); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestTidy_NothingButShortPlainTextReachesARecord(t *testing.T) { // F35
	t.Parallel()
	for in, want := range map[string]string{
		"000000001": "000000001", " 0001 ": "0001", "": "", "DOE JANE": "INVALID", "1234567890": "INVALID", "A|B": "INVALID", "\x01": "INVALID", "É": "INVALID",
	} {
		if got := intake.Tidy(in, 9); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}
