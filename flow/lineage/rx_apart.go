package lineage

import (
	"strings"

	"claimdlq"
	"claimdlq/wire/ncpdp"
)

// MaxApart is of how many records of one fill Apart says anything.
const MaxApart = 8

// Apart reports that the record's claim is certainly none of those of the other records
// of its fill, r among them or not: Replay finds no obstacle to it, whatever becomes of
// them, and opens none. A fill of several claims is mostly that: a partial one and its
// completion.
//
// It goes by what only a correction changes. Nothing in the fill takes back or bills
// anew, so that there is one generation; each is as it came and nobody's relation
// (Root), so that its key is that of its claim; and keys of one term are the same where
// the claims are. One term means too that all of them are found, and the fill is held,
// by the look-up value that r has.
func Apart(r claimdlq.Record, mates []claimdlq.Record) bool {
	if len(mates) > MaxApart || !single(r) {
		return false
	}
	for i := range mates {
		m := &mates[i]
		switch elsewhere := !strings.EqualFold(m.Partner, r.Partner); {
		case m.ID == r.ID || m.Format != claimdlq.FormatNCPDP:
		case m.KeyTerm != r.KeyTerm || m.Key == r.Key:
			return false
		case elsewhere && m.PayloadRevision <= 1: // nothing has made it this claim
		case elsewhere || !single(*m):
			return false
		}
	}
	return true
}

// single reports that the record came as a claim of its own, and was not corrected.
func single(r claimdlq.Record) bool {
	return r.PayloadRevision <= 1 && Root(r) == r.ID && r.TransactionID != "" && !ncpdp.RaisesGeneration([]byte(r.TransactionID))
}
