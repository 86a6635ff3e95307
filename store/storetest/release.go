package storetest

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"claimdlq"
	"claimdlq/store"
)

// dead is the nth test record as a pharmacy claim in quarantine.
func dead(n int) claimdlq.Record {
	r := pharmacy(bad(n))
	r.ReceiveCount, r.AttemptCount, r.Submission = 5, 5, 9
	return r
}

// releaseOf is a release of the records as they are.
func releaseOf(n int, rs ...claimdlq.Record) store.Release {
	l := store.Release{At: at(n), RuleVersion: "v9", Partner: rs[0].Partner, Stream: rs[0].Stream, Bulk: true}
	for i, r := range rs {
		l.Records = append(l.Records, store.Released{
			ID: r.ID, Revision: r.Revision, Bytes: uint32(400 + i), Digest: claimdlq.Digest{7, byte(i)}, NotBefore: at(n + i),
		})
	}
	return l
}

var releaseRules = []rule{
	{"a release is the replay of each record, with a submission of its own", func(t *testing.T, s store.Store) {
		rs := insert(t, s, dead(1), dead(2), dead(3))
		commit(t, s, store.Batch{NewSubmissions: []claimdlq.Submission{submission(1, one(rs[0].ID))}})
		l := releaseOf(9, rs[0], rs[2])
		set := claimdlq.NewIDSet(slices.Values([]claimdlq.ID{rs[0].ID, rs[2].ID}))
		receipt := commit(t, s, store.Batch{
			NewSubmissions: []claimdlq.Submission{submission(2, one(rs[1].ID))}, Releases: []store.Release{l},
			Entries: []claimdlq.Entry{{At: at(9), Actor: "ANALYST", Action: claimdlq.ActReplay, Records: set}},
		})
		if len(receipt.Submissions) != 1 || receipt.Submissions[0] != 2 || !receipt.Proof.Valid() {
			t.Fatalf("receipt is %+v", receipt)
		}
		for i, prev := range []claimdlq.Record{rs[0], rs[2]} {
			want, err := l.Record(i, prev)
			if err != nil {
				t.Fatal(err)
			}
			want.Revision++
			equal(t, "record", get(t, s, prev.ID), want)
			sub := l.Submission(i)
			sub.ID = claimdlq.SubmissionID(3 + i)
			got, err := s.Submission(t.Context(), sub.ID)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "submission", got, sub)
		}
		equal(t, "the other record", get(t, s, rs[1].ID), rs[1])
		due, err := s.Due(t.Context(), store.DueQuery{State: claimdlq.SubmissionReady, Now: at(9), Limit: 10})
		if err != nil || len(due) != 3 { // the second is due a second later
			t.Fatalf("%d are due, %v", len(due), err)
		}
		if es := entriesFrom(t, s, 1); len(es) != 1 || !es[0].About(rs[0].ID) || es[0].About(rs[1].ID) || !es[0].About(rs[2].ID) {
			t.Fatalf("entries are %+v", es)
		}
		if st := stats(t, s); st.Records[claimdlq.StateQueued] != 2 || st.Records[claimdlq.StateQuarantined] != 1 || st.Difference() != 0 {
			t.Fatalf("the store counts %+v", st)
		}
	}},
	{"what was released goes on", func(t *testing.T, s store.Store) {
		rs := insert(t, s, dead(1), dead(2))
		commit(t, s, store.Batch{Releases: []store.Release{releaseOf(9, rs...)}})
		r := get(t, s, rs[1].ID)
		n, err := r.Lease(2, at(12))
		n = update(t, s, n, err)
		if n.AttemptCount != 6 || n.ReceiveCount != 1 || n.ReplayCount != 1 || n.Revision != 3 {
			t.Fatalf("the record is %+v", n)
		}
		sub, err := s.Submission(t.Context(), 2)
		if err != nil {
			t.Fatal(err)
		}
		sub.State = claimdlq.SubmissionDead
		commit(t, s, store.Batch{Submissions: []claimdlq.Submission{sub}})
		refused(t, s, store.Batch{Submissions: []claimdlq.Submission{sub}}, claimdlq.Conflict)
		equal(t, "the other record", get(t, s, rs[0].ID).State, claimdlq.StateQueued)
	}},
	{"a record that has moved on is not released", func(t *testing.T, s store.Store) {
		rs := insert(t, s, dead(1), dead(2))
		l := releaseOf(9, rs...)
		commit(t, s, store.Batch{Releases: []store.Release{releaseOf(8, rs[0])}})
		refused(t, s, store.Batch{Releases: []store.Release{l}}, claimdlq.Conflict)
		refused(t, s, store.Batch{Releases: []store.Release{releaseOf(9, rs[1]), releaseOf(9, rs[1])}}, claimdlq.Conflict)
		n, err := rs[1].Park(claimdlq.Expired, at(9))
		if err != nil {
			t.Fatal(err)
		}
		refused(t, s, store.Batch{Update: []claimdlq.Record{n}, Releases: []store.Release{releaseOf(9, rs[1])}}, claimdlq.Conflict)
		equal(t, "record", get(t, s, rs[1].ID), rs[1])
	}},
	{"only what is quarantined is released, of one partner and stream", func(t *testing.T, s store.Store) {
		other := dead(2)
		other.Partner = "610001:TESTPCN"
		queued := placedAs(t, s, pharmacy(set(3)), claimdlq.StateQueued)
		settled := placedAs(t, s, pharmacy(set(4)), claimdlq.StateSettled)
		rs := insert(t, s, dead(1), other)
		for _, list := range [][]claimdlq.Record{rs, {queued}, {settled}, {rs[1], rs[0]}, {rs[0], rs[0]}} {
			refused(t, s, store.Batch{Releases: []store.Release{releaseOf(9, list...)}}, claimdlq.Refused)
		}
		l := releaseOf(9, rs[0])
		l.Stream = claimdlq.StreamX12
		refused(t, s, store.Batch{Releases: []store.Release{l}}, claimdlq.Refused)
		l.Records = nil
		refused(t, s, store.Batch{Releases: []store.Release{l}}, claimdlq.Refused)
		l = releaseOf(9, rs[0])
		for _, id := range []claimdlq.ID{0, 99, 1 << 40} {
			l.Records[0].ID = id
			refused(t, s, store.Batch{Releases: []store.Release{l}}, claimdlq.NotFound)
		}
	}},
	{"an entry's records are a set, and it has no other", func(t *testing.T, s store.Store) {
		for _, set := range []claimdlq.IDSet{"x", "2-1", "1,2", "5,3", "1,", "01"} {
			refused(t, s, store.Batch{Entries: []claimdlq.Entry{{At: at(1), Actor: "A", Action: claimdlq.ActReplay, Records: set}}}, claimdlq.Refused)
		}
		refused(t, s, store.Batch{Entries: []claimdlq.Entry{{At: at(1), Actor: "A", Action: claimdlq.ActReplay, Record: 1, Records: "1"}}}, claimdlq.Refused)
	}},
}

// release releases some of the model's records of one partner together.
func (m *machine) release(rt *rapid.T) {
	var l store.Release
	for _, r := range m.all(rt) {
		fits := len(l.Records) == 0 || (r.Partner == l.Partner && r.Stream == l.Stream)
		odd := rapid.IntRange(0, 19).Draw(rt, "odd") == 0
		if !odd && (r.State != claimdlq.StateQuarantined || !fits) {
			continue
		}
		if len(l.Records) == 0 {
			l = store.Release{At: m.now(), RuleVersion: "v3", Partner: r.Partner, Stream: r.Stream, Bulk: rapid.Bool().Draw(rt, "bulk")}
		}
		one := store.Released{ID: r.ID, Revision: r.Revision, Digest: r.Digest, Bytes: uint32(m.clock)}
		if rapid.Bool().Draw(rt, "waits") {
			one.NotBefore = at(m.clock + rapid.IntRange(-5, 5).Draw(rt, "wait"))
		}
		l.Records = append(l.Records, one)
	}
	b := store.Batch{Releases: []store.Release{l}}
	if n := len(l.Records); n > 1 && rapid.Bool().Draw(rt, "parts") {
		rest := l
		l.Records, rest.Records = l.Records[:n/2], l.Records[n/2:]
		b.Releases = []store.Release{l, rest}
	}
	for i := range b.Releases {
		ids := make([]claimdlq.ID, 0, len(b.Releases[i].Records))
		for _, r := range b.Releases[i].Records {
			ids = append(ids, r.ID)
		}
		b.Entries = append(b.Entries, claimdlq.Entry{At: m.now(), Actor: "TEST", Action: claimdlq.ActReplay, Records: claimdlq.NewIDSet(slices.Values(ids))})
	}
	if rapid.IntRange(0, 3).Draw(rt, "and") == 0 {
		b.NewSubmissions = append(b.NewSubmissions, submission(rapid.IntRange(1, 5).Draw(rt, "isa13"), one(m.pick(rt).ID)))
	}
	m.commit(rt, b)
}
