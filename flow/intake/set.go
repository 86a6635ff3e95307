package intake

import (
	"strings"
	"time"

	"claimdlq"
	"claimdlq/flow/lineage"
	"claimdlq/phi"
	"claimdlq/wire/x12"
)

// setReader gathers the bytes of the set being read: its unit is ISA and GS, as
// they came, and ST to SE.
type setReader struct {
	digests digests
	unit    unit
	parts   bool
	buf     []byte // of sets that came in one piece, reused
}

func (s *setReader) abort() { s.unit.abort(); s.digests, s.parts = nil, false }

// begin starts the digest. The usage indicator is in it: a test file and the
// production file after it may bear the same numbers.
func (s *setReader) begin(f *file) {
	if s.digests == nil {
		s.digests = newDigests(f.ids)
		s.digests.add([]byte(f.x.start.Envelope.Usage))
	}
}

func (s *setReader) part(f *file, b []byte) error {
	f.x.inGroup()
	s.begin(f)
	s.digests.add(b)
	if !s.parts {
		s.parts = true
		if err := s.unit.add(f.o.Vault, append(append(s.buf[:0], f.x.isa...), f.x.group.raw...)); err != nil {
			return err
		}
	}
	return s.unit.add(f.o.Vault, b)
}

// stage seals the set's unit.
func (s *setReader) stage(f *file, raw []byte) (claimdlq.PayloadRef, error) {
	if s.parts {
		if err := s.unit.add(f.o.Vault, raw); err != nil {
			return claimdlq.PayloadRef{}, err
		}
		return s.unit.stage(f.o.Vault, f.claims.basis.Seal())
	}
	s.buf = append(append(append(s.buf[:0], f.x.isa...), f.x.group.raw...), raw...)
	return f.o.Vault.StageWith(phi.Wrap(s.buf), f.claims.basis.Seal())
}

// addSet takes one transaction set in: recognised, judged, sealed, and put into
// the batch.
func (f *file) addSet(e *x12.Set) error {
	defer f.set.abort()
	defer f.claims.reset()
	f.x.inGroup()
	f.set.begin(f)
	f.set.digests.add(e.Raw)
	f.result.TransactionSets++
	f.x.group.sets++
	count := int64(max(1, e.Claims))
	f.result.Claims += count
	id := f.setIdentity(e)
	if f.batch.keys[id.keys[0]] { // twice in one file: let the first be seen
		if err := f.flush(); err != nil {
			return err
		}
	}
	old, err := f.known(id)
	if err != nil {
		return err
	}
	conflict := old.status == differs
	for old.status == differs || old.status == same && f.dead.doubts() && forgets(old.record) {
		if old.status == same {
			if err := f.partedAgain(old.record); err != nil {
				return err
			}
		}
		id = f.apart(id)
		if old, err = f.known(id); err != nil {
			return err
		}
	}
	if old.status == same {
		return f.again(old.record, count)
	}
	r := f.setRecord(e)
	if r.Payload, err = f.set.stage(f, e.Raw); err != nil {
		return err
	}
	f.batch.bytes += r.Payload.Length
	r.Key, r.Digest = id.keys[0], id.digests[0]
	f.batch.keys[r.Key] = true
	if conflict && !f.dead.doubts() {
		f.batch.add(pending{record: parked(r, lineage.KeyConflict, f.now()), action: claimdlq.ActConflict, group: f.x.group}, 0)
	} else if err := f.judgeSet(e, r); err != nil {
		return err
	}
	return f.flushIfFull()
}

// parked returns the new record as a copy of one that is there: a person must say
// which of the two is meant, or what became of the other.
func parked(r claimdlq.Record, why claimdlq.Detail, now time.Time) claimdlq.Record {
	r.State, r.Reason, r.Class = claimdlq.StateParked, claimdlq.FatalSyntax, claimdlq.Poison
	if why == lineage.EarlierInDoubt {
		r.Reason, r.Class = claimdlq.SemanticReject, claimdlq.Terminal
	}
	r.Hold, r.Detail, r.FirstFailedAt = claimdlq.HoldNone, why, now
	return r
}

// setIdentity is the full source identity of a set (X12.5 section 5.1.2): control
// numbers alone repeat between senders, and ST02 between groups.
func (f *file) setIdentity(e *x12.Set) identity {
	env, g := f.x.start.Envelope, f.x.group
	return f.identify("x12/set", f.set.digests.sums(),
		[]byte(env.SenderQualifier), []byte(env.Sender), []byte(env.ReceiverQualifier), []byte(env.Receiver),
		[]byte(f.x.start.ISA13), []byte(env.Date), []byte(env.Time),
		[]byte(g.start.Sender), []byte(g.start.Receiver), []byte(g.start.Control), []byte(e.ST02), nil)
}

func (f *file) setRecord(e *x12.Set) claimdlq.Record {
	r := f.blank(claimdlq.ScopeTransaction, e.Format)
	f.x.stamp(&r)
	g := f.x.group.start
	r.GroupID, r.TransactionID = tidy(g.Control, 9), tidy(e.ST02, 9)
	if len(e.BHT03) > 0 {
		r.Batch = f.ids[0].Ref("batch", e.BHT03, []byte(g.Sender), []byte(g.Receiver))
	}
	r.Claims, r.AmountCents = uint32(max(1, e.Claims)), e.AmountCents
	return r
}

// tidy returns a control number or id as it may stand in a record: an envelope
// that is broken could hold anything in its place.
func tidy(s string, limit int) string {
	s = strings.TrimSpace(s)
	if len(s) > limit {
		return "INVALID"
	}
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c > '~' || c == '|' {
			return "INVALID"
		}
	}
	return s
}
