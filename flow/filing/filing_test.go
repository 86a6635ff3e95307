package filing_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"claimdlq"
	"claimdlq/flow/filing"
	"claimdlq/phi"
)

func day(text string) filing.Day { return filing.ParseDay([]byte(text)) }

func TestParseDay_ReadsWhatIsADayAndNothingElse(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"19700102", "20260228", "20240229", "21490606"} {
		if got := day(text).Start().Format("20060102"); got != text {
			t.Errorf("%s is %s", text, got)
		}
	}
	for _, text := range []string{"", "2026022", "202602288", "20260229", "20261301", "20260100", "2026022x", "19700101", "19691231", "21490607", "-2026101"} {
		if !day(text).IsZero() {
			t.Errorf("%s is a day", text)
		}
	}
}

func TestDay_NeverShows(t *testing.T) {
	t.Parallel()
	d := day("20260228")
	for _, verb := range []string{"%v", "%d", "%s", "%x", "%+v", "%#v", "%q"} {
		for _, v := range []any{d, &d} {
			if got := fmt.Sprintf(verb, v); got != "[phi day]" {
				t.Errorf("%s shows %s", verb, got)
			}
		}
	}
	if _, err := d.MarshalText(); !errors.Is(err, phi.ErrMarshal) {
		t.Error(err)
	}
	if d.LogValue().String() != "[phi day]" || d.String() != "[phi day]" {
		t.Error("it shows in a log")
	}
}

func TestWindow_StagesBeginAtEightyNinetyAndTheEndOfTheLastDay(t *testing.T) { // F39
	t.Parallel()
	begin := day("20260101")
	for _, w := range []filing.Window{1, 90, 180, 365, filing.MaxWindow} {
		whole := time.Duration(w) * 24 * time.Hour
		for _, c := range []struct {
			after time.Duration
			want  filing.Stage
		}{
			{-time.Hour, filing.InTime},
			{whole/10*8 - 1, filing.InTime},
			{whole / 10 * 8, filing.Warning},
			{whole/10*9 - 1, filing.Warning},
			{whole / 10 * 9, filing.Alert},
			{whole, filing.Alert},
			{whole + 36*time.Hour - 1, filing.Alert},
			{whole + 36*time.Hour, filing.Passed},
		} {
			if got := w.Stage(begin, begin.Start().Add(c.after)); got != c.want {
				t.Errorf("%d days, after %v: %s, want %s", w, c.after, got, c.want)
			}
		}
	}
	if got := filing.Window(90).Deadline(begin).Format("2006-01-02"); got != "2026-04-01" {
		t.Errorf("the last day is %s", got)
	}
	if filing.Window(0).Stage(begin, begin.Start()) != filing.Unknown || filing.Window(90).Stage(filing.Day{}, begin.Start()) != filing.Unknown {
		t.Error("a stage without a window or a day")
	}
}

func TestWindows_ThePartnersOwnElseTheStreams(t *testing.T) {
	t.Parallel()
	ws := filing.Windows{"837": 365, "837/ZZ:PAYER": 90, "837/OTHER": 180, "ncpdp/012345": 30, "837/NONE": 0}
	for _, c := range []struct {
		stream, partner string
		want            filing.Window
	}{
		{"837", "ZZ:PAYER", 90},
		{"837", "ZZ:OTHER", 180},
		{"837", "30:PAYER", 365},
		{"837", "", 365},
		{"837", "ZZ:NONE", 0},
		{"ncpdp", "012345:PCN", 30},
		{"ncpdp", "543210:012345", 0},
		{"acks", "ZZ:PAYER", 0},
	} {
		if got := ws.For(c.stream, c.partner); got != c.want {
			t.Errorf("%s of %s: %d, want %d", c.stream, c.partner, got, c.want)
		}
	}
	if !ws.Any() || (filing.Windows{"837": 0}).Any() {
		t.Error("whether there is any")
	}
}

func TestStage_IsSpelledAndReadBack(t *testing.T) {
	t.Parallel()
	for _, s := range filing.Stages {
		if got, err := filing.ParseStage(s.String()); err != nil || got != s {
			t.Errorf("%s: %v", s, err)
		}
	}
	if _, err := filing.ParseStage("soon"); !errors.Is(err, claimdlq.Invalid) {
		t.Error(err)
	}
	if filing.Stage(99).String() != "invalid" {
		t.Error("a stage that is none")
	}
}

// Whatever is sealed, each claim has its day back.
func TestBasis_EachClaimHasItsDayBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 200).Draw(rt, "claims")
		days := rapid.SliceOfN(rapid.SampledFrom([]string{"", "20260101", "20260102", "20251231", "19700102", "21490606"}), n, n).Draw(rt, "days")
		gap := rapid.Uint64Range(1, 1<<40).Draw(rt, "gap")
		var b filing.Basis
		for i, d := range days {
			b.Add(uint64(i+1)*gap, day(d))
		}
		got, err := filing.Open(b.Seal())
		if err != nil {
			rt.Fatal(err)
		}
		earliest := ""
		for i, d := range days {
			r := claimdlq.Record{Format: claimdlq.FormatNCPDP, Payload: claimdlq.PayloadRef{Offset: int64(uint64(i+1) * gap)}}
			if got.Of(r, nil) != day(d) {
				rt.Fatalf("claim %d of %v", i, days)
			}
			if d != "" && (earliest == "" || d < earliest) {
				earliest = d
			}
		}
		if got.Of(claimdlq.Record{Claims: uint32(n)}, nil) != day(earliest) {
			rt.Fatal("the earliest")
		}
	})
}

func TestBasis_ASetsIsThatOfTheClaimsItStillAnswersFor(t *testing.T) {
	t.Parallel()
	var b filing.Basis
	for i, d := range []string{"20260105", "20260103", "20260103", "20260101", "20260104", "20260104"} {
		b.Add(uint64(i+1), day(d))
	}
	b, err := filing.Open(b.Seal())
	if err != nil {
		t.Fatal(err)
	}
	set := claimdlq.Record{Scope: claimdlq.ScopeTransaction, Claims: 4, Parted: 2}
	for _, c := range []struct{ out, want string }{
		{"", "20260101"}, {"4", "20260103"}, {"42", "20260103"}, {"423", "20260104"}, {"4235", "20260104"}, {"42356", "20260105"}, {"123456", ""},
	} {
		got := b.Of(set, func(n uint32) bool { return strings.ContainsRune(c.out, rune('0'+n)) })
		if got != day(c.want) {
			t.Errorf("without %q: %s", c.out, got.Start())
		}
	}
	if got := b.Of(claimdlq.Record{Scope: claimdlq.ScopeClaim, Ordinal: 5}, nil); got != day("20260104") {
		t.Errorf("claim 5: %s", got.Start())
	}
}

func TestBasis_NothingKnownSealsNothing(t *testing.T) {
	t.Parallel()
	var b filing.Basis
	b.Add(1, filing.Day{})
	if b.Seal().Len() != 0 {
		t.Error("something is sealed")
	}
	b.Add(2, day("20260101"))
	b.Clear()
	if b.Seal().Len() != 0 {
		t.Error("it was not forgotten")
	}
	got, err := filing.Open(phi.Bytes{})
	if err != nil || !got.Of(claimdlq.Record{}, nil).IsZero() {
		t.Error(err)
	}
}

func TestBasis_WhatIsTooLongHasTheEarliestDayForAll(t *testing.T) {
	t.Parallel()
	var b filing.Basis
	days := []filing.Day{day("20260101"), day("21000101"), day("20251231")}
	for i := range 400_000 {
		b.Add(uint64(i+1), days[i%len(days)])
	}
	sealed := b.Seal()
	if sealed.Len() > 16 {
		t.Fatalf("%d bytes", sealed.Len())
	}
	got, err := filing.Open(sealed)
	if err != nil || got.Of(claimdlq.Record{Scope: claimdlq.ScopeClaim, Ordinal: 399_998}, nil) != days[2] {
		t.Error(err)
	}
}

func TestOpen_RefusesWhatItDidNotWrite(t *testing.T) {
	t.Parallel()
	for _, in := range [][]byte{{0}, {2, 1, 2}, {1, 0x80}, {1, 1}, {1, 1, 0x80}, {1, 1, 1}, {1, 1, 0x80, 0x80, 0x08}} {
		if _, err := filing.Open(phi.Wrap(in)); !errors.Is(err, claimdlq.Corrupt) {
			t.Errorf("%v: %v", in, err)
		}
	}
}

func FuzzOpen(f *testing.F) {
	var b filing.Basis
	b.Add(1, day("20260101"))
	b.Add(7, day("20251231"))
	f.Add(b.Seal().Reveal(), int64(7))
	f.Fuzz(func(t *testing.T, in []byte, at int64) {
		b, err := filing.Open(phi.Wrap(in))
		if err != nil {
			return
		}
		b.Of(claimdlq.Record{Format: claimdlq.FormatNCPDP, Payload: claimdlq.PayloadRef{Offset: at & math.MaxInt64}}, nil)
		b.Of(claimdlq.Record{Claims: 3}, func(n uint32) bool { return n%2 == 0 })
	})
}
