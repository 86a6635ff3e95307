package flow_test

import (
	"context"
	"encoding/binary"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/flow/envelope"
	"claimdlq/flow/lineage"
	"claimdlq/flow/replay"
	"claimdlq/internal/testclaims"
	"claimdlq/store"
	"claimdlq/store/filestore"
	"claimdlq/store/memstore"
	"claimdlq/vault/memvault"
	"claimdlq/wire/x12"
)

// seedExhausted puts n pharmacy claims whose budget is spent, and the submissions
// that carried them, into an empty store.
func seedExhausted(tb testing.TB, st store.Store, n int, now time.Time) {
	tb.Helper()
	const chunk = 1000
	for at := 0; at < n; {
		b := store.Batch{}
		for ; len(b.Insert) < chunk && at < n; at++ {
			r := claimdlq.Record{
				KeyTerm: 1, Batch: claimdlq.Ref(at+1) * 0x9e3779b97f4a7c15, Format: claimdlq.FormatNCPDP, Ordinal: 1, TransactionID: "B1",
				Stream: claimdlq.StreamNCPDP, Sender: "01:1999999992", Partner: "999999:TESTPCN" + strconv.Itoa(at%7), Claims: 1, AmountCents: 1234,
				RuleVersion: envelope.RxRules, State: claimdlq.StateQuarantined, Reason: claimdlq.RetriesExhausted, Class: claimdlq.Transient,
				Detail: claimdlq.NewDetail("FB_92"), Payload: claimdlq.PayloadRef{Unit: "u" + strconv.Itoa(at/chunk), Offset: int64(at%chunk) * 500, Length: 500},
				PayloadRevision: 1, AttemptCount: 5, ReceiveCount: 5, CreatedAt: now, FirstFailedAt: now, UpdatedAt: now,
				Submission: claimdlq.SubmissionID(at + 1),
			}
			binary.LittleEndian.PutUint64(r.Key[:], uint64(at+1)*0x9e3779b97f4a7c15)
			r.Digest = claimdlq.Digest(r.Key)
			i := len(b.Insert)
			b.Insert = append(b.Insert, r)
			b.NewSubmissions = append(b.NewSubmissions, claimdlq.Submission{
				State: claimdlq.SubmissionDead, Stream: claimdlq.StreamNCPDP, Partner: r.Partner, Digest: r.Digest, Bytes: 500, Receives: 5, CreatedAt: now,
				Members: []claimdlq.IDRange{{First: store.ParentIndex(i), Last: store.ParentIndex(i)}},
			})
			b.Entries = append(b.Entries, claimdlq.Entry{At: now, Actor: "system:attempt", Action: claimdlq.ActEnqueue, Record: store.ParentIndex(i), To: claimdlq.StateQuarantined})
		}
		if _, err := st.Commit(context.Background(), b); err != nil {
			tb.Fatal(err)
		}
	}
}

// BenchmarkRxReplaySelect drains a dead-letter queue of pharmacy claims: select, guard,
// audit, requeue. CLAIMDLQ_BENCH_RECORDS says how many; default 200,000.
func BenchmarkRxReplaySelect(b *testing.B) {
	n := 200_000
	if s, err := strconv.Atoi(os.Getenv("CLAIMDLQ_BENCH_RECORDS")); err == nil {
		n = s
	}
	for name, open := range map[string]func(*testing.B) store.Store{
		"memstore": func(*testing.B) store.Store { return memstore.New() },
		"filestore": func(b *testing.B) store.Store {
			b.Helper()
			st, err := filestore.Open(b.TempDir(), filestore.Options{})
			if err != nil {
				b.Fatal(err)
			}
			return st
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			total, cpu := 0, time.Duration(0)
			for b.Loop() {
				b.StopTimer()
				st := open(b)
				seedExhausted(b, st, n, time.Now().UTC())
				rp := replay.New(replay.Config{
					Store: st, Vault: memvault.New(), Identities: []*claimdlq.Identity{identity(1)}, Rules: x12.LatestRules(),
					Guard: lineage.NewGuard(), Now: time.Now,
				})
				used := cpuTime(b)
				b.StartTimer()
				got, err := rp.Select(b.Context(), ana, store.Filter{Stream: claimdlq.StreamNCPDP, State: claimdlq.StateQuarantined}, replay.Options{})
				b.StopTimer()
				cpu += cpuTime(b) - used
				if err != nil || got.Requeued != n {
					b.Fatalf("%+v %v", got, err)
				}
				total += n
				_ = st.Close()
				b.StartTimer()
			}
			b.ReportMetric(float64(total)/b.Elapsed().Seconds(), "records/s")
			b.ReportMetric(float64(cpu.Nanoseconds())/float64(total), "cpu-ns/record")
		})
	}
}

// cpuTime is what the process has used: on a machine that is shared it says more than
// the clock.
func cpuTime(tb testing.TB) time.Duration {
	tb.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkRxReplaySelectOpened drains pharmacy claims whose payloads must be opened,
// because they were taken in before the key was rotated: opened, judged, keyed and
// digested, with an audit entry before each opening.
func BenchmarkRxReplaySelectOpened(b *testing.B) {
	const n = 20_000
	total, cpu := 0, time.Duration(0)
	for b.Loop() {
		b.StopTimer()
		st, v := onDisk(b)
		c := counterOn(b, st, v, nil)
		ids := c.queue(n, testclaims.RxOptions{})
		for at := 0; at < n; at += 1000 {
			var out store.Batch
			for _, id := range ids[at : at+1000] {
				r := c.get(id)
				q, err := r.Quarantine(claimdlq.Fault{Reason: claimdlq.RetriesExhausted, Class: claimdlq.Transient, Detail: claimdlq.NewDetail("FB_92")}, time.Now().UTC())
				c.must(err)
				out.Update = append(out.Update, q)
			}
			_, err := st.Commit(b.Context(), out)
			c.must(err)
		}
		rp := replay.New(replay.Config{
			Store: st, Vault: v, Identities: []*claimdlq.Identity{identity(2), identity(1)}, Rules: x12.LatestRules(), Guard: lineage.NewGuard(), Now: time.Now,
		})
		used := cpuTime(b)
		b.StartTimer()
		got, err := rp.Select(b.Context(), ana, store.Filter{Stream: claimdlq.StreamNCPDP, State: claimdlq.StateQuarantined}, replay.Options{})
		b.StopTimer()
		cpu += cpuTime(b) - used
		if err != nil || got.Requeued != n {
			b.Fatalf("%+v %v", got, err)
		}
		total += n
		b.StartTimer()
	}
	b.ReportMetric(float64(total)/b.Elapsed().Seconds(), "records/s")
	b.ReportMetric(float64(cpu.Nanoseconds())/float64(total), "cpu-ns/record")
}
