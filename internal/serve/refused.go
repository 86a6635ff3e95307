package serve

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"claimdlq/alert"
)

// recently is how long ago intake may have refused something and still be called
// refusing; and how often a cause is logged at most.
const recently = time.Minute

// refusals counts what intake refuses, by cause, and says so once a minute.
type refusals struct {
	log *slog.Logger
	now func() time.Time

	mu sync.Mutex
	of map[alert.Cause]refusal
}

// refusal is what was refused for one cause.
type refusal struct {
	total    int64
	unsaid   int64 // since it was logged
	at, said time.Time
}

func newRefusals(log *slog.Logger, now func() time.Time) *refusals {
	return &refusals{log: log, now: now, of: map[alert.Cause]refusal{}}
}

// add counts one request that was refused. No cause: its sender has gone, and nobody
// was refused.
func (r *refusals) add(c alert.Cause, err error) {
	if c == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now, x := r.now(), r.of[c]
	x.total, x.unsaid, x.at = x.total+1, x.unsaid+1, now
	if x.said.IsZero() || now.Sub(x.said).Abs() >= recently {
		r.log.LogAttrs(context.Background(), slog.LevelError, "Claims are refused",
			slog.String("cause", string(c)), slog.Int64("count", x.unsaid), slog.Any("error", err))
		x.unsaid, x.said = 0, now
	}
	r.of[c] = x
}

// figures fills in what was refused, and for which causes it goes on.
func (r *refusals) figures(f *alert.Intake) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f.Refused, f.Refusing = map[alert.Cause]int64{}, map[alert.Cause]bool{}
	now := r.now()
	for c, x := range r.of {
		f.Refused[c], f.Refusing[c] = x.total, now.Sub(x.at).Abs() < recently
	}
}

// figures are the program's figures and those of intake, for alarms and metrics.
type figures struct{ p *process }

// Sample returns the figures of this moment.
func (f figures) Sample(ctx context.Context) alert.Sample {
	p, s := f.p, f.p.a.Sample(ctx)
	in := &alert.Intake{Limit: max(p.s.MaxUnresolved, 0)}
	p.refused.figures(in)
	if n, err := p.unresolved(ctx); err == nil {
		in.Waiting = n
		in.Refusing[alert.CauseBacklog] = in.Limit > 0 && n >= in.Limit
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.trouble != nil { // nobody may ask any more, and it is refused all the same
		in.Refusing[alert.CauseDisk] = true
	}
	s.Intake = in
	return s
}

// Shredded returns how many sealed units were destroyed.
func (f figures) Shredded() int64 { return f.p.a.Shredded() }
