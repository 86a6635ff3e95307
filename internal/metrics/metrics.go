// Package metrics shows a store's counters to Prometheus. Every scrape reads the
// store: a gauge cannot go stale, every reason is always present, an empty queue
// has age 0, and what is parked is counted apart from what is quarantined.
//
// Labels come from closed sets; values are counts and times, never identifiers.
package metrics

import (
	"context"
	"io"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"

	"claimdlq"
	"claimdlq/alert"
	"claimdlq/retry"
	"claimdlq/store"
)

// Source is what the collector reads.
type Source interface {
	Stats(ctx context.Context) (store.Stats, error)
}

// Sampler gives the figures of each stream and partner, as alarms see them.
type Sampler interface {
	Sample(ctx context.Context) alert.Sample
	// Shredded returns how many sealed units were destroyed.
	Shredded() int64
}

// Collector is a prometheus.Collector.
type Collector struct {
	src     Source
	streams Sampler
	now     func() time.Time
}

// New returns a Collector that reads src and streams at every scrape; now dates the
// ages.
func New(src Source, streams Sampler, now func() time.Time) *Collector {
	return &Collector{src, streams, now}
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

// The names that start with dlq_ are the field's; docs and alert rules use them.
var (
	depth        = desc(alert.MetricDepth, "Records in quarantine.", "stream")
	oldest       = desc(alert.MetricOldestAge, "Age of the oldest record in quarantine since it first failed, 0 if there is none.", "stream")
	byReason     = desc(alert.MetricByReason, "Records in quarantine by reason; every reason is always present.", "stream", "reason")
	parked       = desc(alert.MetricParked, "Records that are parked and wait for a named person.", "stream")
	inDoubt      = desc(alert.MetricInDoubt, "Records of which nobody knows whether they arrived.", "stream")
	inDoubtAge   = desc(alert.MetricInDoubtAge, "Age of the oldest record in doubt since it first failed, 0 if there is none.", "stream")
	deliveries   = desc(alert.MetricDeliveries, "Deliveries that ended, however they ended.", "stream")
	retries      = desc(alert.MetricRetries, "Deliveries that were not the first since intake or replay.", "stream")
	failures     = desc(alert.MetricFailures, "Deliveries that failed in a transient way or ended unknown.", "stream")
	unknown      = desc(alert.MetricUnknown, "Answers with a code that no table knows.", "stream")
	breaker      = desc(alert.MetricBreaker, "1 while the circuit breaker of the partner is open or half open.", "stream", "partner")
	parkedOldest = desc("dlq_parked_oldest_age_seconds", "Age of the oldest parked record since it first failed, 0 if there is none.")
	records      = desc("claimdlq_records", "Records by state, acknowledgment files not included.", "state")
	claims       = desc("claimdlq_claims", "Claims by the state of the record that answers for them.", "state")
	rejected     = desc("claimdlq_claims_rejected", "Settled claims that the payer rejected for good.")
	received     = desc("claimdlq_claims_received_total", "Claims ever taken in.")
	difference   = desc(alert.MetricDifference, "Claims taken in less claims accounted for; anything but 0 is a defect.")
	deadlines    = desc(alert.MetricDeadlines, "Unresolved records that have a filing window, by how much of it has gone; every stage is always present once they were looked at.", "stream", "stage")
	ripe         = desc(alert.MetricRipe, "Unresolved records that will be parked by their retention and have 80 % of it behind them.", "stream")
	expired      = desc(alert.MetricExpired, "Records that were parked by their retention.", "stream")
	shredded     = desc("claimdlq_units_shredded_total", "Sealed payloads whose keys were destroyed: settled long enough ago, or without a record.")
	heldRecords  = desc(alert.MetricHeld, "Queued records that show that they are held: of what waits for a partner the next in turn.", "stream", "cause")
	heldAge      = desc(alert.MetricHeldAge, "How long the first of them has been held, 0 if there is none.", "stream", "cause")
	refused      = desc(alert.MetricRefused, "Requests with claims that intake refused; every cause is always present.", "cause")
	refusing     = desc(alert.MetricRefusing, "1 while claims are refused for the cause, or were within the last minute.", "cause")
	waiting      = desc(alert.MetricWaiting, "Unresolved records, which intake bounds.")
	limit        = desc(alert.MetricWaitingLimit, "Unresolved records at which intake refuses more; 0 where there is no limit.")
	fill         = desc(alert.MetricFill, "Unresolved records as a part of the limit; 0 where there is none.")
	orphans      = desc(alert.MetricOrphans, "Acknowledgment files that could not be matched in full.")
)

var all = []*prometheus.Desc{
	depth, oldest, byReason, parked, inDoubt, inDoubtAge, deliveries, retries, failures, unknown, breaker,
	parkedOldest, records, claims, rejected, received, difference, orphans, deadlines, ripe, expired, shredded,
	heldRecords, heldAge, refused, refusing, waiting, limit, fill,
}

// Describe implements prometheus.Collector.
func (c *Collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range all {
		ch <- d
	}
}

// Collect implements prometheus.Collector. If the store cannot answer, the scrape
// fails: an alarm on missing figures is better than old ones.
func (c *Collector) Collect(ch chan<- prometheus.Metric) {
	st, err := c.src.Stats(context.Background())
	if err != nil {
		ch <- prometheus.NewInvalidMetric(depth, err)
		return
	}
	put := func(kind prometheus.ValueType) func(*prometheus.Desc, float64, ...string) {
		return func(d *prometheus.Desc, v float64, labels ...string) {
			ch <- prometheus.MustNewConstMetric(d, kind, v, labels...)
		}
	}
	gauge, counter := put(prometheus.GaugeValue), put(prometheus.CounterValue)
	sample := c.streams.Sample(context.Background())
	for _, f := range sample.Streams {
		stream(f, gauge, counter)
	}
	for _, p := range sample.Partners {
		open := 0.0
		if p.Breaker != retry.Closed {
			open = 1
		}
		gauge(breaker, open, p.Stream, p.Name)
	}
	gauge(parkedOldest, age(st.OldestParkedAt, c.now()))
	for _, s := range claimdlq.States {
		gauge(records, float64(st.Records[s]), s.String())
		gauge(claims, float64(st.ByState[s]), s.String())
	}
	gauge(rejected, float64(st.Rejected))
	counter(received, float64(st.Received))
	gauge(difference, float64(st.Difference()))
	gauge(orphans, float64(st.Orphans))
	counter(shredded, float64(c.streams.Shredded()))
	if sample.Intake != nil {
		intake(sample.Intake, gauge, counter)
	}
}

// intake puts the figures of what is taken in and refused.
func intake(f *alert.Intake, gauge, counter func(*prometheus.Desc, float64, ...string)) {
	for _, c := range alert.Causes {
		counter(refused, float64(f.Refused[c]), string(c))
		now := 0.0
		if f.Refusing[c] {
			now = 1
		}
		gauge(refusing, now, string(c))
	}
	gauge(waiting, float64(f.Waiting))
	gauge(limit, float64(f.Limit))
	gauge(fill, f.Fill())
}

// stream puts the figures of one stream.
func stream(f alert.Stream, gauge, counter func(*prometheus.Desc, float64, ...string)) {
	gauge(depth, float64(f.Depth), f.Name)
	gauge(oldest, f.OldestAge.Seconds(), f.Name)
	for _, r := range claimdlq.Reasons {
		gauge(byReason, float64(f.ByReason[r]), f.Name, r.String())
	}
	gauge(parked, float64(f.Parked), f.Name)
	gauge(inDoubt, float64(f.InDoubt), f.Name)
	gauge(inDoubtAge, f.InDoubtAge.Seconds(), f.Name)
	counter(deliveries, float64(f.Deliveries), f.Name)
	counter(retries, float64(f.Retries), f.Name)
	counter(failures, float64(f.Failures), f.Name)
	counter(unknown, float64(f.UnknownCodes), f.Name)
	counter(expired, float64(f.Expired), f.Name)
	if f.Deadlines == nil {
		return
	}
	for _, stage := range alert.DeadlineStages {
		gauge(deadlines, float64(f.Deadlines[stage]), f.Name, stage)
	}
	gauge(ripe, float64(f.Ripe), f.Name)
	for _, c := range alert.Holds {
		gauge(heldRecords, float64(f.Held[c].Records), f.Name, string(c))
		gauge(heldAge, f.Held[c].Age.Seconds(), f.Name, string(c))
	}
}

// age is never negative, whatever the clock did, and 0 where there is nothing.
func age(t, now time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return max(0, now.Sub(t).Seconds())
}

// WriteText writes the collector's figures to w in the Prometheus text format.
func WriteText(w io.Writer, c prometheus.Collector) error {
	reg := prometheus.NewPedanticRegistry()
	if err := reg.Register(c); err != nil {
		return &claimdlq.Error{Code: claimdlq.Internal, Op: "register metrics", Err: err}
	}
	families, err := reg.Gather()
	if err != nil {
		return &claimdlq.Error{Code: claimdlq.Unavailable, Op: "gather metrics", Err: err}
	}
	for _, f := range families {
		if _, err := expfmt.MetricFamilyToText(w, f); err != nil {
			return &claimdlq.Error{Code: claimdlq.Unavailable, Op: "write metrics", Err: err}
		}
	}
	return nil
}
