package x12_test

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"claimdlq"
	"claimdlq/internal/testclaims"
	"claimdlq/wire/x12"
)

// served returns the day from which filing is counted for each claim of a file.
func served(t *testing.T, in string, rules x12.Options) (out []string) {
	t.Helper()
	rules.OnClaim = func(c *x12.Claim) { out = append(out, string(c.Service)) }
	sc := x12.NewScanner(strings.NewReader(in), rules)
	for {
		if _, err := sc.Next(); errors.Is(err, io.EOF) {
			return out
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// withDates returns three claims whose dates of service are given in order: the claim's
// DTP 434 for an institutional one, its lines' DTP 472 otherwise.
func withDates(t *testing.T, f claimdlq.Format, q string, dates ...string) string {
	t.Helper()
	var b bytes.Buffer
	if _, err := testclaims.Generate(&b, testclaims.Options{Format: f, Claims: 3}); err != nil {
		t.Fatal(err)
	}
	n := 0
	return regexp.MustCompile(`DTP\*`+q+`\*(D8|RD8)\*[0-9-]+`).ReplaceAllStringFunc(b.String(), func(string) string {
		d := dates[min(n, len(dates)-1)]
		n++
		return "DTP*" + q + "*" + d
	})
}

func TestClaim_ServiceIsTheThroughDateOfAStatementElseTheEarliestFirstDayOfALine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what   string
		format claimdlq.Format
		q      string
		dates  []string
		want   string // of the first claim
	}{
		{"one day", claimdlq.Format837I, "434", []string{"D8*20260601"}, "20260601"},
		{"a span", claimdlq.Format837I, "434", []string{"RD8*20260601-20260609"}, "20260609"},
		{"a line's day", claimdlq.Format837P, "472", []string{"D8*20260601"}, "20260601"},
		{"a line's span", claimdlq.Format837P, "472", []string{"RD8*20260601-20260609"}, "20260601"},
		{"no such day", claimdlq.Format837P, "472", []string{"D8*20260631"}, ""},
		{"no day", claimdlq.Format837I, "434", []string{"RD8*20260601"}, "20260601"},
	} {
		got := served(t, withDates(t, c.format, c.q, c.dates...), x12.Options{})
		if len(got) != 3 || got[0] != c.want {
			t.Errorf("%s: %q, want %s", c.what, got, c.want)
		}
	}
	if got := served(t, withDates(t, claimdlq.Format837P, "472", "D8*20260601"), x12.Options{EnvelopeOnly: true}); len(got) != 3 || got[0] != "" {
		t.Errorf("without the guides: %q", got)
	}
}

// Each claim has the earliest of its own lines, whatever the order.
func TestClaim_ServiceIsOfItsOwnLines(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if _, err := testclaims.Generate(&b, testclaims.Options{Claims: 40, Seed: 3}); err != nil {
		t.Fatal(err)
	}
	var want []string
	for i, part := range strings.Split(b.String(), "~CLM*")[1:] {
		earliest := ""
		for _, m := range regexp.MustCompile(`~DTP\*472\*(?:D8|RD8)\*(\d{8})`).FindAllStringSubmatch(part, -1) {
			if earliest == "" || m[1] < earliest {
				earliest = m[1]
			}
		}
		if earliest == "" {
			t.Fatalf("claim %d has no line", i)
		}
		want = append(want, earliest)
	}
	if got := served(t, b.String(), x12.Options{}); strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("got %v\nwant %v", got, want)
	}
}
