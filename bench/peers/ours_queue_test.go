package main

import (
	"strconv"
	"testing"
	"time"

	"claimdlq/wire/ncpdp"
)

func TestPharmacyClaims_AreNumberedAndSpreadOverPartners(t *testing.T) {
	t.Parallel()
	claims, err := pharmacyClaims(2*perPartner + 1)
	if err != nil {
		t.Fatal(err)
	}
	partners, m := map[string]int{}, ncpdp.Parse(nil)
	for i, c := range claims {
		m.Reset(c.Reveal())
		if n, err := strconv.Atoi(string(m.RxOf(1))); err != nil || n != i+1 || m.Groups() != 1 {
			t.Fatalf("claim %d has number %d in %d transactions: %v", i, n, m.Groups(), err)
		}
		partners[string(m.PCN())]++
	}
	if len(partners) != 3 {
		t.Errorf("%d partners, want 3", len(partners))
	}
	for p, n := range partners {
		if n*deliveries >= 1024 {
			t.Errorf("%s gets %d deliveries: its breaker would open", p, n*deliveries)
		}
	}
}

// The works themselves, on the pharmacy flow: each claim is paid once, or delivered five
// times, dead-lettered and replayed.
func TestOurQueue_DoesEachWork(t *testing.T) {
	t.Parallel()
	for _, batch := range []int{1, 256} {
		t.Run(strconv.Itoa(batch), func(t *testing.T) {
			t.Parallel()
			q := &ourQueue{load: load{workers: 8}, batch: batch, dir: t.TempDir()}
			t.Cleanup(func() {
				if err := q.Close(); err != nil {
					t.Error(err)
				}
			})
			var tl tally
			o := queueOptions{claims: 300, failures: 300, limit: time.Minute}
			if err := q.Reset(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := tl.measure(t.Context(), running{contender{name: oursName, scale: 1, ours: true}, q}, o, 0); err != nil {
				t.Fatal(err)
			}
			for _, w := range works {
				if tl.median(oursName, w, rateOf) == 0 {
					t.Errorf("%s has no figure", w)
				}
			}
		})
	}
}
