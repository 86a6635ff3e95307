package alert

import (
	"time"

	"claimdlq"
	"claimdlq/retry"
)

// Sample is the program's figures at one moment. Take one every few seconds, at
// least one a minute: a rise within a minute is measured between samples. A Sample without streams says that
// there are no figures: the store could not answer.
type Sample struct {
	// At is when the figures were taken. With a monotonic reading, as time.Now gives
	// it, a step of the wall clock is not noticed at all.
	At       time.Time
	Streams  []Stream  // each name once
	Partners []Partner // each stream and name once
	Intake   *Intake   // nil where nothing is taken in
}

// Intake is what the process takes in, and refuses, over all streams.
type Intake struct {
	Waiting, Limit int64           // MetricWaiting, MetricWaitingLimit
	Refused        map[Cause]int64 // MetricRefused; what is missing is 0
	Refusing       map[Cause]bool  // MetricRefusing
}

// Fill returns MetricFill.
func (i *Intake) Fill() float64 {
	if i.Limit <= 0 {
		return 0
	}
	return count(i.Waiting) / count(i.Limit)
}

// Stream is the figures of one stream.
type Stream struct {
	Name string // such as 837 or ncpdp

	Depth      int64                     // MetricDepth
	ByReason   map[claimdlq.Reason]int64 // MetricByReason; what is missing is 0
	OldestAge  time.Duration             // MetricOldestAge
	Parked     int64                     // MetricParked
	InDoubt    int64                     // MetricInDoubt
	InDoubtAge time.Duration             // MetricInDoubtAge

	// Counters since the process began. One that is smaller than before began again
	// at 0.
	Deliveries   int64 // MetricDeliveries
	Retries      int64 // MetricRetries
	Failures     int64 // MetricFailures
	UnknownCodes int64 // MetricUnknown
	Expired      int64 // MetricExpired

	Difference int64 // MetricDifference
	Orphans    int64 // MetricOrphans

	// Deadlines is MetricDeadlines by stage, what is missing being 0; nil before anything
	// was looked at. Then Ripe, MetricRipe, is not known either.
	Deadlines map[string]int64
	Ripe      int64
	// Held is what is held, by why; known where Deadlines is.
	Held map[Cause]Held
}

// Held is MetricHeld and MetricHeldAge of one cause.
type Held struct {
	Records int64
	Age     time.Duration
}

// Partner is where one partner's circuit breaker stands.
type Partner struct {
	Stream, Name string
	Breaker      retry.State
	// Since is when it last left the closed state; the zero Time where unknown.
	Since time.Time
}

// The most streams and partners that an Evaluator watches. What a sample holds
// beyond them rings AlarmFigures.
const (
	MaxStreams  = 64
	MaxPartners = 4096
)
