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
	"claimdlq/store"
)

// Source is what the collector reads; a store.Store is one.
type Source interface {
	Stats(ctx context.Context) (store.Stats, error)
}

// stream is the one stream whose records the store counts.
const stream = "837"

// Collector is a prometheus.Collector.
type Collector struct {
	src Source
	now func() time.Time
}

// New returns a Collector that reads src at every scrape; now dates the ages.
func New(src Source, now func() time.Time) *Collector { return &Collector{src, now} }

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

// The names that start with dlq_ are the field's; docs and alert rules use them.
var (
	depth        = desc("dlq_depth", "Records in quarantine.", "stream")
	oldest       = desc("dlq_oldest_age_seconds", "Age of the oldest record in quarantine since it first failed, 0 if there is none.", "stream")
	byReason     = desc("dlq_depth_by_reason", "Records in quarantine by reason; every reason is always present.", "reason")
	parked       = desc("dlq_parked", "Records that are parked and wait for a named person.", "stream")
	parkedOldest = desc("dlq_parked_oldest_age_seconds", "Age of the oldest parked record since it first failed, 0 if there is none.", "stream")
	records      = desc("claimdlq_records", "Records by state, acknowledgment files not included.", "state")
	claims       = desc("claimdlq_claims", "Claims by the state of the record that answers for them.", "state")
	rejected     = desc("claimdlq_claims_rejected", "Settled claims that the payer rejected for good.")
	received     = desc("claimdlq_claims_received_total", "Claims ever taken in.")
	difference   = desc("claimdlq_conservation_difference", "Claims taken in less claims accounted for; anything but 0 is a defect.")
	orphans      = desc("claimdlq_acknowledgments_orphaned", "Acknowledgment files that could not be matched in full.")
)

var all = []*prometheus.Desc{
	depth, oldest, byReason, parked, parkedOldest, records, claims, rejected, received, difference, orphans,
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
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	now := c.now()
	gauge(depth, float64(st.Records[claimdlq.StateQuarantined]), stream)
	gauge(oldest, age(st.OldestAt, now), stream)
	for _, r := range claimdlq.Reasons {
		gauge(byReason, float64(st.Quarantined[r]), r.String())
	}
	gauge(parked, float64(st.Records[claimdlq.StateParked]), stream)
	gauge(parkedOldest, age(st.OldestParkedAt, now), stream)
	for _, s := range claimdlq.States {
		gauge(records, float64(st.Records[s]), s.String())
		gauge(claims, float64(st.ByState[s]), s.String())
	}
	gauge(rejected, float64(st.Rejected))
	ch <- prometheus.MustNewConstMetric(received, prometheus.CounterValue, float64(st.Received))
	gauge(difference, float64(Difference(st)))
	gauge(orphans, float64(st.Orphans))
}

// Difference returns claims taken in less claims accounted for: 0 unless a claim
// was lost or counted twice.
func Difference(st store.Stats) int64 {
	d := st.Received
	for _, n := range st.ByState {
		d -= n
	}
	return d
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
