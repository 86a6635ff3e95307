package serve

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"claimdlq"
	"claimdlq/alert"
	"claimdlq/internal/atomicfile"
)

// Receiver is somebody whom alarms are sent to.
type Receiver struct {
	// Name is what is remembered of it under, over restarts.
	Name string
	// Severities are those that it is told of. Default: all.
	Severities []alert.Severity
	Sender     Sender
	// Remind tells it once an hour what still rings: one that was away for longer than
	// events are kept learns it all the same.
	Remind bool
}

// Sender sends events and never waits; Idle reports whether all that it was given is
// sent, or given up.
type Sender interface {
	Send(events []alert.Event)
	Run(ctx context.Context)
	Idle() bool
}

const (
	// fileAlarms holds which alarms ring and who was told, in the data directory.
	fileAlarms = "alarms.json"
	remind     = time.Hour
)

// kept is fileAlarms.
type kept struct {
	Alarms []alert.Kept            `json:"alarms"`
	Told   map[string][]alert.Told `json:"told"` // by receiver
}

// bells looks at the figures, and tells the receivers what rings.
type bells struct {
	p         *process
	path      string
	receivers []*told
	now       kept
	written   []byte // as the file is
	reminded  time.Time
}

// told is a receiver and what it knows.
type told struct {
	Receiver

	teller alert.Teller
}

// alarms starts the evaluator and those whom it tells.
func (p *process) alarms(start func(func(context.Context) error)) {
	b := &bells{p: p, path: filepath.Join(p.s.Dir, fileAlarms), now: kept{Told: map[string][]alert.Told{}}, reminded: p.s.Now()}
	b.restore()
	start(func(ctx context.Context) error {
		var sending sync.WaitGroup
		for _, r := range b.receivers {
			sending.Go(func() { r.Sender.Run(ctx) })
		}
		b.look(ctx)
		for range ticks(ctx, cmp.Or(p.s.Every, 15*time.Second)) {
			b.look(ctx)
		}
		sending.Wait()
		b.keep(context.WithoutCancel(ctx))
		return nil
	})
}

// restore takes back what was kept. Where it cannot be read, alarms ring anew.
func (b *bells) restore() {
	var was kept
	text, err := os.ReadFile(b.path)
	if err == nil {
		err = json.Unmarshal(text, &was)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		b.p.s.Log.LogAttrs(context.Background(), slog.LevelWarn, "Which alarms rang is not known: they ring anew")
		was = kept{}
	}
	b.p.evaluator.Restore(was.Alarms, b.p.s.Now())
	for _, r := range b.p.s.Receivers {
		x := &told{Receiver: r}
		x.teller.Restore(was.Told[r.Name])
		b.now.Told[r.Name] = was.Told[r.Name]
		b.receivers = append(b.receivers, x)
	}
}

// look takes a sample and tells who is to be told.
func (b *bells) look(ctx context.Context) {
	sample := figures{b.p}.Sample(ctx)
	if st, err := b.p.a.Store.Stats(ctx); err == nil {
		b.p.meter.see(sample, st.Received)
	}
	for _, ev := range b.p.evaluator.Observe(sample) {
		b.p.say(ctx, ev)
	}
	active, now := b.p.evaluator.Active(), b.p.s.Now()
	again := now.Sub(b.reminded).Abs() >= remind
	if again {
		b.reminded = now
	}
	for _, r := range b.receivers {
		if again && r.Remind {
			r.teller.Remind()
		}
		r.Sender.Send(r.teller.Tell(now, active, r.mine, b.p.silences.Silenced))
	}
	b.keep(ctx)
}

func (r *told) mine(e alert.Event) bool {
	return len(r.Severities) == 0 || slices.Contains(r.Severities, e.Severity)
}

// keep writes what has changed. What a receiver was told counts once it is sent: after
// a crash it is told again rather than not at all.
func (b *bells) keep(ctx context.Context) {
	b.now.Alarms = b.p.evaluator.Keep()
	for _, r := range b.receivers {
		if r.Sender.Idle() {
			b.now.Told[r.Name] = r.teller.Keep()
		}
	}
	text, err := json.Marshal(b.now)
	if err == nil && bytes.Equal(text, b.written) {
		return
	}
	if err == nil {
		err = atomicfile.WriteFile(b.path, text, 0o600)
	}
	if err != nil {
		err = &claimdlq.Error{Code: claimdlq.Unavailable, Op: "keep alarms", On: "after a restart they ring anew", Err: cause(err)}
		b.p.s.Log.LogAttrs(ctx, slog.LevelWarn, "Which alarms ring could not be kept", slog.Any("error", err))
		return
	}
	b.written = text
}

// say logs an alarm that began or ended.
func (p *process) say(ctx context.Context, ev alert.Event) {
	about := []slog.Attr{
		slog.String("alarm", ev.Alarm), slog.String("stream", ev.Labels.Stream), slog.String("partner", ev.Labels.Partner),
		slog.String("reason", ev.Labels.Reason), slog.String("cause", ev.Labels.Cause), slog.Float64("value", ev.Value),
	}
	if ev.Status == alert.Resolved {
		p.s.Log.LogAttrs(ctx, slog.LevelInfo, "Alarm is over", about...)
		return
	}
	p.s.Log.LogAttrs(ctx, slog.LevelWarn, "Alarm", about...)
}
