package memstore

import (
	"sync"

	"claimdlq"
	"claimdlq/store"
)

// maxControl is the largest X12 control number: nine digits (ISA13, N0 9/9).
const maxControl = 999_999_999

// Store implements store.Store in memory.
type Store struct {
	mu sync.Mutex

	records     []claimdlq.Record     // records[i] has id i+1
	submissions []claimdlq.Submission // submissions[i] has id i+1

	byKey        map[claimdlq.Key]claimdlq.ID
	byRef        map[claimdlq.Ref][]claimdlq.ID           // candidates: reading checks them
	bySubmission map[claimdlq.Ref][]claimdlq.SubmissionID // likewise
	seen         map[claimdlq.Key]claimdlq.ID             // by fingerprint, the first record that carried it

	received int64
	entries  []claimdlq.Entry  // those not dropped yet, in order of Seq
	lastSeq  uint64            // of the newest entry ever
	control  map[string]uint32 // last number given, by lane
}

var _ store.Store = (*Store)(nil)

// New returns an empty store.
func New() *Store {
	return &Store{
		byKey:        map[claimdlq.Key]claimdlq.ID{},
		byRef:        map[claimdlq.Ref][]claimdlq.ID{},
		bySubmission: map[claimdlq.Ref][]claimdlq.SubmissionID{},
		seen:         map[claimdlq.Key]claimdlq.ID{},
		control:      map[string]uint32{},
	}
}

// Close implements store.Store; there is nothing to stop.
func (*Store) Close() error { return nil }

func failure(code claimdlq.Code, op, on string) error {
	return &claimdlq.Error{Code: code, Op: op, On: on}
}
