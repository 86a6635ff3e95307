package flow_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"claimdlq"
	"claimdlq/flow/attempt"
	"claimdlq/internal/testclaims"
	"claimdlq/store"
	"claimdlq/target"
)

// A back-off that ends while the engine looks elsewhere is not forgotten until somebody
// looks again, a minute later.
func TestRx_NoRetryWaitsLongerThanItsBackoff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const claims, failures = 1, 5
		ended := make(chan struct{}, claims)
		c := newCounter(t, func(o *attempt.Options) {
			never(o)
			o.Policies = policies(func(p *claimdlq.Policy) {
				p.Base, p.Cap, p.MaxReceive = 100*time.Microsecond, 3*time.Millisecond, failures+1
			})
			o.Workers = 8
			o.Ended = func(_ claimdlq.Record, r attempt.Result) {
				if r == attempt.Settled {
					ended <- struct{}{}
					return
				}
				time.Sleep(10 * time.Millisecond) // virtual: the committer is held up, and back-offs end meanwhile
			}
		})
		var mu sync.Mutex
		failed := map[string]int{}
		c.till.say = func(_ int, b []byte) (target.Delivery, bool) {
			mu.Lock()
			defer mu.Unlock()
			failed[string(b)]++
			return busy503, failed[string(b)] <= failures
		}
		c.queue(claims, testclaims.RxOptions{})
		began := time.Now()
		stop := c.serve()
		for range claims {
			<-ended
		}
		all := time.Now()
		stop()
		// The time is virtual: it stands still while anybody has something to do.
		if took := all.Sub(began); took > 30*time.Second {
			t.Errorf("%d claims with five waits of at most 3 ms each took %v", claims, took)
		}
	})
}

// However a record came to be in two submissions, it is delivered once, and neither
// waits for ever.
func TestRx_ARecordInTwoSubmissionsIsDeliveredOnce(t *testing.T) { // promise 2
	t.Parallel()
	c := newCounter(t, nil)
	ids := c.queue(1, testclaims.RxOptions{})
	first, err := c.st.Submission(t.Context(), 1)
	c.must(err)
	again := first
	again.ID, again.Revision = 0, 0
	_, err = c.st.Commit(t.Context(), store.Batch{NewSubmissions: []claimdlq.Submission{again}})
	c.must(err)
	c.drain()
	if r := c.get(ids[0]); r.State != claimdlq.StateSettled || r.AttemptCount != 1 || c.till.deliveries() != 1 {
		t.Errorf("%s after %d attempts and %d deliveries", r.State, r.AttemptCount, c.till.deliveries())
	}
	for id := claimdlq.SubmissionID(1); id <= 2; id++ {
		if s, err := c.st.Submission(t.Context(), id); err != nil || s.State == claimdlq.SubmissionReady {
			t.Errorf("submission %d: %s, %v", id, s.State, err)
		}
	}
}
