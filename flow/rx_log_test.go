package flow_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/flow/dlqlog"
	"claimdlq/flow/lineage"
	"claimdlq/flow/replay"
	"claimdlq/internal/testclaims"
	"claimdlq/store"
)

// lines returns what was logged with the message.
func (b *bench) lines(msg string) (out []string) {
	b.t.Helper()
	for line := range strings.Lines(b.log.String()) {
		if strings.Contains(line, "msg="+msg) || strings.Contains(line, fmt.Sprintf("msg=%q", msg)) {
			out = append(out, line)
		}
	}
	return out
}

// said checks that so many lines have the message, and that all are of the logger.
func (b *bench) said(n int, msg, logger string) {
	b.t.Helper()
	got := b.lines(msg)
	if len(got) != n {
		b.t.Fatalf("%q was said %d times, want %d\n%s", msg, len(got), n, b.log)
	}
	for _, line := range got {
		if !strings.Contains(line, " logger="+logger+" ") || !strings.Contains(line, " key=") {
			b.t.Errorf("%s: not of logger %s", line, logger)
		}
	}
}

func TestRxLog_ReplaysOfPharmacyClaimsAreUnderTheirOwnLogger(t *testing.T) { // 25
	t.Parallel()
	for stream, logger := range map[string]string{claimdlq.StreamNCPDP: dlqlog.RxLogger, claimdlq.StreamX12: dlqlog.Logger} {
		t.Run(stream, func(t *testing.T) {
			t.Parallel()
			b := rxSetup(t, "")
			b.policy(func(p *claimdlq.Policy) { p.ReplayCap = 1 })
			c := b.deps.Replays(lineage.NewGuard())
			c.Log, c.RxLog = dlqlog.Named(b.deps.Log), dlqlog.NamedRx(b.deps.Log)
			b.f.Replay = replay.New(c)
			file := rxOne(t, "B1", 1)
			if stream == claimdlq.StreamX12 {
				file = generate(t, testclaims.Options{Claims: 1})
			}
			b.deadLetter(file, givenUp)
			for _, want := range []claimdlq.ReplayResult{claimdlq.Replayed, claimdlq.DuplicateSuppressed} {
				if got := b.replay(1, replay.Options{}); got != want {
					t.Fatalf("got %s", got)
				}
			}
			b.step(1, func(r claimdlq.Record) (claimdlq.Record, error) {
				return r.Quarantine(claimdlq.Fault{Reason: claimdlq.RetriesExhausted, Class: claimdlq.Transient, Detail: testCode}, b.clock.now())
			})
			if got := b.replay(1, replay.Options{}); got != claimdlq.ParkedAtCap {
				t.Fatalf("got %s", got)
			}
			for _, msg := range []string{dlqlog.MsgReplayed, dlqlog.MsgSuppressed, dlqlog.MsgCapHit} {
				b.said(1, msg, logger)
			}
		})
	}
}

func TestLog_EveryClaimThatGoesInDoubtIsSaid(t *testing.T) { // 25, promise 8
	t.Parallel()
	t.Run("pharmacy dead letters", func(t *testing.T) {
		t.Parallel()
		b := rxSetup(t, "")
		b.deadLetter(rxFile(t, batchOf(3)), timedOut)
		b.said(3, dlqlog.MsgDoubt, dlqlog.RxLogger)
	})
	t.Run("837 dead letters", func(t *testing.T) {
		t.Parallel()
		b := rxSetup(t, "")
		b.deadLetter(generate(t, testclaims.Options{Claims: 3, ClaimsPerSet: 1}), timedOut)
		b.said(3, dlqlog.MsgDoubt, dlqlog.Logger)
	})
	t.Run("an answer that is overdue", func(t *testing.T) {
		t.Parallel()
		l := lateSetup(t, "")
		l.captured(l.take(transmission(t, testclaims.RxOptions{}, 1))[0].ID)
		l.clock.pass(49 * time.Hour)
		_, err := l.f.Settle.Overdue(t.Context())
		l.must(err)
		l.said(1, dlqlog.MsgDoubt, dlqlog.RxLogger)
		l.said(1, dlqlog.AlarmOverdue, dlqlog.RxLogger)
		if line := l.lines(dlqlog.MsgDoubt)[0]; !strings.Contains(line, "code=ACK_OVERDUE") {
			t.Error(line)
		}
	})
	t.Run("an acknowledgment that is overdue", func(t *testing.T) {
		t.Parallel()
		b := setup(t, "")
		b.ingest(generate(t, testclaims.Options{Claims: 1}))
		b.drain()
		b.clock.pass(49 * time.Hour)
		if n, err := b.f.Settle.Overdue(t.Context()); n != 1 || err != nil || len(b.list(store.Filter{State: claimdlq.StateInDoubt})) != 1 {
			t.Fatal(n, err)
		}
		b.said(1, dlqlog.MsgDoubt, dlqlog.Logger)
	})
}

func TestRxLog_AnAnswerThatAnswersNothingIsUnderThePharmacyLogger(t *testing.T) {
	t.Parallel()
	l := lateSetup(t, "")
	l.ack(answerTo(t, transmission(t, testclaims.RxOptions{}, 1)))
	l.said(1, dlqlog.AlarmOrphan, dlqlog.RxLogger)
}
