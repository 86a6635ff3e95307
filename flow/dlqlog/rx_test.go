package dlqlog_test

import (
	"bytes"
	"context"
	"log/slog"
	"regexp"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/flow/dlqlog"
	"claimdlq/internal/logging"
)

func TestRxLines_AreThoseOfTheField(t *testing.T) { // 9, 24, 25
	t.Parallel()
	r := claimdlq.Record{
		Format: claimdlq.FormatNCPDP, Stream: claimdlq.StreamNCPDP, Key: claimdlq.Key{0xab, 1}, ReceiveCount: 5,
		Detail: claimdlq.NewDetail("FB_70"),
	}
	lines := func(l *slog.Logger) {
		dlqlog.RxTerminal(context.Background(), l, r)
		dlqlog.RxPoison(context.Background(), l, r)
		dlqlog.RxExhausted(context.Background(), l, r)
		dlqlog.RxRequeue(context.Background(), l, r, 4*time.Second)
		dlqlog.RxRequeue(context.Background(), l, r, 1500*time.Millisecond)
		dlqlog.Doubt(context.Background(), l, r)
	}
	var out bytes.Buffer
	lines(dlqlog.NamedRx(slog.New(logging.New(&out, logging.Options{}))))
	want := `INFO    | pbm.dlq | terminal | key=ab0100000000000000000000 | code=FB_70
WARNING | pbm.dlq | poison_dlq | key=ab0100000000000000000000
WARNING | pbm.dlq | budget_exhausted_dlq | key=ab0100000000000000000000 | receives=5
INFO    | pbm.dlq | requeue | key=ab0100000000000000000000 | delay_s=4
INFO    | pbm.dlq | requeue | key=ab0100000000000000000000 | delay_s=1.5
WARNING | pbm.dlq | in_doubt | key=ab0100000000000000000000 | code=FB_70
`
	if got := regexp.MustCompile(`(?m)^[-0-9]+ [:0-9]+ \| `).ReplaceAllString(out.String(), ""); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	lines(dlqlog.NamedRx(nil)) // nobody listens
}
