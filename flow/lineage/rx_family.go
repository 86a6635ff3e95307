package lineage

import (
	"strconv"

	"claimdlq"
)

// Root returns the first record of the claim that a pharmacy record is about: its first
// billing, or a reversal of something never seen. Records of one fill may be about
// several claims, such as a partial fill and its completion; those of one claim share
// their root. It is the record itself unless its GroupID says otherwise.
func Root(r claimdlq.Record) claimdlq.ID {
	if r.Format != claimdlq.FormatNCPDP || r.GroupID == "" {
		return r.ID
	}
	n, err := strconv.ParseInt(r.GroupID, 10, 64)
	switch {
	case err != nil:
		return r.ID
	case n < 0: // taken in with it: so many records before
		return r.ID - claimdlq.ID(-n)
	}
	return claimdlq.ID(n)
}

// GroupID returns what a record keeps of its root. Both may be placeholders for ids of
// one commit (store.ParentIndex): then it keeps the distance. It is empty for a record
// that is a root itself.
func GroupID(own, root claimdlq.ID) string {
	const placeholder = 1 << 63
	switch {
	case root == 0 || own == root:
		return ""
	case root&placeholder != 0:
		return strconv.FormatInt(int64(root)-int64(own), 10)
	}
	return strconv.FormatUint(uint64(root), 10)
}

// NeedsPayload reports whether telling the claims of a fill apart takes the payload of a
// record that stands in the way of others: one that was corrected, whose key is that of
// the claim as it came; one of a fill of several claims, of which a reversal may mean any;
// a reversal of something never seen.
func NeedsPayload(r claimdlq.Record, mates []claimdlq.Record) bool {
	if !blocks(r) && !PutAway(r) {
		return false // it stands in no claim's way
	}
	if r.PayloadRevision > 1 {
		return true
	}
	billed := !reverses(r)
	for _, m := range mates {
		if m.Batch != r.Batch || m.Format != r.Format {
			continue
		}
		if Root(m) != Root(r) {
			return true
		}
		billed = billed || !reverses(m)
	}
	return !billed
}
