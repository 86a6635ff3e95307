package filestore

import (
	"claimdlq"
	"claimdlq/store"
)

// Replayed returns how many changes opening the store has replayed, if none has
// been committed since.
func Replayed(s *Store) int64 { return s.changes.Load() }

// The codec, for its golden files and fuzz tests.
var (
	DecodeRecord     = decodeRecord
	DecodeSubmission = decodeSubmission
	DecodeSending    = decodeSending
	DecodeEntry      = decodeEntry
)

// EncodeRecord, EncodeSubmission and EncodeEntry encode as the journal has it.
func EncodeRecord(r claimdlq.Record) []byte { b, _ := appendRecord(nil, &r); return b }

func EncodeSubmission(s claimdlq.Submission) []byte { return appendSubmission(nil, &s, nil) }

func EncodeEntry(e claimdlq.Entry) []byte { return appendEntry(nil, &e) }

// FrameOffsets returns where the frames of a chunk file begin.
func FrameOffsets(chunkFile []byte) (offs []int) {
	h, ok := decodeChunkHead(chunkFile)
	if !ok {
		return nil
	}
	for off := chunkHeader; ; {
		f, ok := parseHeader(chunkFile[off:], h.base+int64(off))
		if !ok {
			return offs
		}
		offs = append(offs, off)
		off += padded(f.length)
	}
}

// EncodeRelease encodes a release as the journal has it, its first submission the 7th.
func EncodeRelease(r *store.Release) []byte {
	b := appendRelease(nil, r)
	copy(b[1:], put64(nil, 7))
	return b
}

// Released is what a release's encoding says.
type Released struct {
	store.Release

	First claimdlq.SubmissionID
}

// DecodeRelease decodes a release.
func DecodeRelease(b []byte) (Released, error) {
	r, err := decodeRelease(b)
	out := Released{store.Release{At: r.at, RuleVersion: r.rule, Partner: r.partner, Stream: r.stream, Bulk: r.bulk}, r.sub}
	for i := range r.len() {
		out.Records = append(out.Records, r.record(i))
	}
	return out, err
}
