package claimdlq_test

import (
	"testing"

	"pgregory.net/rapid"

	"claimdlq"
)

// Promises 2 to 4 over random lives: every step that the vocabulary allows passes
// the store's check; nothing is leased while the fate of a sending is open; no
// life has more replays than the cap and its un-parkings allow; and counts and
// the first failure never go back.
func TestRecord_NoLifeBreaksAPromise(t *testing.T) {
	t.Parallel()
	code := claimdlq.NewDetail("HTTP_503")
	rapid.Check(t, func(rt *rapid.T) {
		r := queued()
		open := false // a sending's fate has not been learned
		now, deliveries, replays, unparks := 1, uint32(0), uint32(0), uint32(0)
		apply := func(next claimdlq.Record, err error) bool {
			now++
			if err != nil {
				return false
			}
			if err := claimdlq.Check(r, next); err != nil {
				rt.Fatalf("%s to %s: %v", r.State, next.State, err)
			}
			r = next
			return true
		}
		rt.Repeat(map[string]func(*rapid.T){
			"lease": func(*rapid.T) {
				if !apply(r.Lease(1, at(now))) {
					return
				}
				deliveries++
				if open {
					rt.Fatal("sent again while nobody knows whether it arrived")
				}
			},
			"sent": func(*rapid.T) { open = apply(r.Sent(at(now))) || open },
			"doubt": func(*rapid.T) {
				open = apply(r.Doubt(code, at(now))) || open
			},
			"answer": func(*rapid.T) {
				open = apply(r.Answer([]uint32{1}, code, at(now))) || open
			},
			"fails before sending": func(*rapid.T) {
				if r.State == claimdlq.StateLeased {
					apply(r.Requeue(code, at(now), at(now)))
				}
			},
			"answered": func(rt *rapid.T) {
				if r.State == claimdlq.StateQueued || r.State == claimdlq.StateQuarantined {
					return
				}
				learned := false
				switch rapid.IntRange(0, 2).Draw(rt, "how") {
				case 0:
					learned = apply(r.Settle(claimdlq.Accepted, code, at(now)))
				case 1:
					learned = apply(r.Quarantine(syntax, at(now)))
				case 2:
					learned = r.State != claimdlq.StateLeased && apply(r.Requeue(code, at(now), at(now)))
				}
				open = open && !learned
			},
			"poison": func(*rapid.T) {
				if r.State == claimdlq.StateQueued {
					apply(r.Quarantine(syntax, at(now)))
				}
			},
			"correct": func(*rapid.T) { apply(r.Correct(claimdlq.PayloadRef{Unit: "u"}, 1, "v", at(now))) },
			"replay": func(rt *rapid.T) {
				if r.GuardReplay(policy, rapid.Bool().Draw(rt, "cleared")) == claimdlq.Replayed && apply(r.Replay("v", at(now))) {
					replays++
				}
			},
			"hold":   func(*rapid.T) { apply(r.Held(claimdlq.HoldBreaker, at(now))) },
			"park":   func(*rapid.T) { apply(r.Park(claimdlq.ReasonNone, at(now))) },
			"expire": func(*rapid.T) { apply(r.Park(claimdlq.Expired, at(now))) },
			"unpark": func(*rapid.T) {
				if apply(r.Unpark(policy, at(now))) {
					unparks++
				}
			},
			"": func(*rapid.T) {
				if r.AttemptCount != deliveries || r.ReplayCount != replays {
					rt.Fatalf("%d deliveries and %d replays are counted as %d and %d", deliveries, replays, r.AttemptCount, r.ReplayCount)
				}
				if replays > policy.ReplayCap+unparks {
					rt.Fatalf("%d replays with %d un-parkings", replays, unparks)
				}
				if open && !r.FateUnknown {
					rt.Fatalf("%s: the open fate is forgotten", r.State)
				}
			},
		})
	})
}
