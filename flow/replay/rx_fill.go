package replay

import (
	"claimdlq"
	"claimdlq/flow/lineage"
	"claimdlq/wire/ncpdp"
)

// rxCorrected looks at what stands in the way of a corrected billing that keys do not
// show. A correction may change for whom a fill is billed, which makes another claim
// of it; that the fill was billed again meanwhile as it came, or taken back, counts
// all the same: a prescription is filled once under one fill number.
func (j *job) rxCorrected(it *rxItem, mates []claimdlq.Record) error {
	if it.r.PayloadRevision <= 1 || ncpdp.IsReversal(it.claim.Code[:]) {
		return nil
	}
	var by *claimdlq.Record // that stands after the last reversal
	for i := range mates {
		m := &mates[i]
		taken, counts := it.counts(m, j.o.WrittenOff)
		if !counts {
			continue
		}
		c, err := j.rxClaim(j.ctx, *m)
		if gone(err) {
			it.result, it.why = claimdlq.DuplicateSuppressed, "ANOTHER_UNREADABLE"
			return nil
		}
		if err != nil {
			return err
		}
		switch {
		case !lineage.SameFill(it.claim, &c):
		case taken && m.ID > it.r.ID:
			it.result, it.why = claimdlq.DuplicateSuppressed, "OVERTAKEN"
			return nil
		case taken:
			by = nil
		case lineage.Crosses(*m, *it.r):
			it.why = crossed
			it.suppress(m)
			return nil
		default:
			by = m
		}
	}
	if by != nil {
		it.suppress(by)
	}
	return nil
}

// crossed is why a replay is refused while a later reversal, or billing, is under way.
const crossed = "CROSSED"

// counts reports whether the other record may stand in this one's way: a billing that
// is under way or with the payer, a reversal that was accepted (taken), or a later one
// that is under way. What was written off in doubt does not where writtenOff says so.
func (it *rxItem) counts(m *claimdlq.Record, writtenOff bool) (taken, counts bool) {
	if m.ID == it.r.ID || m.Partner != it.r.Partner || m.Format != claimdlq.FormatNCPDP {
		return false, false
	}
	if ncpdp.IsReversal([]byte(m.TransactionID)) {
		taken = m.State == claimdlq.StateSettled && m.Disposition == claimdlq.Reversed
		return taken, taken || lineage.Crosses(*m, *it.r)
	}
	return false, lineage.Blocks(*m) && (!writtenOff || !lineage.WrittenOff(*m))
}

// suppress refuses the replay because of another record. Where that one's fate is not
// known, it must be settled first.
func (it *rxItem) suppress(by *claimdlq.Record) {
	it.result = claimdlq.DuplicateSuppressed
	if by.FateUnknown && by.State != claimdlq.StateSubmitted {
		it.result, it.why = claimdlq.InDoubtFirst, "ANOTHER_IN_DOUBT"
	}
}
