package claimdlq_test

import (
	"errors"
	"testing"
	"time"

	"claimdlq"
)

func TestCheck_RefusesEachViolation(t *testing.T) {
	t.Parallel()
	prev := quarantined(t)
	prev.AttemptCount, prev.ReceiveCount, prev.ReplayCount, prev.Unparked, prev.PayloadRevision = 5, 5, 3, 1, 2
	if err := claimdlq.Check(prev, prev); err != nil {
		t.Fatalf("a step that changes nothing: %v", err)
	}
	to := func(s claimdlq.State, change func(*claimdlq.Record)) func(*claimdlq.Record) {
		return func(r *claimdlq.Record) {
			r.State = s
			change(r)
		}
	}
	for name, change := range map[string]func(*claimdlq.Record){
		"another id":                   func(r *claimdlq.Record) { r.ID++ },
		"another key":                  func(r *claimdlq.Record) { r.Key[0]++ },
		"another digest":               func(r *claimdlq.Record) { r.Digest[0]++ },
		"another scope":                func(r *claimdlq.Record) { r.Scope++ },
		"another parent":               func(r *claimdlq.Record) { r.Parent++ },
		"another creation":             func(r *claimdlq.Record) { r.CreatedAt = r.CreatedAt.Add(time.Millisecond) },
		"an attempt less":              func(r *claimdlq.Record) { r.AttemptCount-- },
		"a replay less":                func(r *claimdlq.Record) { r.ReplayCount-- },
		"a receive less":               func(r *claimdlq.Record) { r.ReceiveCount-- },
		"an allowance less":            func(r *claimdlq.Record) { r.Unparked-- },
		"an older revision":            func(r *claimdlq.Record) { r.PayloadRevision-- },
		"an older refusal":             func(r *claimdlq.Record) { r.RefusedRevision-- },
		"a later first failure":        func(r *claimdlq.Record) { r.FirstFailedAt = r.FirstFailedAt.Add(time.Millisecond) },
		"an earlier first failure":     func(r *claimdlq.Record) { r.FirstFailedAt = r.FirstFailedAt.Add(-time.Millisecond) },
		"no first failure":             func(r *claimdlq.Record) { r.FirstFailedAt = time.Time{} },
		"an illegal move":              to(claimdlq.StateLeased, func(*claimdlq.Record) {}),
		"a release without a replay":   to(claimdlq.StateQueued, func(*claimdlq.Record) {}),
		"a release counted twice":      to(claimdlq.StateQueued, func(r *claimdlq.Record) { r.ReplayCount += 2; r.ReceiveCount = 0 }),
		"a replay counted in its cell": func(r *claimdlq.Record) { r.ReplayCount++ },
	} {
		next := prev
		change(&next)
		if err := claimdlq.Check(prev, next); !errors.Is(err, claimdlq.Refused) {
			t.Errorf("%s: %v, want refused", name, err)
		}
	}
}

// Promise 3: the store lets no delivery begin that is not counted, exactly once.
func TestCheck_ADeliveryIsCountedOnceWhenItIsLeased(t *testing.T) {
	t.Parallel()
	prev := queued()
	prev.AttemptCount, prev.ReceiveCount = 4, 2
	for attempts := uint32(4); attempts <= 6; attempts++ {
		for receives := uint32(2); receives <= 4; receives++ {
			next := prev
			next.State, next.AttemptCount, next.ReceiveCount = claimdlq.StateLeased, attempts, receives
			if err := claimdlq.Check(prev, next); (err == nil) != (attempts == 5 && receives == 3) {
				t.Errorf("attempts %d, receives %d: %v", attempts, receives, err)
			}
		}
	}
	next := prev
	next.AttemptCount++
	if err := claimdlq.Check(prev, next); !errors.Is(err, claimdlq.Refused) {
		t.Errorf("counted without a lease: %v, want refused", err)
	}
}

func TestCheck_AReplayMayResetTheBudgetAndNothingElse(t *testing.T) {
	t.Parallel()
	prev := quarantined(t)
	prev.AttemptCount, prev.ReceiveCount, prev.ReplayCount = 5, 5, 1
	next := prev
	next.State, next.ReplayCount, next.ReceiveCount = claimdlq.StateQueued, 2, 0
	if err := claimdlq.Check(prev, next); err != nil {
		t.Errorf("a replay: %v", err)
	}
	next.AttemptCount = 0
	if err := claimdlq.Check(prev, next); !errors.Is(err, claimdlq.Refused) {
		t.Errorf("a replay that forgets the attempts: %v", err)
	}
}

func TestCheck_AFirstStepIsJudgedByItsStateAlone(t *testing.T) {
	t.Parallel()
	for _, s := range claimdlq.States {
		err := claimdlq.Check(claimdlq.Record{}, claimdlq.Record{State: s})
		if (err == nil) != claimdlq.CanMove(0, s) {
			t.Errorf("%s: %v", s, err)
		}
	}
	if err := claimdlq.Check(claimdlq.Record{}, claimdlq.Record{}); !errors.Is(err, claimdlq.Refused) {
		t.Errorf("no state: %v", err)
	}
}
