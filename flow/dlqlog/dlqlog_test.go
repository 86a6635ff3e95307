package dlqlog_test

import (
	"bytes"
	"log/slog"
	"regexp"
	"testing"

	"claimdlq"
	"claimdlq/flow/dlqlog"
	"claimdlq/internal/logging"
)

func TestLines_AreThoseOfTheField(t *testing.T) { // 43
	t.Parallel()
	var out bytes.Buffer
	l := dlqlog.Named(slog.New(logging.New(&out, logging.Options{})))
	r := claimdlq.Record{
		InterchangeID: "000000123", TransactionID: "0001", Reason: claimdlq.FatalSyntax, RuleVersion: "v2026.07",
		Detail: claimdlq.NewDetail("IK4:SV102"), ReplayCount: 1, State: claimdlq.StateParked,
	}
	dlqlog.Enqueued(t.Context(), l, r)
	dlqlog.Replayed(t.Context(), l, r)
	dlqlog.Suppressed(t.Context(), l, r)
	dlqlog.CapHit(t.Context(), l, r)
	dlqlog.Doubt(t.Context(), l, r)
	dlqlog.Alarm(t.Context(), l, dlqlog.AlarmExpired, r)
	want := `ERROR   | x12.dlq | DLQ enqueue | key=000000123:0001 | reason=FATAL_SYNTAX | rule=v2026.07 | detail=IK4:SV102
INFO    | x12.dlq | Replayed claim | key=000000123:0001 | attempt=1
WARNING | x12.dlq | Replay suppressed (already processed): key=000000123:0001
ERROR   | x12.dlq | Poison cap hit: key=000000123:0001 -> parking for escalation
WARNING | x12.dlq | in_doubt | key=000000123:0001 | code=IK4:SV102
WARNING | x12.dlq | Unresolved past its retention | key=000000123:0001 | state=parked | detail=IK4:SV102
`
	if got := regexp.MustCompile(`(?m)^[-0-9]+ [:0-9]+ \| `).ReplaceAllString(out.String(), ""); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestNamed_NoLoggerDiscards(t *testing.T) {
	t.Parallel()
	dlqlog.Enqueued(t.Context(), dlqlog.Named(nil), claimdlq.Record{})
}
