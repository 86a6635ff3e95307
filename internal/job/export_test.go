package job

import (
	"bytes"
	"context"
	"time"

	"claimdlq"
	"claimdlq/store"
)

// SetStep lets a test end the process before a step: f is called before each append to
// a journal.
func SetStep(c *Config, f func(string) error) { c.step = f }

// Ramp is a ramp for tests.
type Ramp struct{ r ramp }

// NewRamp returns a ramp that begins now.
func NewRamp(now time.Time, p Policy) *Ramp {
	r := &Ramp{}
	r.r.start(now, &p, p.MaxRate)
	return r
}

// Take returns how many are due and takes them.
func (r *Ramp) Take(now time.Time) int {
	n := r.r.due(now)
	r.r.used(n)
	return n
}

// Wait returns how long to wait.
func (r *Ramp) Wait(now time.Time) time.Duration { return r.r.wait(now) }

// SetMax changes the maximum.
func (r *Ramp) SetMax(now time.Time, limit float64) { r.r.setMax(now, limit) }

// Rate returns the rate.
func (r *Ramp) Rate() float64 { return r.r.rate }

// ReadFrames reads a journal's bytes and returns how many are good.
func ReadFrames(b []byte) (int64, error) {
	return readFrames(bytes.NewReader(b), int64(len(b)), func(kind byte, body []byte) error {
		if kind == kindMarks {
			decodeMarks(body, func(mark) {})
		}
		return nil
	})
}

// Frame returns a frame of a journal.
func Frame(kind byte, payload []byte) []byte {
	return (&journal{}).encode(kind, payload)
}

// WithRules makes it seem that the job was planned under other rules.
func WithRules(s *Jobs, id ID, rules map[string]string) *Jobs {
	j := s.jobs[id]
	j.mu.Lock()
	defer j.mu.Unlock()
	j.rules = rules
	return s
}

// Fence returns the store that a job's replays work on.
func Fence(s store.Store) store.Store { return fence{s} }

// WithTurn lets a fence pass a release of the record at the revision.
func WithTurn(ctx context.Context, id claimdlq.ID, revision uint32) context.Context {
	return withTurn(ctx, turn{record: id, revision: revision})
}
