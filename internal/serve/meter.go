package serve

import (
	"slices"
	"sync"
	"time"

	"claimdlq/alert"
	"claimdlq/internal/api"
)

// meter measures what the last minute brought, from the samples that alarms look at. Of
// dead letters it is the very figure of alarm dlq_increase: its rule rings here from the
// first one on, so that the page and the alarm cannot differ.
type meter struct {
	rises  *alert.Evaluator
	levels []alert.Rule // dlq_increase as it is configured

	mu       sync.Mutex
	received []point
	now      *api.Rates
}

// point is how much had been taken in at a time.
type point struct {
	at    time.Time
	value int64
}

func newMeter(rules []alert.Rule) (*meter, error) {
	m := &meter{}
	for i := range rules {
		if r := &rules[i]; r.Name == alert.AlarmIncrease && r.Window == time.Minute {
			m.levels = append(m.levels, *r)
		}
	}
	var err error
	m.rises, err = alert.New([]alert.Rule{{
		Name: alert.AlarmIncrease, Severity: alert.Ticket, Metric: alert.MetricDepth, Test: alert.Rise, Threshold: 1, Window: time.Minute, Summary: "{value}",
	}})
	return m, err
}

// see takes a sample, and how many claims were ever taken in at that time.
func (m *meter) see(s alert.Sample, received int64) {
	m.rises.Observe(s)
	m.mu.Lock()
	defer m.mu.Unlock()
	// It begins with the newest that is a minute old, or older.
	for len(m.received) > 1 && s.At.Sub(m.received[1].at) >= time.Minute {
		m.received = m.received[1:]
	}
	first := len(m.received) == 0
	if first || s.At.Sub(m.received[len(m.received)-1].at) >= time.Second { // a minute is 60 of them, however often it is told
		m.received = append(m.received, point{s.At, received})
	}
	if first || len(s.Streams) == 0 {
		m.now = nil // one figure has no rate
		return
	}
	risen := map[string]int64{}
	for _, e := range m.rises.Active() {
		risen[e.Labels.Stream] = int64(e.Value)
	}
	m.now = &api.Rates{Received: received - m.received[0].value, DeadLettered: []api.DeadLetters{}}
	for i := range s.Streams {
		name := s.Streams[i].Name
		m.now.DeadLettered = append(m.now.DeadLettered, api.DeadLetters{Stream: name, Rise: risen[name], Alarm: m.level(name)})
	}
}

// level is how many dead letters of a stream within a minute ring, 0 if none do.
func (m *meter) level(stream string) int64 {
	for i := range m.levels {
		if r := &m.levels[i]; r.Stream == stream || r.Stream == "" && !slices.Contains(r.Except, stream) {
			return int64(r.Threshold)
		}
	}
	return 0
}

// rates is what Options of package api ask for.
func (m *meter) rates() *api.Rates {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}
