package settle_test

import (
	"testing"

	"claimdlq"
	"claimdlq/classify"
	"claimdlq/flow/settle"
)

func TestVerdict_WhatAnAnswerMayDoDependsOnWhereTheRecordStands(t *testing.T) {
	t.Parallel()
	accept, reject, later, dup := classify.Accepted, classify.Rejected, classify.TryLater, classify.Duplicate
	all := []classify.Result{accept, reject, later, dup}
	cases := []struct {
		name  string
		r     claimdlq.Record
		stale bool
		acts  []classify.Result
	}{
		{"waiting for it", claimdlq.Record{State: claimdlq.StateSubmitted, AttemptCount: 1}, false, all},
		{"in doubt", claimdlq.Record{State: claimdlq.StateInDoubt, AttemptCount: 1}, false, all},
		{"answered before its delivery ended", claimdlq.Record{State: claimdlq.StateLeased, AttemptCount: 1}, false, all},
		{"parked in doubt", claimdlq.Record{State: claimdlq.StateParked, FateUnknown: true, AttemptCount: 1}, false, all},
		{"held by us: a late acceptance settles it", claimdlq.Record{State: claimdlq.StateQuarantined, AttemptCount: 1}, false, []classify.Result{accept}},
		{"parked", claimdlq.Record{State: claimdlq.StateParked, AttemptCount: 1}, false, []classify.Result{accept}},
		{"released and not sent yet", claimdlq.Record{State: claimdlq.StateQueued, AttemptCount: 1}, true, []classify.Result{accept}},
		{"accepted: a later reject reopens it", claimdlq.Record{State: claimdlq.StateSettled, Disposition: claimdlq.Accepted, AttemptCount: 1}, false, []classify.Result{reject}},
		{"rejected for good", claimdlq.Record{State: claimdlq.StateSettled, Disposition: claimdlq.Rejected, AttemptCount: 1}, false, nil},
		{"sent again since: an earlier sending that was accepted settles it", claimdlq.Record{State: claimdlq.StateSubmitted, AttemptCount: 2}, true, []classify.Result{accept}},
		{"accepted by a later sending", claimdlq.Record{State: claimdlq.StateSettled, Disposition: claimdlq.Accepted, AttemptCount: 2}, true, nil},
		{"withdrawn", claimdlq.Record{State: claimdlq.StateWithdrawn, AttemptCount: 1}, false, nil},
		{"never sent", claimdlq.Record{State: claimdlq.StateQuarantined}, false, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, result := range all {
				want := false
				for _, r := range c.acts {
					want = want || r == result
				}
				if got := settle.Acts(c.r, c.stale, result); got != want {
					t.Errorf("%s acts: %v, want %v", result, got, want)
				}
			}
		})
	}
}
