package filestore

import (
	"claimdlq"
	"claimdlq/store"
)

// submissionFormat is the version of a submission's encoding. Version 1 had only
// the flag of a replay.
const submissionFormat = 2

// The flags of a submission.
const (
	subReplay = 1 << iota
	subBulk
	subFallback
	subFlags // above all of them
)

func flagsOf(s *claimdlq.Submission) (f byte) {
	if s.Replay {
		f |= subReplay
	}
	if s.Bulk {
		f |= subBulk
	}
	if s.Fallback {
		f |= subFallback
	}
	return f
}

// appendSubmission encodes s whole; the id is its first field after the version.
// Members that are indexes into Batch.Insert are reported through relative, with
// the place of their id, so that the writer can fill it in.
func appendSubmission(b []byte, s *claimdlq.Submission, relative func(at, index int)) []byte {
	b = append(b, submissionFormat)
	b = put64(b, uint64(s.ID))
	b = put32(b, s.Revision)
	b = append(b, byte(s.State), flagsOf(s))
	e := &s.Envelope
	for _, v := range [...]string{
		s.Partner, s.Stream, e.SenderQualifier, e.Sender, e.ReceiverQualifier, e.Receiver, e.Date, e.Time, e.Usage,
	} {
		b = putString(b, v)
	}
	b = putUint(b, uint64(s.ISA13))
	b = putUint(b, uint64(len(s.Groups)))
	for _, g := range s.Groups {
		b = putString(b, g.Sender)
		b = putString(b, g.Receiver)
		b = putUint(b, uint64(g.Number))
	}
	b = putUint(b, uint64(len(s.Members)))
	for _, m := range s.Members {
		for _, id := range [...]claimdlq.ID{m.First, m.Last} {
			if i, ok := store.IsParentIndex(id); ok && relative != nil {
				relative(len(b), i)
			}
			b = put64(b, uint64(id))
		}
	}
	b = append(b, s.Digest[:]...)
	b = putInt(b, s.Bytes)
	b = putUint(b, uint64(s.Receives))
	b = putTime(b, s.NotBefore)
	b = putTime(b, s.LeaseUntil)
	b = putTime(b, s.CreatedAt)
	b = putTime(b, s.SentAt)
	return putString(b, s.Last.String())
}

func decodeSubmission(b []byte) (s claimdlq.Submission, err error) {
	d := newDecoder(b)
	version := d.byte()
	if version == 0 || version > submissionFormat {
		return s, errCodec
	}
	s.ID = claimdlq.SubmissionID(d.fixed64())
	s.Revision = d.fixed32()
	s.State = claimdlq.SubmissionState(d.byte())
	flags := d.byte()
	if flags >= subFlags || (version == 1 && flags > subReplay) {
		return s, errCodec
	}
	s.Replay, s.Bulk, s.Fallback = flags&subReplay != 0, flags&subBulk != 0, flags&subFallback != 0
	e := &s.Envelope
	for _, v := range [...]*string{
		&s.Partner, &s.Stream, &e.SenderQualifier, &e.Sender, &e.ReceiverQualifier, &e.Receiver, &e.Date, &e.Time, &e.Usage,
	} {
		*v = d.string()
	}
	s.ISA13 = d.u32()
	if n := d.upTo(uint64(len(b)) / 3); n > 0 {
		s.Groups = make([]claimdlq.GroupControl, n)
	}
	for i := range s.Groups {
		s.Groups[i] = claimdlq.GroupControl{Sender: d.string(), Receiver: d.string(), Number: d.u32()}
	}
	if n := d.upTo(uint64(len(b)) / 16); n > 0 {
		s.Members = make([]claimdlq.IDRange, n)
	}
	for i := range s.Members {
		s.Members[i] = claimdlq.IDRange{First: claimdlq.ID(d.fixed64()), Last: claimdlq.ID(d.fixed64())}
	}
	copy(s.Digest[:], d.bytes(16))
	s.Bytes = d.int()
	s.Receives = d.u32()
	s.NotBefore, s.LeaseUntil, s.CreatedAt, s.SentAt = d.time(), d.time(), d.time(), d.time()
	s.Last = d.detail()
	if s.State < claimdlq.SubmissionReady || s.State > claimdlq.SubmissionDead || s.Revision == 0 || s.ID == 0 || s.ID > maxRows {
		return s, errCodec
	}
	return s, d.end()
}

// decodeSending decodes what a submission with the id sends.
func decodeSending(b []byte, id claimdlq.SubmissionID) (o store.Sending, err error) {
	d := decoder{b: b}
	if version := d.byte(); version == 0 || version > submissionFormat || claimdlq.SubmissionID(d.fixed64()) != id {
		return o, errCodec
	}
	d.skip(4 + 2) // revision, state, flags
	for range 9 { // partner, stream, envelope
		d.skip(d.uint())
	}
	d.u32() // ISA13
	for range d.upTo(uint64(len(b)) / 3) {
		d.skip(d.uint())
		d.skip(d.uint())
		d.u32()
	}
	n := d.upTo(uint64(len(b)) / 16)
	first, last := claimdlq.ID(0), claimdlq.ID(0)
	for range n {
		first, last = claimdlq.ID(d.fixed64()), claimdlq.ID(d.fixed64())
	}
	if n == 1 && first == last {
		o.Record = first
	}
	copy(o.Digest[:], d.bytes(16))
	o.Bytes = d.int()
	if d.bad {
		return o, errCodec
	}
	return o, nil
}
