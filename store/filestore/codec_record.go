package filestore

import (
	"claimdlq"
)

// recordFormat is the version of a record's encoding; testdata holds an example of
// each that is read. Version 1 had no response.
const recordFormat = 2

// appendRecord encodes r whole. The id is its first field after the version, and
// the parent's place is returned, so that the writer can fill them in; 0 is none.
func appendRecord(b []byte, r *claimdlq.Record) (_ []byte, parentAt int) {
	b = append(b, recordFormat)
	b = put64(b, uint64(r.ID))
	b = put32(b, r.Revision)
	b = append(b, r.Key[:]...)
	b = append(b, r.Digest[:]...)
	b = putUint(b, uint64(r.KeyTerm))
	b = put64(b, uint64(r.Batch))
	b = append(b, byte(r.Format), byte(r.Scope))
	if b = putBool(b, r.Parent != 0); r.Parent != 0 {
		parentAt = len(b)
		b = put64(b, uint64(r.Parent))
	}
	b = putUint(b, uint64(r.Ordinal))
	for _, s := range [...]string{r.InterchangeID, r.GroupID, r.TransactionID, r.Sender, r.Partner, r.Stream, r.Usage} {
		b = putString(b, s)
	}
	b = append(b, byte(r.State), byte(r.Hold), byte(r.Reason), byte(r.Class), byte(r.Disposition))
	b = putString(b, r.Detail.String())
	b = putString(b, r.RuleVersion)
	b = putInt(putInt(putString(b, r.Payload.Unit), r.Payload.Offset), r.Payload.Length)
	if b = putString(b, r.Response.Unit); !r.Response.IsZero() { // one byte where there is none
		b = putInt(putInt(b, r.Response.Offset), r.Response.Length)
	}
	b = putUint(b, uint64(r.PayloadRevision))
	b = putUint(b, uint64(r.RefusedRevision))
	b = putBool(b, r.FateUnknown)
	b = putUint(b, uint64(r.Claims))
	b = putUint(b, uint64(r.Parted))
	b = putInt(b, r.AmountCents)
	b = putUint(b, uint64(r.AttemptCount))
	b = putUint(b, uint64(r.ReceiveCount))
	b = putUint(b, uint64(r.ReplayCount))
	b = putUint(b, uint64(r.Unparked))
	b = putString(b, r.Answered)
	b = putTime(b, r.CreatedAt)
	b = putTime(b, r.FirstFailedAt)
	b = putTime(b, r.UpdatedAt)
	b = putTime(b, r.NotBefore)
	return putUint(b, uint64(r.Submission)), parentAt
}

func decodeRecord(b []byte) (r claimdlq.Record, err error) {
	err = newDecoder(b).record(&r, &claimdlq.Record{})
	return r, err
}

// record reads a whole record into r, which is zero. Its strings are mostly those of the
// record that it is like.
func (d *decoder) record(r, like *claimdlq.Record) error {
	version := d.byte()
	if version == 0 || version > recordFormat {
		return errCodec
	}
	r.ID = claimdlq.ID(d.fixed64())
	r.Revision = d.fixed32()
	copy(r.Key[:], d.bytes(16))
	copy(r.Digest[:], d.bytes(16))
	r.KeyTerm = d.u32()
	r.Batch = claimdlq.Ref(d.fixed64())
	r.Format, r.Scope = claimdlq.Format(d.byte()), claimdlq.Scope(d.byte())
	if d.bool() {
		r.Parent = claimdlq.ID(d.fixed64())
	}
	r.Ordinal = d.u32()
	r.InterchangeID, r.GroupID, r.TransactionID = d.like(like.InterchangeID), d.like(like.GroupID), d.like(like.TransactionID)
	r.Sender, r.Partner, r.Stream, r.Usage = d.like(like.Sender), d.like(like.Partner), d.like(like.Stream), d.like(like.Usage)
	r.State, r.Hold, r.Reason = claimdlq.State(d.byte()), claimdlq.Hold(d.byte()), claimdlq.Reason(d.byte())
	r.Class, r.Disposition = claimdlq.Class(d.byte()), claimdlq.Disposition(d.byte())
	r.Detail = d.detailLike(like.Detail)
	r.RuleVersion = d.like(like.RuleVersion)
	r.Payload = claimdlq.PayloadRef{Unit: d.like(like.Payload.Unit), Offset: d.int(), Length: d.int()}
	if version > 1 {
		if r.Response.Unit = d.like(like.Response.Unit); !r.Response.IsZero() {
			r.Response.Offset, r.Response.Length = d.int(), d.int()
		}
	}
	r.PayloadRevision, r.RefusedRevision = d.u16(), d.u16()
	r.FateUnknown = d.bool()
	r.Claims, r.Parted = d.u32(), d.u32()
	r.AmountCents = d.int()
	r.AttemptCount, r.ReceiveCount, r.ReplayCount, r.Unparked = d.u32(), d.u32(), d.u32(), d.u32()
	r.Answered = claimdlq.Bits(d.string())
	r.CreatedAt, r.FirstFailedAt, r.UpdatedAt, r.NotBefore = d.time(), d.time(), d.time(), d.time()
	r.Submission = claimdlq.SubmissionID(d.uint())
	if r.State < claimdlq.StateQueued || r.State > claimdlq.StateWithdrawn || r.Revision == 0 || r.ID == 0 || r.ID > maxRows {
		return errCodec
	}
	return d.end()
}
