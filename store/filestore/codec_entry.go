package filestore

import (
	"claimdlq"
)

// The versions of an audit entry's encoding: the second has many records in the place
// of one.
const (
	entryFormat = 1
	entryOfMany = 2
)

// appendEntry encodes e but for its Seq, which follows from the frame. The record
// id is its first field after the version.
func appendEntry(b []byte, e *claimdlq.Entry) []byte {
	version := byte(entryFormat)
	if e.Records != "" {
		version = entryOfMany
	}
	b = append(b, version)
	b = put64(b, uint64(e.Record))
	if e.Records != "" {
		b = putString(b, e.Records)
	}
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
	version := d.byte()
	if version != entryFormat && version != entryOfMany {
		return e, errCodec
	}
	e.Record = claimdlq.ID(d.fixed64())
	if version == entryOfMany {
		if e.Records = claimdlq.IDSet(d.string()); e.Records == "" || !e.Records.Valid() {
			return e, errCodec
		}
	}
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
