package filestore

import (
	"encoding/binary"
	"time"

	"claimdlq"
	"claimdlq/store"
)

// releaseFormat is the version of a release's encoding.
const releaseFormat = 1

// releasedBytes is what one record of a release takes: id and revision before the step
// (4 each), bytes (4), digest (16), the time it is due from (8; milliseconds behind
// earliest, so that 0 is none). All of one size, so that the submission of any is found by
// counting.
const (
	releasedBytes = 36
	earliest      = 1 << 63 // the bits of always
)

// appendRelease encodes r. The id of its first submission is the first field after the
// version, for the writer to fill in; the others follow.
func appendRelease(b []byte, r *store.Release) []byte {
	b = append(b, releaseFormat)
	b = put64(b, 0)
	b = putBool(putTime(b, r.At), r.Bulk)
	b = putString(putString(putString(b, r.RuleVersion), r.Partner), r.Stream)
	b = put32(b, uint32(len(r.Records)))
	for i := range r.Records {
		m := &r.Records[i]
		b = put32(put32(put32(b, uint32(m.ID)), m.Revision), m.Bytes)
		b = append(b, m.Digest[:]...)
		b = put64(b, uint64(dueFrom(m.NotBefore))-earliest)
	}
	return b
}

// release is a release as the journal has it: what all its records share, and those.
type release struct {
	sub             claimdlq.SubmissionID // of the first record
	at              time.Time
	bulk            bool
	rule            string
	partner, stream string
	records         []byte
}

// decodeRelease decodes a release; its records stay in b.
func decodeRelease(b []byte) (r release, err error) {
	d := newDecoder(b)
	if d.byte() != releaseFormat {
		return r, errCodec
	}
	r.sub = claimdlq.SubmissionID(d.fixed64())
	r.at, r.bulk = d.time(), d.bool()
	r.rule, r.partner, r.stream = d.string(), d.string(), d.string()
	n := d.fixed32()
	if n == 0 || n > store.MaxReleased || r.sub == 0 || uint64(r.sub)+uint64(n) > maxRows+1 {
		return r, errCodec
	}
	r.records = d.bytes(int(n) * releasedBytes)
	if err := d.end(); err != nil {
		return r, err
	}
	for i, before := 0, claimdlq.ID(0); i < r.len(); i++ {
		m := r.record(i)
		if m.ID <= before || m.ID > maxRows || m.Revision == 0 {
			return r, errCodec
		}
		before = m.ID
	}
	return r, nil
}

func (r *release) len() int { return len(r.records) / releasedBytes }

// record returns the ith record.
func (r *release) record(i int) (m store.Released) {
	b := r.records[i*releasedBytes:][:releasedBytes]
	m.ID = claimdlq.ID(binary.LittleEndian.Uint32(b))
	m.Revision = binary.LittleEndian.Uint32(b[4:])
	m.Bytes = binary.LittleEndian.Uint32(b[8:])
	copy(m.Digest[:], b[12:28])
	m.NotBefore = dueTime(int64(binary.LittleEndian.Uint64(b[28:]) + earliest))
	return m
}

// submission returns the submission of the ith record, as it was made.
func (r *release) submission(i int) claimdlq.Submission {
	one := store.Release{At: r.at, Partner: r.partner, Stream: r.stream, Bulk: r.bulk, Records: []store.Released{r.record(i)}}
	s := one.Submission(0)
	s.ID = r.sub + claimdlq.SubmissionID(i)
	return s
}

// of returns the place of a submission among the records.
func (r *release) of(id claimdlq.SubmissionID) (i int, ok bool) {
	return int(id - r.sub), id >= r.sub && id < r.sub+claimdlq.SubmissionID(r.len())
}
