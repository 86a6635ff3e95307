package storetest

import (
	"context"
	"errors"
	"time"

	"pgregory.net/rapid"

	"claimdlq"
	"claimdlq/store"
	"claimdlq/store/memstore"
)

// machine does the same to the model and to the tested store.
type machine struct {
	model   *memstore.Store
	tested  store.Store
	clock   int // seconds since epoch, grows with each step
	entries uint64
	audited uint64
}

func (m *machine) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"intake":             m.intake,
		"step":               m.step,
		"steps in one batch": m.steps,
		"any update":         m.anyUpdate,
		"part":               m.part,
		"submission":         m.moveSubmission,
		"replay":             m.replay,
		"release":            m.release,
		"control":            m.control,
		"audited":            m.audit,
		"":                   m.compare,
	}
}

func (m *machine) now() time.Time {
	m.clock++
	return at(m.clock)
}

// commit commits the batch to both and compares what they say.
func (m *machine) commit(rt *rapid.T, b store.Batch) store.Receipt {
	want, wantErr := m.model.Commit(context.Background(), b)
	got, gotErr := m.tested.Commit(context.Background(), b)
	if code := codeOf(wantErr); code != codeOf(gotErr) {
		rt.Fatalf("commit: %v, the model says %v", gotErr, wantErr)
	}
	equal(rt, "receipt", got, want)
	if _, last := want.Proof.Range(); want.Proof.Valid() {
		m.entries = last
	}
	return want
}

func codeOf(err error) claimdlq.Code {
	if e, ok := errors.AsType[*claimdlq.Error](err); ok {
		return e.Code
	}
	if err != nil {
		return claimdlq.Code("without a code: " + err.Error())
	}
	return ""
}

// all returns the model's records, oldest first.
func (m *machine) all(rt *rapid.T) []claimdlq.Record {
	rs := list(rt, m.model, store.Filter{}, 0, 1<<30)
	for i, j := 0, len(rs)-1; i < j; i, j = i+1, j-1 {
		rs[i], rs[j] = rs[j], rs[i]
	}
	return rs
}

// pick returns one of the model's records.
func (m *machine) pick(rt *rapid.T) claimdlq.Record {
	rs := m.all(rt)
	if len(rs) == 0 {
		rt.Skip("no record yet")
	}
	return rapid.SampledFrom(rs).Draw(rt, "record")
}

// intake inserts sets, some known, some changed, some with claims that part at
// once, with entries, fingerprints and a submission of them.
func (m *machine) intake(rt *rapid.T) {
	var b store.Batch
	for range rapid.IntRange(1, 4).Draw(rt, "sets") {
		r := m.drawn(rt)
		parent := len(b.Insert)
		b.Insert = append(b.Insert, r)
		for range r.Parted {
			b.Insert = append(b.Insert, m.drawnChild(rt, store.ParentIndex(parent)))
		}
	}
	for i := range b.Insert {
		if rapid.Bool().Draw(rt, "entry") {
			b.Entries = append(b.Entries, entry(claimdlq.ActReceive, store.ParentIndex(i)))
		}
		if rapid.Bool().Draw(rt, "fingerprint") {
			k := testKey(1000 + rapid.IntRange(0, 20).Draw(rt, "claim"))
			b.Fingerprints = append(b.Fingerprints, store.Fingerprint{Key: k, Record: store.ParentIndex(i)})
		}
	}
	if rapid.Bool().Draw(rt, "submission") {
		first := rapid.IntRange(0, len(b.Insert)-1).Draw(rt, "first")
		last := rapid.IntRange(first, len(b.Insert)-1).Draw(rt, "last")
		s := submission(rapid.IntRange(1, 5).Draw(rt, "isa13"), claimdlq.IDRange{First: store.ParentIndex(first), Last: store.ParentIndex(last)})
		s.NotBefore = at(m.clock + rapid.IntRange(-5, 5).Draw(rt, "wait"))
		s.Partner, s.Stream = b.Insert[first].Partner, b.Insert[first].Stream
		if s.Stream == claimdlq.StreamNCPDP { // a transmission has no numbers
			s.Envelope, s.ISA13, s.Groups = claimdlq.Envelope{}, 0, nil
		}
		b.NewSubmissions = append(b.NewSubmissions, s)
	}
	m.commit(rt, b)
}

func (m *machine) drawn(rt *rapid.T) claimdlq.Record {
	n := rapid.IntRange(1, 25).Draw(rt, "key")
	r := set(n)
	if rapid.Bool().Draw(rt, "bad") {
		r = bad(n)
		r.Reason = rapid.SampledFrom(claimdlq.Reasons).Draw(rt, "reason")
	}
	r.Digest[0] = byte(rapid.IntRange(1, 2).Draw(rt, "digest"))
	r.InterchangeID = rapid.SampledFrom([]string{"000000001", "000000002"}).Draw(rt, "isa13")
	r.Partner = rapid.SampledFrom([]string{"ZZ:TESTPAYER", "ZZ:OTHERPAYER"}).Draw(rt, "partner")
	r.Batch = claimdlq.Ref(rapid.IntRange(0, 3).Draw(rt, "batch"))
	if rapid.Bool().Draw(rt, "pharmacy") {
		r.Stream, r.Format = claimdlq.StreamNCPDP, claimdlq.FormatNCPDP
	}
	r.Claims = uint32(rapid.IntRange(0, 9).Draw(rt, "claims"))
	r.Parted = uint32(rapid.IntRange(0, 2).Draw(rt, "parted"))
	r.CreatedAt, r.UpdatedAt = m.now(), m.now()
	if !r.FirstFailedAt.IsZero() {
		r.FirstFailedAt = r.CreatedAt
	}
	if rapid.IntRange(0, 5).Draw(rt, "kind") == 0 {
		a := ack(n)
		a.Digest, a.State, a.CreatedAt = r.Digest, r.State, r.CreatedAt
		return a
	}
	return r
}

func (m *machine) drawnChild(rt *rapid.T, parent claimdlq.ID) claimdlq.Record {
	r := childOf(parent, 100+rapid.IntRange(0, 200).Draw(rt, "child"))
	r.CreatedAt, r.FirstFailedAt = m.now(), m.now()
	return r
}

func (m *machine) control(rt *rapid.T) {
	lane := rapid.SampledFrom([]string{"ZZ:A>ZZ:B", "ZZ:A>ZZ:C"}).Draw(rt, "lane")
	n := rapid.OneOf(rapid.IntRange(0, 3), rapid.SampledFrom([]int{499_999_999, 1_000_000_000})).Draw(rt, "n")
	want, wantErr := m.model.NextControl(context.Background(), lane, n)
	got, gotErr := m.tested.NextControl(context.Background(), lane, n)
	if got != want || codeOf(gotErr) != codeOf(wantErr) {
		rt.Fatalf("control number %d, %v, the model says %d, %v", got, gotErr, want, wantErr)
	}
}

func (m *machine) audit(rt *rapid.T) {
	to := rapid.Uint64Range(0, m.entries).Draw(rt, "to")
	m.audited = max(m.audited, to)
	for _, s := range []store.Store{m.model, m.tested} {
		if err := s.AuditedTo(context.Background(), to); err != nil {
			rt.Fatalf("audited to %d: %v", to, err)
		}
	}
}
