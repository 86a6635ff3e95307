package sizing

import (
	"time"

	"claimdlq"
	"claimdlq/retry"
)

// Scenario is what Simulate plays. Rate, For and Policy are required.
type Scenario struct {
	// Rate and For say how fast claims arrive, and for how long: from 0 on.
	Rate Rate
	For  time.Duration
	// Policy decides about retries; its Jitter is drawn from Seed.
	Policy claimdlq.Policy
	// Breaker is the partner's breaker, as warm as after a quiet day. Default: none.
	Breaker *retry.Options
	// Outages are when the other side is down, in order and apart.
	Outages []Outage
	// Latency is how long a call takes.
	Latency time.Duration
	// Workers is how many calls may run at the same time. Default: any number.
	Workers int64
	// Quota is how many calls may be started. Default: any number.
	Quota Rate
	// Transient and Bad are shares of deliveries and of claims, as in Input.
	Transient, Bad Share
	// Replay drains the dead letters. Default: nobody does.
	Replay *Replay
	// DepthAlarm, RetryAlarm and AgeAlarm are as in Input. Default: none.
	DepthAlarm, RetryAlarm int64
	AgeAlarm               time.Duration
	// SampleEvery asks for a Series. Default: none.
	SampleEvery time.Duration
	// Seed decides what is left to chance.
	Seed uint64
	// MaxCalls ends a simulation that would take too long. Default: 200 million.
	MaxCalls int64
}

// Outage is a time in which the other side is down: a call that starts in
// [From, To) fails.
type Outage struct {
	From, To time.Duration
	// Fails is the share of calls that fail. Default: All.
	Fails Share
	// Latency is how long a call takes that fails.
	Latency time.Duration
	// RetryAfter and Window are what the failure says: see retry.Failure.
	RetryAfter time.Duration
	Window     bool
}

// Replay is a drain of the dead letters: canaries one by one; when all of them
// succeeded, From, twice as fast after each Step, and never above Limit. A canary
// that fails, or an open breaker, makes it wait for a Step and begin anew.
type Replay struct {
	At     time.Duration
	Canary int64
	From   Rate
	Limit  Rate
	Step   time.Duration
}

// never is when something happens that does not happen.
const never = time.Duration(-1)

// Outcome is what a simulation came to. Times are since its beginning; those that
// did not happen are negative.
type Outcome struct {
	// Arrived = Settled + DeadLettered + Bad once everything has ended.
	Arrived, Settled int64
	// DeadLettered is how many claims spent their budget, DeadLetters how often that
	// happened, replays included, and Bad how many were refused at first sight.
	DeadLettered, DeadLetters, Bad int64
	// Replayed is how many were replayed.
	Replayed int64
	// Calls is how many deliveries there were, FailedCalls how many of them failed.
	Calls, FailedCalls int64
	// MostReceives is the largest number of deliveries that one budget paid for.
	MostReceives int
	// PeakWaiting is the largest number of claims that were neither settled nor
	// dead-lettered, PeakDead that of dead letters, PeakBusy that of calls.
	PeakWaiting, PeakDead, PeakBusy int64

	FirstDead time.Duration
	// Opened is when the breaker first opened, Closed when it last closed.
	Opened, Closed time.Duration
	// CaughtUp is when, after the last outage, all claims but those that had just
	// arrived were settled or dead-lettered.
	CaughtUp time.Duration
	// DrainBegan is when the drain sent its first claim, Drained when its last was
	// settled.
	DrainBegan, Drained time.Duration
	// DepthRang, RetryRang and AgeRang are when the alarms first rang.
	DepthRang, RetryRang, AgeRang time.Duration

	// End is when the last thing happened.
	End    time.Duration
	Series []Sample
}

// Sample is how things stood at a time.
type Sample struct {
	At          Span  `json:"at_ms"`
	Waiting     int64 `json:"waiting"`
	Dead        int64 `json:"dead"`
	Calls       int64 `json:"calls"`
	FailedCalls int64 `json:"failed_calls"`
	Open        bool  `json:"open"` // the breaker is not closed
}
