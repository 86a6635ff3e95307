package x12ack_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"claimdlq/classify"
	"claimdlq/wire/x12"
	"claimdlq/wire/x12ack"
)

// fixtures returns the names of all shared fixtures.
func fixtures(t *testing.T) []string {
	t.Helper()
	fixture(t, "ok-base.x12")
	dir, _ := os.Getwd()
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if names, _ := filepath.Glob(filepath.Join(dir, "shared", "fixtures", "x12", "files", "*.x12")); len(names) > 0 {
			return names
		}
	}
	return nil
}

// TestWriters_SayToTheSubmitterWhatTheScannerFound writes the TA1 and the 999 for
// every interchange of every fixture, reads them back and compares.
func TestWriters_SayToTheSubmitterWhatTheScannerFound(t *testing.T) {
	t.Parallel()
	for _, name := range fixtures(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			file, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			answerFile(t, file)
		})
	}
}

func answerFile(t *testing.T, file []byte) {
	t.Helper()
	s := x12.NewScanner(bytes.NewReader(file), x12.Options{})
	var (
		start *x12.InterchangeStart
		w     *x12ack.Writer999
		out   bytes.Buffer
		want  []string
		gs    string
	)
	for {
		e, err := s.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if w != nil {
			w.Event(e)
		}
		switch e := e.(type) {
		case *x12.InterchangeStart:
			out.Reset()
			copied := *e
			start, want = &copied, nil
			if w, err = x12ack.NewWriter999(&out, start, numbers); err != nil {
				t.Fatal(err)
			}
		case *x12.GroupStart:
			gs = ""
			if e.GS01 != "FA" && e.GS01 != "HN" && e.Number > 0 {
				gs = fmt.Sprintf("GS06 %d", e.Number)
			}
		case *x12.Set:
			if ack, ok := classify.Set(e.IK5, e.IK502); ok && gs != "" {
				want = append(want, fmt.Sprintf("%s ST02 %s: %s", gs, e.ST02, ack.Result))
			}
		case *x12.GroupEnd:
			if ack, ok := classify.Group(e.AK9, e.AK905); ok && gs != "" {
				want = append(want, fmt.Sprintf("%s: %s", gs, ack.Result))
				if ack.Result == classify.Rejected { // takes its sets with it
					want = nil
				}
			}
		case *x12.InterchangeEnd:
			if _, err := w.Close(); err != nil {
				t.Fatal(err)
			}
			compare(t, start, e, out.Bytes(), want)
			w = nil
		}
	}
}

func compare(t *testing.T, start *x12.InterchangeStart, end *x12.InterchangeEnd, doc999 []byte, want []string) {
	t.Helper()
	if len(doc999) > 0 {
		acks := read(t, doc999)
		var got []string
		for _, a := range acks.Answers() {
			got = append(got, fmt.Sprintf("%s: %s", a.For(false), a.Result))
		}
		if len(want) > 0 && !slices.Equal(got, want) {
			t.Errorf("999 says %q, want %q\n%s", got, want, doc999)
		}
		checkSE(t, doc999)
	}
	var w bytes.Buffer
	if err := x12ack.WriteTA1(&w, start, end, numbers); err != nil {
		t.Fatal(err)
	}
	a := read(t, w.Bytes()).Answers()
	ack, _ := classify.TA1(end.TA1, end.Note)
	switch {
	case len(a) == 1 && a[0].Ack == ack && a[0].ISA13 == start.Number:
	case len(a) == 0 && start.Number == 0: // a number that is none cannot be matched
	default:
		t.Errorf("TA1 %s %s was read as %+v", end.TA1, end.Note, a)
	}
}
