package dlqlog

import (
	"context"
	"log/slog"
	"time"

	"claimdlq"
)

// RxLogger is the name that the lines about pharmacy claims are logged under. A text
// handler renders them as
//
//	terminal | key=… | code=FB_70
//	poison_dlq | key=…
//	budget_exhausted_dlq | key=… | receives=5
//	requeue | key=… | delay_s=4
//	in_doubt | key=… | code=TIMEOUT
const RxLogger = "pbm.dlq"

// The messages of the lines about pharmacy claims.
const (
	MsgTerminal  = "terminal"
	MsgPoison    = "poison_dlq"
	MsgExhausted = "budget_exhausted_dlq"
	MsgRequeue   = "requeue"
)

// NamedRx returns the logger under which the lines about pharmacy claims go out; nil
// discards them.
func NamedRx(l *slog.Logger) *slog.Logger { return named(l, RxLogger) }

// RxTerminal says that the payer rejected the claim for good, at level INFO. It is
// resolved: no retry, no dead letter.
func RxTerminal(ctx context.Context, l *slog.Logger, r claimdlq.Record) {
	l.LogAttrs(ctx, slog.LevelInfo, MsgTerminal, key(r), slog.String("code", r.Detail.String()))
}

// RxPoison says that the claim was dead-lettered for its form, at level WARNING.
func RxPoison(ctx context.Context, l *slog.Logger, r claimdlq.Record) {
	l.LogAttrs(ctx, slog.LevelWarn, MsgPoison, key(r))
}

// RxExhausted says that the claim was dead-lettered because its budget is spent, at
// level WARNING.
func RxExhausted(ctx context.Context, l *slog.Logger, r claimdlq.Record) {
	l.LogAttrs(ctx, slog.LevelWarn, MsgExhausted, key(r), slog.Uint64("receives", uint64(r.ReceiveCount)))
}

// RxRequeue says that the claim waits for another delivery, at level INFO. The delay
// is in seconds, a whole number where it is one.
func RxRequeue(ctx context.Context, l *slog.Logger, r claimdlq.Record, delay time.Duration) {
	seconds := slog.Float64("delay_s", delay.Seconds())
	if delay%time.Second == 0 {
		seconds = slog.Int64("delay_s", int64(delay/time.Second))
	}
	l.LogAttrs(ctx, slog.LevelInfo, MsgRequeue, key(r), seconds)
}
