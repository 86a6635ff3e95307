package filestore_test

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/store"
	"claimdlq/store/filestore"
)

// BenchmarkRxReplay releases dead-lettered claims by the thousand: a page of the
// list, and one commit of their steps, new submissions and audit entries.
func BenchmarkRxReplay(b *testing.B) {
	for _, callers := range []int{1, 2} {
		b.Run(strconv.Itoa(callers), func(b *testing.B) {
			s := openStore(b, b.TempDir(), filestore.Options{})
			defer s.Close()
			fillDead(b, s, b.N)
			claims(b, b.N, func() {
				share(callers, callers, func(i int) { rxReplay(b, s, i*b.N/callers, (i+1)*b.N/callers) })
			})
		})
	}
}

// BenchmarkRxUrgent takes claims in one by one, from 8 callers, while two others take
// thousands in at a time: what a claim at the counter waits.
func BenchmarkRxUrgent(b *testing.B) {
	s := openStore(b, b.TempDir(), filestore.Options{})
	defer s.Close()
	var stop atomic.Bool
	var bulk sync.WaitGroup
	for w := range 2 {
		bulk.Go(func() {
			for i := 0; !stop.Load(); i++ {
				r, err := s.Commit(b.Context(), rxAccept((w+1)<<28+i*1000, 1000, true))
				must(b, r, err)
			}
		})
	}
	waits := make([]time.Duration, b.N)
	share(8, b.N, func(i int) {
		t := time.Now()
		r, err := s.Commit(b.Context(), rxAccept(i, 1, false))
		must(b, r, err)
		waits[i] = time.Since(t)
	})
	b.StopTimer()
	stop.Store(true)
	bulk.Wait()
	report(b, waits)
}

// fillDead stores n quarantined claims.
func fillDead(b *testing.B, s *filestore.Store, n int) {
	for i := 0; i < n; i += 1000 {
		c := rxAccept(i, min(1000, n-i), false)
		c.NewSubmissions = nil
		for j := range c.Insert {
			r := &c.Insert[j]
			r.State, r.Reason, r.Class, r.Detail = claimdlq.StateQuarantined, claimdlq.RetriesExhausted, claimdlq.Transient, claimdlq.NewDetail("NCPDP:R:92")
			r.FirstFailedAt, r.AttemptCount, r.ReceiveCount = r.CreatedAt, 4, 4
		}
		r, err := s.Commit(b.Context(), c)
		must(b, r, err)
	}
}

// rxReplay releases the records with ids above from, up to and including to.
func rxReplay(b *testing.B, s *filestore.Store, from, to int) {
	f := store.Filter{State: claimdlq.StateQuarantined, Stream: claimdlq.StreamNCPDP, Reason: claimdlq.RetriesExhausted}
	now := benchEpoch.Add(time.Hour)
	for before := claimdlq.ID(to) + 1; before > claimdlq.ID(from)+1; {
		page, err := s.List(context.Background(), f, before, min(1000, int(before)-1-from))
		if err != nil || len(page) == 0 {
			b.Error(len(page), err)
			return
		}
		before = page[len(page)-1].ID
		var c store.Batch
		c.Update = make([]claimdlq.Record, len(page))
		c.NewSubmissions = make([]claimdlq.Submission, len(page))
		c.Entries = make([]claimdlq.Entry, len(page))
		for i := range page {
			next, err := page[i].Replay(page[i].RuleVersion, now)
			if err != nil {
				b.Error(err)
				return
			}
			c.Update[i] = next
			c.NewSubmissions[i] = rxSubmission(&next, next.ID, next.ID, true)
			c.NewSubmissions[i].Replay = true
			c.Entries[i] = rxEntry(claimdlq.ActReplay, &page[i], &next)
		}
		r, err := s.Commit(context.Background(), c)
		must(b, r, err)
	}
}

// BenchmarkRxLookup looks claims up by lineage, where all are in memory and where
// most have left it.
func BenchmarkRxLookup(b *testing.B) {
	rows := benchRows(200_000)
	for _, where := range []string{"memory", "runs"} {
		s := openStore(b, b.TempDir(), filestore.Options{Manual: true, KeepSettled: 1000})
		fillRx(b, s, rows)
		if where == "runs" {
			withdrawAll(b, s, rows)
		}
		for name, at := range map[string]func(int) int{
			"nothing": func(i int) int { return rows + i },
			"one":     func(i int) int { return int(rxSpread(i) % uint64(rows)) },
		} {
			b.Run(where+"/"+name, func(b *testing.B) {
				found := 0
				claims(b, b.N, func() {
					for i := range b.N {
						rs, err := s.Lookup(b.Context(), claimdlq.Ref(rxSpread(at(i))), 8)
						if err != nil {
							b.Fatal(err)
						}
						found += len(rs)
					}
				})
				b.ReportMetric(float64(found)/float64(b.N), "found")
			})
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// withdrawAll makes every record final, and lets nearly all go from memory.
func withdrawAll(b *testing.B, s *filestore.Store, rows int) {
	for id := 1; id <= rows; {
		var c store.Batch
		for ; id <= rows && len(c.Update) < 1000; id++ {
			r, err := s.Get(b.Context(), claimdlq.ID(id))
			if err != nil {
				b.Fatal(err)
			}
			next, err := r.Withdraw(r.CreatedAt)
			if err != nil {
				b.Fatal(err)
			}
			c.Update = append(c.Update, next)
		}
		r, err := s.Commit(b.Context(), c)
		must(b, r, err)
	}
	if err := s.Compact(b.Context()); err != nil {
		b.Fatal(err)
	}
}
