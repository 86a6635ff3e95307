package filestore

import (
	"claimdlq"
)

// entryFormat is the version of an audit entry's encoding.
const entryFormat = 1

// appendEntry encodes e but for its Seq, which follows from the frame. The record
// id is its first field after the version.
func appendEntry(b []byte, e *claimdlq.Entry) []byte {
	b = append(b, entryFormat)
	b = put64(b, uint64(e.Record))
	b = putTime(b, e.At)
	b = putString(b, e.Actor)
	b = putString(b, e.Action)
	b = putUint(b, uint64(e.Submission))
	b = putUint(b, uint64(e.PayloadRevision))
	b = putString(b, e.Detail.String())
	b = append(b, byte(e.From), byte(e.To))
	return putString(b, e.Note)
}

func decodeEntry(b []byte) (e claimdlq.Entry, err error) {
	d := newDecoder(b)
	if d.byte() != entryFormat {
		return e, errCodec
	}
	e.Record = claimdlq.ID(d.fixed64())
	e.At = d.time()
	e.Actor = d.string()
	e.Action = claimdlq.Action(d.string())
	e.Submission = claimdlq.SubmissionID(d.uint())
	e.PayloadRevision = d.u16()
	e.Detail = d.detail()
	e.From, e.To = claimdlq.State(d.byte()), claimdlq.State(d.byte())
	e.Note = d.string()
	return e, d.end()
}
