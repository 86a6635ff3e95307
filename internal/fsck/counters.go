package fsck

import (
	"context"
	"fmt"
	"time"

	"claimdlq"
	"claimdlq/store"
)

func newStats() store.Stats {
	return store.Stats{
		ByState: map[claimdlq.State]int64{}, Records: map[claimdlq.State]int64{}, Quarantined: map[claimdlq.Reason]int64{},
	}
}

// count adds the record to the counters, as the contract of store.Stats has them.
func (f *run) count(r claimdlq.Record) {
	c := &f.counted
	f.r.Records++
	f.r.Claims += int64(r.Claims)
	c.ByState[r.State] += int64(r.Claims)
	if r.Parent == 0 {
		c.Received += int64(r.Claims) + int64(r.Parted)
	}
	if r.State == claimdlq.StateSettled && r.Disposition == claimdlq.Rejected {
		c.Rejected += int64(r.Claims)
	}
	switch {
	case r.Format != claimdlq.FormatAck:
		c.Records[r.State]++
	case r.State != claimdlq.StateSettled:
		c.Orphans++
	}
	if r.State == claimdlq.StateQuarantined {
		c.Quarantined[r.Reason]++
		c.OldestAt = earlier(c.OldestAt, r.FirstFailedAt)
	}
	if r.State == claimdlq.StateParked {
		c.OldestParkedAt = earlier(c.OldestParkedAt, r.FirstFailedAt)
	}
}

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// compareCounters compares the store's counters with what was counted, and both
// sides of the equation of conservation.
func (f *run) compareCounters(ctx context.Context) error {
	st, err := f.Store.Stats(ctx)
	if err != nil {
		return err
	}
	compare := func(name string, stored, counted any) {
		if stored != counted {
			f.r.add(Finding{Code: Counters, Detail: fmt.Sprintf("%s: %v kept, %v counted", name, stored, counted)})
		}
	}
	var answered int64
	for _, s := range claimdlq.States {
		answered += st.ByState[s]
		compare("claims "+s.String(), st.ByState[s], f.counted.ByState[s])
		compare("records "+s.String(), st.Records[s], f.counted.Records[s])
	}
	for _, r := range claimdlq.Reasons {
		compare("quarantined "+r.String(), st.Quarantined[r], f.counted.Quarantined[r])
	}
	compare("received", st.Received, f.counted.Received)
	compare("rejected", st.Rejected, f.counted.Rejected)
	compare("orphans", st.Orphans, f.counted.Orphans)
	compare("oldest", st.OldestAt.UnixMilli(), f.counted.OldestAt.UnixMilli())
	compare("oldest parked", st.OldestParkedAt.UnixMilli(), f.counted.OldestParkedAt.UnixMilli())
	if st.Received != answered || f.counted.Received != f.r.Claims {
		f.r.add(Finding{Code: Conservation, Detail: fmt.Sprintf("%d received, records answer for %d", st.Received, f.r.Claims)})
	}
	return nil
}
