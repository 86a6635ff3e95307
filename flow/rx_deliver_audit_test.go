package flow_test

import (
	"context"
	"testing"
	"testing/synctest"

	"claimdlq"
	"claimdlq/flow/attempt"
	"claimdlq/target"
)

// TestRx_OneEntryOfATurnNamesItsRecords pins what the audit log promises of deliveries:
// each record's timeline has its lease before its outcome, once for each delivery; no
// entry names records of two partners, or that said different things; and what is in doubt
// is named with its submission, by which what is asked about it later is found.
func TestRx_OneEntryOfATurnNamesItsRecords(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(t, func(o *attempt.Options) { o.Workers = 16 })
		c.till.idempotent = false
		c.till.say = func(n int, _ []byte) (target.Delivery, bool) {
			switch {
			case n == 5:
				return transient("TIMEOUT", true), true
			case n > 60:
				return busy503, true
			}
			return target.Delivery{}, false
		}
		var ids []claimdlq.ID
		for _, pcn := range []string{"A", "B"} {
			o := plainRx
			o.PCN = pcn
			ids = append(ids, c.queue(40, o)...)
		}
		c.drain()
		if got := c.states(); got[claimdlq.StateInDoubt] != 1 || got[claimdlq.StateQueued] == 0 || got[claimdlq.StateSettled] == 0 {
			t.Fatalf("%v", got)
		}
		var all []claimdlq.Entry
		c.must(c.st.Entries(context.Background(), 1, func(e claimdlq.Entry) bool { all = append(all, e); return true }))
		if len(all) > 3*len(ids)/2 {
			t.Errorf("%d entries for %d deliveries", len(all), len(ids))
		}
		for _, id := range ids {
			c.timeline(id, all)
		}
		for _, e := range all {
			c.ofOne(e)
		}
	})
}

// timeline checks what is said of a record that was delivered as often as it says.
func (c *counter) timeline(id claimdlq.ID, all []claimdlq.Entry) {
	c.tb.Helper()
	r := c.get(id)
	leases, outcomes := uint32(0), uint32(0)
	for _, e := range all {
		if !e.About(id) {
			continue
		}
		switch e.Action {
		case claimdlq.ActLease:
			if leases != outcomes || e.From != claimdlq.StateQueued || e.To != claimdlq.StateLeased || e.PayloadRevision != r.PayloadRevision {
				c.tb.Errorf("record %d: %+v", id, e)
			}
			leases++
		case claimdlq.ActOutcome:
			if outcomes++; leases != outcomes || e.From != claimdlq.StateLeased || e.To != r.State || e.Detail != r.Detail {
				c.tb.Errorf("record %d is %v, %v: %+v", id, r.State, r.Detail, e)
			}
			if r.State == claimdlq.StateInDoubt && (e.Record != id || e.Submission != r.Submission) {
				c.tb.Errorf("what is in doubt is not named with its submission: %+v", e)
			}
		}
	}
	if leases != r.ReceiveCount || outcomes != leases {
		c.tb.Errorf("record %d was delivered %d times: %d leases, %d outcomes", id, r.ReceiveCount, leases, outcomes)
	}
}

// ofOne checks that an entry names records of one partner.
func (c *counter) ofOne(e claimdlq.Entry) {
	c.tb.Helper()
	first := e.Records.First()
	for r := range e.Records.Runs() {
		for id := r.First; id <= r.Last; id++ {
			if c.get(id).Partner != c.get(first).Partner || e.Record != 0 || e.Submission != 0 {
				c.tb.Errorf("%+v", e)
			}
		}
	}
}
