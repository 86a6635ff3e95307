package app

import (
	"context"
	"time"

	"claimdlq"
	"claimdlq/alert"
	"claimdlq/flow/attempt"
	"claimdlq/flow/filing"
	"claimdlq/flow/retain"
)

// Sample returns the figures that alarms look at. Without streams it says that there
// are none.
func (a *App) Sample(ctx context.Context) alert.Sample {
	s := alert.Sample{At: a.now()}
	st, err := a.Store.Stats(ctx)
	if err != nil {
		return s
	}
	counted := map[string]attempt.StreamFigures{}
	for _, f := range a.Flow.Attempt.Figures() {
		counted[f.Stream] = f
	}
	late, watched := a.Flow.Retain.Figures()
	for _, name := range []string{claimdlq.StreamX12, claimdlq.StreamNCPDP} {
		own, f := st.Streams[name], counted[name]
		x := alert.Stream{
			Name: name, Depth: own.Records[claimdlq.StateQuarantined], ByReason: own.Quarantined,
			OldestAge: age(own.OldestAt, s.At), Parked: own.Records[claimdlq.StateParked],
			InDoubt: own.Records[claimdlq.StateInDoubt], InDoubtAge: age(own.OldestInDoubtAt, s.At),
			Deliveries: f.Deliveries, Retries: f.Retries, Failures: f.Failures, UnknownCodes: f.UnknownCodes,
			Expired: late[name].Expired,
		}
		if watched {
			x.Ripe, x.Deadlines, x.Held = late[name].Ripe, stages(late[name].Stages), held(late[name].Held, s.At)
		}
		if name == claimdlq.StreamX12 { // what is counted for all streams together
			x.Difference, x.Orphans = st.Difference(), st.Orphans
		}
		s.Streams = append(s.Streams, x)
	}
	for _, b := range a.Flow.Attempt.Breakers() {
		s.Partners = append(s.Partners, alert.Partner{Stream: b.Stream, Name: b.Partner, Breaker: b.State, Since: b.Since})
	}
	return s
}

// held says by cause what is held, and for how long.
func held(by map[claimdlq.Hold]retain.Held, now time.Time) map[alert.Cause]alert.Held {
	out := map[alert.Cause]alert.Held{}
	for h, x := range by {
		out[alert.Cause(h.String())] = alert.Held{Records: x.Records, Age: age(x.Since, now)}
	}
	return out
}

// stages counts by the names of the stages.
func stages(n map[filing.Stage]int64) map[string]int64 {
	out := map[string]int64{}
	for _, s := range filing.Stages {
		out[s.String()] = n[s]
	}
	return out
}

func age(t, now time.Time) time.Duration {
	if t.IsZero() {
		return 0
	}
	return max(0, now.Sub(t))
}
