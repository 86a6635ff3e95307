package filestore_test

import (
	"encoding/binary"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/store"
	"claimdlq/store/filestore"
)

// The shapes in which the pharmacy stream uses a store, one benchmark each. They
// report claims, not commits, and the processor time that one costs.

// rxSpread is what an HMAC would make of n.
func rxSpread(n int) uint64 {
	x := uint64(n+1) * 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	return x ^ x>>27
}

var rxPartners = func() (list [200]string) {
	for i := range list {
		list[i] = "610" + strconv.Itoa(100+i) + ":TESTPCN" + strconv.Itoa(i%7)
	}
	return list
}()

func rxRecord(n int) claimdlq.Record {
	at := benchEpoch.Add(time.Duration(n) * time.Millisecond)
	r := claimdlq.Record{
		KeyTerm: 1, Batch: claimdlq.Ref(rxSpread(n)), Format: claimdlq.FormatNCPDP, Scope: claimdlq.ScopeTransaction, Ordinal: 1,
		TransactionID: "B1", Sender: "01:1234567893", Partner: rxPartners[n%len(rxPartners)], Stream: claimdlq.StreamNCPDP, Usage: "P",
		State: claimdlq.StateQueued, RuleVersion: "ncpdp-d0-2026.1+ncpdp-codes-2026.1",
		Payload: claimdlq.PayloadRef{Unit: "s7k3d9.1b4t2m8q0x6w5v7z9y1c3f5h", Offset: int64(n%1000) * 600, Length: 600}, PayloadRevision: 1,
		Claims: 1, AmountCents: 12_345, CreatedAt: at, UpdatedAt: at,
	}
	binary.LittleEndian.PutUint64(r.Key[:], rxSpread(n))
	binary.LittleEndian.PutUint64(r.Key[8:], uint64(n))
	binary.LittleEndian.PutUint64(r.Digest[:], rxSpread(n^1<<40))
	return r
}

func rxSubmission(r *claimdlq.Record, first, last claimdlq.ID, bulk bool) claimdlq.Submission {
	return claimdlq.Submission{
		State: claimdlq.SubmissionReady, Stream: r.Stream, Partner: r.Partner, Bulk: bulk, Digest: r.Digest, Bytes: 600,
		Members: []claimdlq.IDRange{{First: first, Last: last}}, CreatedAt: r.CreatedAt,
	}
}

func rxEntry(a claimdlq.Action, from, to *claimdlq.Record) claimdlq.Entry {
	e := claimdlq.Entry{
		At: to.UpdatedAt, Actor: "system:attempt", Action: a, Record: to.ID, Submission: to.Submission, PayloadRevision: 1, Detail: to.Detail, To: to.State,
	}
	if from != nil {
		e.From = from.State
	}
	return e
}

// rxAccept is the batch that takes n claims in, from the given one on.
func rxAccept(from, n int, bulk bool) (b store.Batch) {
	b.Insert = make([]claimdlq.Record, n)
	b.NewSubmissions = make([]claimdlq.Submission, n)
	b.Entries = make([]claimdlq.Entry, n)
	for i := range n {
		b.Insert[i] = rxRecord(from + i)
		at := store.ParentIndex(i)
		b.NewSubmissions[i] = rxSubmission(&b.Insert[i], at, at, bulk)
		b.Entries[i] = rxEntry(claimdlq.ActReceive, nil, &b.Insert[i])
		b.Entries[i].Record = at
	}
	return b
}

// rxLease is the batch that takes submissions for delivery, lease and intent in one.
func rxLease(b *testing.B, s *filestore.Store, subs []claimdlq.Submission) (c store.Batch, rs []claimdlq.Record) {
	now := benchEpoch.Add(time.Hour)
	for _, sub := range subs {
		r, err := s.Get(b.Context(), sub.Members[0].First)
		if err != nil {
			b.Error(err)
			return
		}
		next, err := r.Lease(sub.ID, now)
		if err != nil {
			b.Error(err)
			return
		}
		sub.State, sub.Receives, sub.LeaseUntil = claimdlq.SubmissionSending, sub.Receives+1, now.Add(time.Minute)
		c.Update = append(c.Update, next)
		c.Submissions = append(c.Submissions, sub)
		c.Entries = append(c.Entries, rxEntry(claimdlq.ActLease, &r, &next), rxEntry(claimdlq.ActIntent, &next, &next))
	}
	return c, c.Update
}

// rxOutcome is the batch that settles what rxLease took.
func rxOutcome(b *testing.B, leased store.Batch) (c store.Batch) {
	now := benchEpoch.Add(time.Hour + time.Second)
	for i, r := range leased.Update {
		r.Revision++
		next, err := r.Settle(claimdlq.Paid, claimdlq.NewDetail("NCPDP:P"), now)
		if err != nil {
			b.Error(err)
			return
		}
		next.Response = claimdlq.PayloadRef{Unit: "r7k3d9.1b4t2m8q0x6w5v7z9y1c3f5h", Offset: int64(i) * 300, Length: 300}
		sub := leased.Submissions[i]
		sub.Revision++
		sub.State, sub.SentAt, sub.Last = claimdlq.SubmissionAnswered, now, next.Detail
		c.Update = append(c.Update, next)
		c.Submissions = append(c.Submissions, sub)
		c.Entries = append(c.Entries, rxEntry(claimdlq.ActOutcome, &r, &next))
	}
	return c
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// claims times f, which does all b.N claims, and reports their rate and cost.
func claims(b *testing.B, n int, f func()) {
	b.ReportAllocs()
	b.ResetTimer()
	before := cpuTime()
	f()
	b.StopTimer()
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "claims/s")
	b.ReportMetric(float64((cpuTime()-before).Nanoseconds())/float64(n), "cpu-ns/claim")
}

// share runs f for 0 to n-1 from as many goroutines.
func share(goroutines, n int, f func(i int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	wg.Wait()
}

func must(b *testing.B, _ store.Receipt, err error) {
	if err != nil {
		b.Error(err)
	}
}

// fillRx takes n claims in.
func fillRx(b *testing.B, s *filestore.Store, n int) {
	for i := 0; i < n; i += 1000 {
		r, err := s.Commit(b.Context(), rxAccept(i, min(1000, n-i), false))
		must(b, r, err)
	}
}

// BenchmarkRxAccept takes claims in one by one, from 64 callers: a look-up that
// finds nothing, and a commit.
func BenchmarkRxAccept(b *testing.B) {
	s := openStore(b, b.TempDir(), filestore.Options{})
	defer s.Close()
	claims(b, b.N, func() {
		share(64, b.N, func(i int) {
			c := rxAccept(i, 1, false)
			if _, err := s.Lookup(b.Context(), c.Insert[0].Batch, 8); err != nil {
				b.Error(err)
			}
			r, err := s.Commit(b.Context(), c)
			must(b, r, err)
		})
	})
}

// BenchmarkRxAcceptBatch takes claims in by the hundreds.
func BenchmarkRxAcceptBatch(b *testing.B) {
	for _, n := range []int{256, 1000} {
		for _, callers := range []int{1, 4} {
			b.Run(strconv.Itoa(n)+"/"+strconv.Itoa(callers), func(b *testing.B) {
				s := openStore(b, b.TempDir(), filestore.Options{})
				defer s.Close()
				batches := (b.N + n - 1) / n
				claims(b, batches*n, func() {
					share(callers, batches, func(i int) {
						c := rxAccept(i*n, n, true)
						for j := range c.Insert {
							if _, err := s.Lookup(b.Context(), c.Insert[j].Batch, 8); err != nil {
								b.Error(err)
							}
						}
						r, err := s.Commit(b.Context(), c)
						must(b, r, err)
					})
				})
			})
		}
	}
}

// BenchmarkRxLease finds what is due, reads its records and leases it, n at a time.
func BenchmarkRxLease(b *testing.B) {
	for _, n := range []int{1, 16, 64} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			s := openStore(b, b.TempDir(), filestore.Options{})
			defer s.Close()
			fillRx(b, s, b.N)
			claims(b, b.N, func() {
				for after := claimdlq.SubmissionID(0); ; {
					due, err := s.Due(b.Context(), store.DueQuery{State: claimdlq.SubmissionReady, Now: benchEpoch, After: after, Limit: n})
					if err != nil || len(due) == 0 {
						return
					}
					c, _ := rxLease(b, s, due)
					r, err := s.Commit(b.Context(), c)
					must(b, r, err)
					after = due[len(due)-1].ID
				}
			})
		})
	}
}

// BenchmarkRxOutcome settles what was leased, n at a time.
func BenchmarkRxOutcome(b *testing.B) {
	for _, n := range []int{1, 16, 64} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			s := openStore(b, b.TempDir(), filestore.Options{})
			defer s.Close()
			fillRx(b, s, b.N)
			var leased []store.Batch
			for after := claimdlq.SubmissionID(0); ; {
				due, err := s.Due(b.Context(), store.DueQuery{State: claimdlq.SubmissionReady, Now: benchEpoch, After: after, Limit: n})
				if err != nil || len(due) == 0 {
					break
				}
				c, _ := rxLease(b, s, due)
				r, err := s.Commit(b.Context(), c)
				must(b, r, err)
				leased, after = append(leased, c), due[len(due)-1].ID
			}
			claims(b, b.N, func() {
				for _, c := range leased {
					r, err := s.Commit(b.Context(), rxOutcome(b, c))
					must(b, r, err)
				}
			})
		})
	}
}

// BenchmarkRxPath takes claims in, leases and settles them, all at once, as a
// running process does: 64 callers, one engine, outcomes 64 together.
func BenchmarkRxPath(b *testing.B) {
	for _, keep := range []int{0, 20_000} { // as many settled ones in memory, or the default
		b.Run(strconv.Itoa(keep), func(b *testing.B) {
			s := openStore(b, b.TempDir(), filestore.Options{KeepSettled: keep})
			defer s.Close()
			claims(b, b.N, func() { rxPath(b, s, b.N) })
		})
	}
}

func rxPath(b *testing.B, s *filestore.Store, n int) {
	wake := make(chan struct{}, 1)
	settled := make(chan store.Batch, 16)
	var wg sync.WaitGroup
	wg.Go(func() {
		share(256, n, func(i int) {
			c := rxAccept(i, 1, false)
			if _, err := s.Lookup(b.Context(), c.Insert[0].Batch, 8); err != nil {
				b.Error(err)
			}
			r, err := s.Commit(b.Context(), c)
			must(b, r, err)
			select {
			case wake <- struct{}{}:
			default:
			}
		})
	})
	wg.Go(func() { // the engine
		defer close(settled)
		for done := 0; done < n && !b.Failed(); {
			due, err := s.Due(b.Context(), store.DueQuery{State: claimdlq.SubmissionReady, Now: benchEpoch, Limit: 64})
			if err != nil {
				b.Error(err)
				return
			}
			if len(due) == 0 {
				<-wake
				continue
			}
			c, _ := rxLease(b, s, due)
			r, err := s.Commit(b.Context(), c)
			must(b, r, err)
			settled <- c
			done += len(due)
		}
	})
	wg.Go(func() {
		for c := range settled {
			r, err := s.Commit(b.Context(), rxOutcome(b, c))
			must(b, r, err)
		}
	})
	wg.Wait()
}
