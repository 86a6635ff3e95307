// Package dlqlog emits the log lines of the dead-letter queue that people and
// alarms know by heart. Their messages and attributes are fixed; a text handler
// renders them as
//
//	DLQ enqueue | key=… | reason=… | rule=… | detail=…
//	Replayed claim | key=… | attempt=1
//	Replay suppressed (already processed): key=…
//	Poison cap hit: key=… -> parking for escalation
//	in_doubt | key=… | code=…
//
// No line holds PHI: keys are control numbers, the rest are codes and counts.
package dlqlog

import (
	"context"
	"log/slog"

	"claimdlq"
)

// Logger is the name that the lines are logged under, in the attribute LoggerKey.
const (
	Logger    = "x12.dlq"
	LoggerKey = "logger"
)

// The messages of the lines.
const (
	MsgEnqueue    = "DLQ enqueue"
	MsgReplayed   = "Replayed claim"
	MsgSuppressed = "Replay suppressed (already processed)"
	MsgCapHit     = "Poison cap hit"
	MsgDoubt      = "in_doubt"
)

// Named returns the logger under which the lines go out; nil discards them.
func Named(l *slog.Logger) *slog.Logger { return named(l, Logger) }

func named(l *slog.Logger, name string) *slog.Logger {
	if l == nil {
		l = slog.New(slog.DiscardHandler)
	}
	return l.With(slog.String(LoggerKey, name))
}

// Enqueued says that the record was dead-lettered, at level ERROR.
func Enqueued(ctx context.Context, l *slog.Logger, r claimdlq.Record) {
	l.LogAttrs(ctx, slog.LevelError, MsgEnqueue, key(r), slog.String("reason", r.Reason.String()),
		slog.String("rule", r.RuleVersion), slog.String("detail", r.Detail.String()))
}

// Replayed says that the record was released for delivery, at level INFO. The
// attempt is its replay_count: the first replay is 1.
func Replayed(ctx context.Context, l *slog.Logger, r claimdlq.Record) {
	l.LogAttrs(ctx, slog.LevelInfo, MsgReplayed, key(r), slog.Uint64("attempt", uint64(r.ReplayCount)))
}

// Suppressed says that a replay was refused because the record is settled or
// under way, at level WARNING.
func Suppressed(ctx context.Context, l *slog.Logger, r claimdlq.Record) {
	l.LogAttrs(ctx, slog.LevelWarn, MsgSuppressed, key(r))
}

// CapHit says that the record has had all its replays and is parked, at level ERROR.
func CapHit(ctx context.Context, l *slog.Logger, r claimdlq.Record) {
	l.LogAttrs(ctx, slog.LevelError, MsgCapHit, key(r))
}

// Doubt says that the claim went in doubt: it was sent, or may have been, and nobody
// knows what became of it. Level WARNING; both streams.
func Doubt(ctx context.Context, l *slog.Logger, r claimdlq.Record) {
	l.LogAttrs(ctx, slog.LevelWarn, MsgDoubt, key(r), slog.String("code", r.Detail.String()))
}

// Alarm says, at level WARNING, that something needs a look. The message is one
// of the Alarm constants.
func Alarm(ctx context.Context, l *slog.Logger, msg string, r claimdlq.Record) {
	l.LogAttrs(ctx, slog.LevelWarn, msg, key(r), slog.String("state", r.State.String()),
		slog.String("detail", r.Detail.String()))
}

// The alarms.
const (
	AlarmOrphan    = "Acknowledgment answers nothing that was sent"
	AlarmOverdue   = "Acknowledgment is overdue"
	AlarmExpired   = "Unresolved past its retention"
	AlarmNotParked = "Past its retention and not parked: its filing window is about to end"
	AlarmConflict  = "Same control numbers, other content"
	AlarmEarlier   = "An earlier sending of the claim is in doubt"
	AlarmDoubt     = "Budget spent, fate unknown"
	AlarmPayload   = "Payload cannot be opened"
)

func key(r claimdlq.Record) slog.Attr { return slog.String("key", r.DisplayKey()) }
