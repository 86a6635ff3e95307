package x12_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"claimdlq/wire/x12"
)

// judge scans a document and returns how many claims it has; it fails unless the
// interchange, its groups and its sets are accepted.
func judge(t testing.TB, doc []byte) (claims int) {
	t.Helper()
	s := x12.NewScanner(bytes.NewReader(doc), x12.Options{})
	for {
		e, err := s.Next()
		if errors.Is(err, io.EOF) {
			return claims
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := e.(type) {
		case *x12.Set:
			claims += e.Claims
			if e.IK5 != "A" || e.FaultCount > 0 {
				t.Errorf("set: %s %v %+v", e.IK5, e.IK502, e.Faults)
			}
		case *x12.GroupEnd:
			if e.AK9 != "A" {
				t.Errorf("group: %s %v", e.AK9, e.AK905)
			}
		case *x12.InterchangeEnd:
			if e.TA1 != "A" {
				t.Errorf("interchange: %s %s", e.TA1, e.Note)
			}
		case *x12.Junk:
			if !e.Harmless {
				t.Errorf("%d bytes of junk", len(e.Raw))
			}
		}
	}
}

func TestComposer_WhatIsCutPassesTheScanner(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"ok-base", "ok-crlf", "ok-term-cr", "ok-term-crlf", "ok-delims-pipe", "ok-delims-gs", "ok-wrap80", "ok-two-st", "ok-two-gs-same-st02", "biz-5000-claims"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			us := units(t, fixture(t, name+".x12"))
			got, stats, _ := composeAll(t, us, x12.AddOptions{Drop: func(i int) bool { return i%2 == 0 }})
			want := 0
			for _, st := range stats {
				want += st.Claims
			}
			if n := judge(t, got); n != want {
				t.Errorf("%d claims, want %d", n, want)
			}
			var w bytes.Buffer
			n := x12.Numbers{ISA13: 42, GS06: 42, ST02: "0001", BHT03: "R000000042"}
			if _, err := x12.CutClaim(&w, bytes.NewReader(us[0]), 1, n); err != nil {
				t.Fatal(err)
			}
			if n := judge(t, w.Bytes()); n != 1 {
				t.Errorf("cut: %d claims", n)
			}
		})
	}
}
