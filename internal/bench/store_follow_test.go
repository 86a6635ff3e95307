package bench_test

import (
	"crypto/rand"
	"encoding/binary"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"claimdlq"
	"claimdlq/audit"
	"claimdlq/store"
	"claimdlq/store/filestore"
)

// fillAudit takes n claims in, so that the store has an audit entry of each.
func fillAudit(b *testing.B, s store.Store, n int) {
	b.Helper()
	at := time.Date(2026, 7, 17, 12, 0, 0, 0, time.UTC)
	for i := 0; i < n; {
		var batch store.Batch
		for ; i < n && len(batch.Insert) < 1000; i++ {
			r := claimdlq.Record{
				KeyTerm: 1, Format: claimdlq.FormatNCPDP, Scope: claimdlq.ScopeTransaction, Stream: claimdlq.StreamNCPDP, Partner: "610000:TESTPCN",
				State: claimdlq.StateQueued, Claims: 1, CreatedAt: at, UpdatedAt: at,
			}
			binary.LittleEndian.PutUint64(r.Key[:], uint64(i)*0x9e3779b97f4a7c15)
			binary.LittleEndian.PutUint64(r.Key[8:], uint64(i))
			batch.Entries = append(batch.Entries, claimdlq.Entry{
				At: at, Actor: "system:intake", Action: claimdlq.ActReceive, Record: store.ParentIndex(len(batch.Insert)), PayloadRevision: 1, To: r.State,
			})
			batch.Insert = append(batch.Insert, r)
		}
		if _, err := s.Commit(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
	}
}

func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkAuditFollower is what an audit entry costs beside the store that has it:
// reading it from the journal, and that with writing it to the audit log.
func BenchmarkAuditFollower(b *testing.B) {
	for _, read := range []bool{true, false} {
		name := "read and append"
		if read {
			name = "read"
		}
		b.Run(name, func(b *testing.B) {
			dir := b.TempDir()
			s, err := filestore.Open(filepath.Join(dir, "journal"), filestore.Options{Manual: true})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			fillAudit(b, s, b.N)
			secret, _, err := note.GenerateKey(rand.Reader, "test-audit")
			if err != nil {
				b.Fatal(err)
			}
			signer, err := note.NewSigner(secret)
			if err != nil {
				b.Fatal(err)
			}
			l, err := audit.Open(filepath.Join(dir, "audit"), signer)
			if err != nil {
				b.Fatal(err)
			}
			defer l.Close()
			b.ReportAllocs()
			b.ResetTimer()
			before, n := processor(), 0
			if read {
				err = s.Entries(b.Context(), 1, func(claimdlq.Entry) bool { n++; return true })
			} else {
				n, err = audit.Drain(b.Context(), s, l)
			}
			if err != nil || n != b.N {
				b.Fatal(n, err)
			}
			b.StopTimer()
			b.ReportMetric(float64((processor()-before).Nanoseconds())/float64(b.N), "cpu-ns/entry")
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "entries/s")
		})
	}
}
