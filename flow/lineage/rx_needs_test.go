package lineage_test

import (
	"testing"

	"claimdlq"
	"claimdlq/flow/lineage"
)

func TestNeedsPayload_WhereNoKeyTellsWhichClaimItIs(t *testing.T) {
	t.Parallel()
	rx := func(id claimdlq.ID, code, root string) claimdlq.Record {
		return claimdlq.Record{
			ID: id, Format: claimdlq.FormatNCPDP, Batch: 7, TransactionID: code, GroupID: root, PayloadRevision: 1,
			State: claimdlq.StateSettled, Disposition: claimdlq.Paid,
		}
	}
	with := func(r claimdlq.Record, f func(*claimdlq.Record)) claimdlq.Record { f(&r); return r }
	revised := func(r *claimdlq.Record) { r.PayloadRevision = 2 }
	stranger := with(rx(9, "B1", ""), func(r *claimdlq.Record) { r.Batch = 8 })
	for _, c := range []struct {
		what  string
		r     claimdlq.Record
		mates []claimdlq.Record
		want  bool
	}{
		{"alone", rx(1, "B1", ""), nil, false},
		{"beside a stranger of the same value", rx(1, "B1", ""), []claimdlq.Record{stranger}, false},
		{"corrected", with(rx(1, "B1", ""), revised), nil, true},
		{"corrected and refused", with(with(rx(1, "B1", ""), revised), func(r *claimdlq.Record) { r.Disposition = claimdlq.Rejected }), nil, false},
		{"corrected and written off in doubt", with(with(rx(1, "B1", ""), revised), func(r *claimdlq.Record) {
			r.State, r.Disposition, r.FateUnknown = claimdlq.StateWithdrawn, claimdlq.DispositionNone, true
		}), nil, true},
		{"with its reversal", rx(1, "B1", ""), []claimdlq.Record{rx(2, "B2", "1")}, false},
		{"the reversal with its billing", rx(2, "B2", "1"), []claimdlq.Record{rx(1, "B1", "")}, false},
		{"a reversal of nothing seen", rx(1, "B2", ""), nil, true},
		{"beside another claim of the fill", rx(1, "B1", ""), []claimdlq.Record{rx(2, "B1", "")}, true},
	} {
		if got := lineage.NeedsPayload(c.r, append(c.mates, c.r)); got != c.want {
			t.Errorf("%s: %v", c.what, got)
		}
	}
}
