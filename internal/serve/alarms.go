package serve

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"claimdlq/alert"
	"claimdlq/alert/webhook"
)

// alarms starts the evaluator, and the webhook where there is one.
func (p *process) alarms(start func(func(context.Context) error)) error {
	e, err := alert.New(p.s.Rules)
	if err != nil {
		return err
	}
	send := func([]alert.Event) {}
	if p.s.Webhook != nil {
		w, err := webhook.New(*p.s.Webhook)
		if err != nil {
			return err
		}
		send = w.Send
		start(func(ctx context.Context) error { w.Run(ctx); return nil })
	}
	start(func(ctx context.Context) error {
		for range ticks(ctx, cmp.Or(p.s.Every, 15*time.Second)) {
			events := e.Observe(p.a.Sample(ctx))
			for _, ev := range events {
				p.say(ctx, ev)
			}
			send(events)
		}
		return nil
	})
	return nil
}

// say logs an alarm that began or ended.
func (p *process) say(ctx context.Context, ev alert.Event) {
	level, what := slog.LevelWarn, "Alarm "+ev.Alarm
	if ev.Status == alert.Resolved {
		level, what = slog.LevelInfo, "Alarm over "+ev.Alarm
	}
	p.s.Log.LogAttrs(ctx, level, what, slog.String("state", string(ev.Status)), slog.String("reason", ev.Labels.Reason),
		slog.String("stream", ev.Labels.Stream), slog.String("partner", ev.Labels.Partner), slog.Float64("value", ev.Value))
}
