package sizing_test

import (
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"claimdlq"
	"claimdlq/retry"
	"claimdlq/sizing"
)

func simulate(t *testing.T, s sizing.Scenario) sizing.Outcome {
	t.Helper()
	if s.Policy == (claimdlq.Policy{}) {
		s.Policy = claimdlq.DefaultPolicy()
	}
	o, err := sizing.Simulate(s)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestSimulate_ADeadPayerSpendsExactlyTheBudget(t *testing.T) {
	t.Parallel()
	for receives := uint32(1); receives <= 20; receives++ {
		p := claimdlq.DefaultPolicy()
		p.MaxReceive = receives
		o := simulate(t, sizing.Scenario{Rate: sizing.PerSecond(10), For: time.Second, Policy: p, Outages: []sizing.Outage{{To: 24 * time.Hour}}})
		if o.Calls != int64(receives)*10 || o.FailedCalls != o.Calls || o.DeadLettered != 10 || o.MostReceives != int(receives) {
			t.Errorf("budget %d: %+v", receives, o)
		}
	}
}

func TestSimulate_TheBreakerHoldsAndNothingIsLost(t *testing.T) {
	t.Parallel()
	o := simulate(t, sizing.Scenario{Rate: sizing.PerSecond(400), For: time.Hour, Breaker: &retry.Options{}, Outages: []sizing.Outage{{From: 10 * time.Minute, To: 40 * time.Minute}}})
	if o.DeadLetters != 0 || o.Settled != o.Arrived || o.FailedCalls > 30 {
		t.Errorf("%+v", o)
	}
	if o.Opened != 10*time.Minute+22500*time.Microsecond {
		t.Errorf("opened at %v", o.Opened)
	}
}

func TestSimulate_AnOutageOf58DaysCostsNothingButProbes(t *testing.T) {
	t.Parallel()
	const days = 58 * 24 * time.Hour
	o := simulate(t, sizing.Scenario{
		Rate: sizing.Rate{Claims: 1, Seconds: 10}, For: days + time.Hour, Breaker: &retry.Options{MaxOpen: time.Hour},
		Outages: []sizing.Outage{{To: days}},
	})
	if o.Settled+o.DeadLettered != o.Arrived || o.Closed < days || o.Closed > days+time.Hour {
		t.Errorf("%+v", o)
	}
	// At 6 claims a minute retries trip the breaker before any budget is spent.
	if o.DeadLettered != 0 || o.FailedCalls > 58*24+20 {
		t.Errorf("%d dead, %d calls", o.DeadLettered, o.FailedCalls)
	}
}

func TestSimulate_AQuotaIsKept(t *testing.T) {
	t.Parallel()
	o := simulate(t, sizing.Scenario{
		Rate: sizing.PerSecond(100), For: 60 * time.Second, Quota: sizing.PerSecond(125), Breaker: &retry.Options{Open: 5 * time.Second},
		Outages: []sizing.Outage{{From: 10 * time.Second, To: 14 * time.Second}}, SampleEvery: time.Second,
	})
	for i := 1; i < len(o.Series); i++ {
		if n := o.Series[i].Calls - o.Series[i-1].Calls; n > 126 {
			t.Errorf("%d calls in second %d", n, i)
		}
	}
	if o.Settled != 6000 || o.PeakWaiting < 400 {
		t.Errorf("%+v", o)
	}
	// Five seconds of claims drain at 25/s: caught up after some 20 s.
	if o.CaughtUp < 30*time.Second || o.CaughtUp > 40*time.Second {
		t.Errorf("caught up at %v", o.CaughtUp)
	}
}

func TestSimulate_WorkersAreNeverExceeded(t *testing.T) {
	t.Parallel()
	o := simulate(t, sizing.Scenario{
		Rate: sizing.PerSecond(100), For: 60 * time.Second, Workers: 7, Latency: 50 * time.Millisecond,
		Outages: []sizing.Outage{{To: 10 * time.Second, Latency: time.Second}},
	})
	if o.PeakBusy != 7 || o.Settled+o.DeadLettered != 6000 {
		t.Errorf("%+v", o)
	}
}

func TestSimulate_AnOutageWindowSpendsNoBudget(t *testing.T) {
	t.Parallel()
	s := sizing.Scenario{
		Rate: sizing.PerSecond(10), For: 10 * time.Second, Policy: claimdlq.DefaultPolicy(),
		Outages: []sizing.Outage{{To: 8 * time.Hour, Window: true, RetryAfter: 10 * time.Minute}},
	}
	s.Policy.MaxReceive = 1
	if o := simulate(t, s); o.Settled != 100 || o.DeadLetters != 0 || o.MostReceives != 1 {
		t.Errorf("without a breaker: %+v", o)
	}
	s.Breaker = &retry.Options{}
	o := simulate(t, s)
	if o.Settled != 100 || o.FailedCalls != 48 { // one each 10 minutes
		t.Errorf("with it: %+v", o)
	}
}

func TestSimulate_RetryAfterHoldsThePartner(t *testing.T) {
	t.Parallel()
	o := simulate(t, sizing.Scenario{
		Rate: sizing.PerSecond(10), For: 20 * time.Second, Breaker: &retry.Options{},
		Outages: []sizing.Outage{{To: time.Second, RetryAfter: 5 * time.Second}},
	})
	if o.FailedCalls != 1 || o.Settled != 200 || o.Closed != 5*time.Second {
		t.Errorf("%+v", o)
	}
}

func TestSimulate_DrainSendsCanariesFirstAndBeginsAnewWhenOneFails(t *testing.T) {
	t.Parallel()
	s := sizing.Scenario{
		Rate: sizing.PerSecond(10), For: 10 * time.Minute, Latency: 100 * time.Millisecond,
		Outages: []sizing.Outage{{To: 2 * time.Minute}},
		Replay:  &sizing.Replay{At: 3*time.Minute + 30*time.Second, Canary: 5, From: sizing.PerSecond(2), Limit: sizing.PerSecond(8), Step: 10 * time.Second},
	}
	o := simulate(t, s)
	if o.Replayed != 600 || o.Settled != o.Arrived || o.DeadLettered != 0 || o.DrainBegan != s.Replay.At {
		t.Fatalf("%+v", o)
	}
	// 0.5 s of canaries; 20 in 10 s at 2/s; 40 in 10 s at 4/s; 535 at 8/s.
	if got, want := o.Drained-o.DrainBegan, 500*time.Millisecond+20*time.Second+66750*time.Millisecond+100*time.Millisecond; got != want {
		t.Errorf("it took %v, want %v", got, want)
	}
	s.Outages = append(s.Outages, sizing.Outage{From: s.Replay.At + 250*time.Millisecond, To: s.Replay.At + 5*time.Second})
	again := simulate(t, s)
	// The fourth canary fails at 0.3 s; 10 s later five others go. Those and the four
	// before them leave 591 instead of 595.
	if late := again.Drained - o.Drained; late != 10300*time.Millisecond-500*time.Millisecond || again.Settled != again.Arrived {
		t.Errorf("it ended %v later: %+v", late, again)
	}
}

func TestSimulate_SamplesSayHowThingsStood(t *testing.T) {
	t.Parallel()
	o := simulate(t, sizing.Scenario{
		Rate: sizing.PerSecond(10), For: 3 * time.Minute, Outages: []sizing.Outage{{To: 90 * time.Second}}, SampleEvery: 30 * time.Second, Breaker: &retry.Options{Open: time.Hour, MaxOpen: time.Hour},
	})
	if len(o.Series) < 6 || !o.Series[1].Open || o.Series[1].Waiting != 300 || o.Series[1].FailedCalls != 10 || time.Duration(o.Series[1].At) != 30*time.Second {
		t.Errorf("%+v", o.Series)
	}
}

func TestSimulate_RefusesWhatMakesNoSense(t *testing.T) {
	t.Parallel()
	good := func() sizing.Scenario {
		return sizing.Scenario{Rate: sizing.PerSecond(1), For: time.Second, Policy: claimdlq.DefaultPolicy()}
	}
	for name, f := range map[string]func(*sizing.Scenario){
		"no rate":                    func(s *sizing.Scenario) { s.Rate = sizing.Rate{} },
		"no budget":                  func(s *sizing.Scenario) { s.Policy.MaxReceive = 0 },
		"too many claims":            func(s *sizing.Scenario) { s.Rate, s.For = sizing.PerSecond(1_000_000), 24*time.Hour },
		"outages that overlap":       func(s *sizing.Scenario) { s.Outages = []sizing.Outage{{To: 2}, {From: 1, To: 3}} },
		"a window without a time":    func(s *sizing.Scenario) { s.Policy.HoldMax, s.Outages = 0, []sizing.Outage{{To: 1, Window: true}} },
		"negative latency":           func(s *sizing.Scenario) { s.Latency = -1 },
		"a drain without a speed":    func(s *sizing.Scenario) { s.Replay = &sizing.Replay{} },
		"more calls than are wanted": func(s *sizing.Scenario) { s.For, s.MaxCalls = time.Minute, 5 },
	} {
		s := good()
		f(&s)
		if _, err := sizing.Simulate(s); !errors.Is(err, claimdlq.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSimulate_ConservesClaims: whatever happens, every claim that arrived is
// settled, dead-lettered or bad, and no budget is exceeded.
func TestSimulate_ConservesClaims(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		span := func(name string, most time.Duration) time.Duration {
			return time.Duration(rapid.Int64Range(0, int64(most)).Draw(rt, name))
		}
		share := func(name string) sizing.Share { return sizing.Share(rapid.Int64Range(0, 300_000).Draw(rt, name)) }
		s := sizing.Scenario{
			Rate: sizing.PerSecond(rapid.Int64Range(1, 50).Draw(rt, "rate")), For: span("for", 5*time.Minute),
			Policy: claimdlq.Policy{
				MaxReceive: rapid.Uint32Range(1, 20).Draw(rt, "receives"), Base: span("base", 5*time.Second), Cap: span("cap", time.Minute),
				HoldMax: time.Minute, Jitter: rapid.Bool().Draw(rt, "jitter"),
			},
			Latency: span("latency", time.Second), Workers: rapid.Int64Range(0, 16).Draw(rt, "workers"),
			Transient: share("transient"), Bad: share("bad"), Seed: rapid.Uint64().Draw(rt, "seed"), MaxCalls: 5_000_000,
		}
		if rapid.Bool().Draw(rt, "breaker") {
			s.Breaker = &retry.Options{Open: time.Second + span("open", time.Minute)}
		}
		if rapid.Bool().Draw(rt, "quota") {
			s.Quota = sizing.PerSecond(rapid.Int64Range(1, 100).Draw(rt, "calls"))
		}
		if rapid.Bool().Draw(rt, "replay") {
			s.Replay = &sizing.Replay{At: span("at", 5*time.Minute), Canary: rapid.Int64Range(0, 5).Draw(rt, "canary"), From: sizing.PerSecond(1), Limit: sizing.PerSecond(20), Step: 10 * time.Second}
		}
		from := time.Duration(0)
		for range rapid.IntRange(0, 3).Draw(rt, "outages") {
			o := sizing.Outage{From: from + span("after", time.Minute), Latency: span("takes", 3*time.Second), Window: rapid.Bool().Draw(rt, "window"), Fails: share("fails")}
			o.To = o.From + span("lasts", 2*time.Minute)
			from = o.To
			s.Outages = append(s.Outages, o)
		}
		o, err := sizing.Simulate(s)
		if err != nil {
			rt.Fatal(err)
		}
		if o.Settled+o.DeadLettered+o.Bad != o.Arrived || o.MostReceives > int(s.Policy.MaxReceive) {
			rt.Fatalf("%+v", o)
		}
		if s.Workers > 0 && o.PeakBusy > s.Workers {
			rt.Fatalf("%d of %d workers were busy", o.PeakBusy, s.Workers)
		}
		if again, _ := sizing.Simulate(s); again.Calls != o.Calls || again.End != o.End || again.Settled != o.Settled {
			rt.Fatal("the same scenario went another way")
		}
	})
}
