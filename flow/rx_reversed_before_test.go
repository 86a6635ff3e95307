package flow_test

import (
	"testing"
	"testing/synctest"
	"time"

	"claimdlq"
	"claimdlq/store"
	"claimdlq/target"
)

// "Already reversed" of a reversal that the payer has never seen, while a billing stands
// that came after an earlier reversal, may be about that one: a person decides, and
// nothing is billed anew until he has. Promise 2.
func TestRx_AlreadyReversedMayBeAboutAnEarlierReversal(t *testing.T) {
	t.Parallel()
	b := rxSetup(t, "claim code=B2 status S")
	b1, b2 := rxOne(t, "B1", 1), rxOne(t, "B2", 1)
	b.force(b.takes(b1, in).Records[0].ID, claimdlq.Paid)
	b.force(b.takes(b2, in).Records[0].ID, claimdlq.Reversed)
	b.takes(b1, in) // billed again, and paid
	b.drain()
	second := b.takes(b2, in).Records[0].ID
	b.drain()
	if r := b.record(second); r.State != claimdlq.StateInDoubt || r.Detail.String() != "AN_S" {
		t.Fatalf("%s %s", r.State, r.Detail)
	}
	if r, known, err := b.f.Settle.Inquire(t.Context(), ana, second); err != nil || known || r.State != claimdlq.StateInDoubt {
		t.Errorf("asked again: %s, known %t, %v", r.State, known, err)
	}
	next := b.takes(b1, in).Records[0].ID
	b.drain()
	if r := b.record(next); r.State != claimdlq.StateQueued || r.Hold != claimdlq.HoldLineage {
		t.Errorf("the next billing is %s, held %s", r.State, r.Hold)
	}
}

// Without an earlier reversal it is what it says: ours was taken back before.
func TestRx_AlreadyReversedOfTheFirstReversalIsBelieved(t *testing.T) {
	t.Parallel()
	b := rxSetup(t, "claim code=B2 status S")
	b.takes(rxOne(t, "B1", 1), in)
	b.drain()
	id := b.takes(rxOne(t, "B2", 1), in).Records[0].ID
	b.drain()
	if r := b.record(id); r.Disposition != claimdlq.Reversed {
		t.Errorf("%s %s %s", r.State, r.Disposition, r.Detail)
	}
}

// An 83 after a lost answer is the payment of the record that stands, and not one that
// this record had earned; without another it is the payment that went missing.
func TestRx_An83AfterADoubtIsThePaymentOfTheRecordThatStands(t *testing.T) { // F23
	t.Parallel()
	for _, standing := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := newCounter(t, nil)
			c.script("claim 2 reject 83")
			first := c.queue(1, plainRx)[0]
			c.drain()
			c.next = 50
			if standing {
				c.next = 1 // the same fill as another record
			}
			lost := true
			c.till.say = func(int, []byte) (target.Delivery, bool) {
				was := lost
				lost = false
				return transient("TIMEOUT", true), was
			}
			second := c.put([][]byte{c.oneRaw(plainRx)}, func(b *store.Batch) {
				b.Insert[0].Key[0]++
				b.Insert[0].GroupID = first.String()
			})[0]
			c.drain()
			time.Sleep(time.Minute) // virtual
			c.drain()
			want := claimdlq.DuplicateOfPaid
			if standing {
				want = claimdlq.Rejected
			}
			if r := c.get(second); r.Disposition != want {
				t.Errorf("standing %t: %s %s %s", standing, r.State, r.Disposition, r.Detail)
			}
		})
	}
}
