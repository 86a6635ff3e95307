package metrics_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/alert"
	"claimdlq/internal/metrics"
	"claimdlq/retry"
	"claimdlq/store"
)

type source struct {
	st  store.Stats
	err error
}

func (s source) Stats(context.Context) (store.Stats, error) { return s.st, s.err }

var now = time.Date(2026, 7, 16, 10, 0, 0, 0, time.UTC)

// streams are the figures of a program that has just started, or those given.
type streams []alert.Stream

func (s streams) Sample(context.Context) alert.Sample {
	out := alert.Sample{At: now, Streams: s}
	if s == nil {
		out.Streams = []alert.Stream{{Name: "837"}, {Name: "ncpdp"}}
	}
	if s != nil {
		out.Intake = &alert.Intake{
			Waiting: 8, Limit: 10, Refused: map[alert.Cause]int64{alert.CauseBacklog: 9, alert.CauseBusy: 1}, Refusing: map[alert.Cause]bool{alert.CauseBusy: true},
		}
	}
	out.Partners = []alert.Partner{{Stream: "ncpdp", Name: "999999:TESTPCN", Breaker: retry.HalfOpen}, {Stream: "837", Name: "ZZ:TESTPAYER"}}
	return out
}

func (streams) Shredded() int64 { return 7 }

func text(t *testing.T, s source, f streams) string {
	t.Helper()
	var out bytes.Buffer
	if err := metrics.WriteText(&out, metrics.New(s, f, func() time.Time { return now })); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestCollector_GoldenText(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		st   store.Stats
		f    streams
	}{
		{name: "empty"},
		{name: "full", st: store.Stats{
			Received: 1000,
			ByState: map[claimdlq.State]int64{
				claimdlq.StateQueued: 100, claimdlq.StateSubmitted: 50, claimdlq.StateInDoubt: 1,
				claimdlq.StateQuarantined: 12, claimdlq.StateParked: 2, claimdlq.StateSettled: 830, claimdlq.StateWithdrawn: 5,
			},
			Rejected: 30,
			Records: map[claimdlq.State]int64{
				claimdlq.StateQueued: 3, claimdlq.StateQuarantined: 12, claimdlq.StateParked: 2, claimdlq.StateSettled: 40,
			},
			Quarantined:    map[claimdlq.Reason]int64{claimdlq.FatalSyntax: 7, claimdlq.RetriesExhausted: 5},
			OldestAt:       now.Add(-90 * time.Second),
			OldestParkedAt: now.Add(-48 * time.Hour),
			Orphans:        1,
		}, f: streams{
			{
				Name: "837", Depth: 12, ByReason: map[claimdlq.Reason]int64{claimdlq.FatalSyntax: 7, claimdlq.RetriesExhausted: 5},
				OldestAge: 90 * time.Second, Parked: 2, InDoubt: 1, InDoubtAge: time.Minute, Deliveries: 50, Retries: 4, Failures: 5, UnknownCodes: 3,
				Expired: 6, Deadlines: map[string]int64{"warning": 4, "alert": 2, "in_time": 30}, Ripe: 8,
				Held: map[alert.Cause]alert.Held{alert.CauseTarget: {Records: 3, Age: 2 * time.Hour}},
			},
			{Name: "ncpdp"},
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := text(t, source{st: c.st}, c.f)
			file := "testdata/" + c.name + ".prom"
			if os.Getenv("UPDATE_GOLDEN") != "" {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("differs from %s:\n%s", file, got)
			}
		})
	}
}

func TestCollector_EmptyQueueHasAgeZeroAndEveryReason(t *testing.T) {
	t.Parallel()
	got := text(t, source{}, nil)
	for _, r := range claimdlq.Reasons {
		if want := `dlq_depth_by_reason{reason="` + r.String() + `",stream="ncpdp"} 0`; !strings.Contains(got, want+"\n") {
			t.Errorf("no line %s", want)
		}
	}
	if want := `dlq_oldest_age_seconds{stream="837"} 0`; !strings.Contains(got, want+"\n") {
		t.Errorf("no line %s", want)
	}
}

func TestCollector_AgeIsNeverNegative(t *testing.T) {
	t.Parallel()
	got := text(t, source{st: store.Stats{OldestParkedAt: now.Add(time.Hour)}}, nil)
	if !strings.Contains(got, "dlq_parked_oldest_age_seconds 0\n") {
		t.Error("a clock that went back gives a negative age")
	}
}

func TestCollector_ALostClaimShows(t *testing.T) {
	t.Parallel()
	got := text(t, source{st: store.Stats{Received: 3, ByState: map[claimdlq.State]int64{claimdlq.StateSettled: 2}}}, nil)
	if !strings.Contains(got, "claimdlq_conservation_difference 1\n") {
		t.Errorf("the difference does not show:\n%s", got)
	}
}

func TestCollector_AStoreThatCannotAnswerFailsTheScrape(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	err := metrics.WriteText(&out, metrics.New(source{err: errors.New("gone")}, streams(nil), func() time.Time { return now }))
	if !errors.Is(err, claimdlq.Unavailable) || out.Len() != 0 {
		t.Errorf("got %v and %d bytes", err, out.Len())
	}
}
