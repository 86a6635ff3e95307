package serve

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"time"

	"claimdlq/alert"
	"claimdlq/alert/webhook"
)

// remind is how often the webhook is told what still rings: a receiver that was away
// for longer than events are kept learns it all the same.
const remind = time.Hour

// alarms starts the evaluator, and the webhook where there is one.
func (p *process) alarms(start func(func(context.Context) error)) error {
	e, send := p.evaluator, func([]alert.Event) {}
	if p.s.Webhook != nil {
		w, err := webhook.New(*p.s.Webhook)
		if err != nil {
			return err
		}
		send = func(events []alert.Event) {
			w.Send(slices.DeleteFunc(slices.Clone(events), func(ev alert.Event) bool { return p.silences != nil && p.silences.Silenced(ev) }))
		}
		start(func(ctx context.Context) error { w.Run(ctx); return nil })
	}
	start(func(ctx context.Context) error {
		told := p.s.Now()
		for range ticks(ctx, cmp.Or(p.s.Every, 15*time.Second)) {
			events := e.Observe(p.a.Sample(ctx))
			for _, ev := range events {
				p.say(ctx, ev)
			}
			send(events)
			if now := p.s.Now(); now.Sub(told).Abs() >= remind {
				told = now
				send(e.Active())
			}
		}
		return nil
	})
	return nil
}

// say logs an alarm that began or ended.
func (p *process) say(ctx context.Context, ev alert.Event) {
	about := []slog.Attr{
		slog.String("alarm", ev.Alarm), slog.String("stream", ev.Labels.Stream), slog.String("partner", ev.Labels.Partner),
		slog.String("reason", ev.Labels.Reason), slog.Float64("value", ev.Value),
	}
	if ev.Status == alert.Resolved {
		p.s.Log.LogAttrs(ctx, slog.LevelInfo, "Alarm is over", about...)
		return
	}
	p.s.Log.LogAttrs(ctx, slog.LevelWarn, "Alarm", about...)
}
