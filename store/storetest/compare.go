package storetest

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"pgregory.net/rapid"

	"claimdlq"
	"claimdlq/store"
)

// both reads the same from the model and from the tested store.
func both[T any](rt *rapid.T, m *machine, what string, read func(store.Store) (T, error)) T {
	want, wantErr := read(m.model)
	got, gotErr := read(m.tested)
	if codeOf(gotErr) != codeOf(wantErr) {
		rt.Fatalf("%s: %v, the model says %v", what, gotErr, wantErr)
	}
	equal(rt, what, got, want)
	return want
}

// compare reads everything that can be read.
func (m *machine) compare(rt *rapid.T) {
	ctx := context.Background()
	rs := both(rt, m, "list", func(s store.Store) ([]claimdlq.Record, error) { return s.List(ctx, store.Filter{}, 0, 1<<20) })
	for _, r := range rs {
		both(rt, m, "get", func(s store.Store) (claimdlq.Record, error) { return s.Get(ctx, r.ID) })
		both(rt, m, "find", func(s store.Store) (claimdlq.Record, error) { return s.Find(ctx, r.Key) })
	}
	m.comparePages(rt, rs)
	both(rt, m, "stats", func(s store.Store) (store.Stats, error) {
		st, err := s.Stats(ctx)
		for _, counts := range []map[claimdlq.State]int64{st.ByState, st.Records} {
			maps.DeleteFunc(counts, func(_ claimdlq.State, n int64) bool { return n == 0 })
		}
		return st, err
	})
	both(rt, m, "entries", func(s store.Store) (es []claimdlq.Entry, err error) {
		err = s.Entries(ctx, m.audited+1, func(e claimdlq.Entry) bool {
			es = append(es, e)
			return true
		})
		return es, err
	})
	m.compareQueries(rt)
	m.compareSubmissions(rt)
}

// comparePages reads many at a time, into memory that held others: some that are there, in
// any order and more than once, and at times one that is not.
func (m *machine) comparePages(rt *rapid.T, rs []claimdlq.Record) {
	ctx, n := context.Background(), len(rs)
	page := rapid.SliceOfN(rapid.IntRange(1, max(1, n)), 0, 2*n).Draw(rt, "page")
	if rapid.IntRange(0, 9).Draw(rt, "a stranger") == 0 {
		page = append(page, n+rapid.IntRange(1, 3).Draw(rt, "beyond"))
	}
	both(rt, m, "records", func(s store.Store) ([]claimdlq.Record, error) {
		var ids []claimdlq.ID
		for _, i := range page {
			ids = append(ids, claimdlq.ID(i))
		}
		used := slices.Clone(rs)
		return s.Records(ctx, ids, used[:min(1, n)])
	})
	sent := 0
	for ; ; sent++ {
		if _, err := m.model.Submission(ctx, claimdlq.SubmissionID(sent+1)); err != nil {
			break
		}
	}
	both(rt, m, "sendings", func(s store.Store) ([]store.Sending, error) {
		var ids []claimdlq.SubmissionID
		for _, i := range page {
			if i > n {
				i += sent
			} else if i = i % (sent + 1); i == 0 {
				continue
			}
			ids = append(ids, claimdlq.SubmissionID(i))
		}
		return s.Sendings(ctx, ids, nil)
	})
}

// compareQueries asks with a random filter, page, look-up value and fingerprints.
func (m *machine) compareQueries(rt *rapid.T) {
	ctx := context.Background()
	f := m.filter(rt)
	before := claimdlq.ID(rapid.IntRange(0, 30).Draw(rt, "before"))
	limit := rapid.SampledFrom([]int{0, 1, 3, 100}).Draw(rt, "limit")
	both(rt, m, "page", func(s store.Store) ([]claimdlq.Record, error) { return s.List(ctx, f, before, limit) })
	both(rt, m, "ids", func(s store.Store) ([]claimdlq.ID, error) { return s.IDs(ctx, f, before, limit) })
	both(rt, m, "groups", func(s store.Store) ([]store.Group, error) {
		gs, err := s.Groups(ctx, f, 1<<20)
		if !slices.IsSortedFunc(gs, func(a, b store.Group) int { return cmp.Compare(b.Records, a.Records) }) {
			rt.Fatalf("groups are not in order of size: %v", gs)
		}
		slices.SortFunc(gs, func(a, b store.Group) int {
			return cmp.Or(cmp.Compare(a.State, b.State), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Detail.String(), b.Detail.String()),
				cmp.Compare(a.Partner, b.Partner), cmp.Compare(a.Stream, b.Stream))
		})
		return gs, err
	})
	refs := []claimdlq.Ref{
		claimdlq.DisplayRef("000000001:0001"), claimdlq.DisplayRef("000000002:0001"), 1, 2,
		claimdlq.ParentRef(claimdlq.ID(rapid.IntRange(1, 30).Draw(rt, "parent"))),
	}
	for _, ref := range refs {
		both(rt, m, "look-up", func(s store.Store) ([]claimdlq.Record, error) { return s.Lookup(ctx, ref, max(1, limit)) })
	}
	m.compareSole(rt, refs)
	var fps []claimdlq.Key
	for n := range 21 {
		fps = append(fps, testKey(1000+n))
	}
	both(rt, m, "seen", func(s store.Store) ([]bool, error) { // which record is open
		ids, err := s.Seen(ctx, fps)
		var carried []bool
		for _, id := range ids {
			carried = append(carried, id != 0)
		}
		return carried, err
	})
}

func (m *machine) filter(rt *rapid.T) store.Filter {
	var f store.Filter
	if rapid.Bool().Draw(rt, "by state") {
		f.State = rapid.SampledFrom(claimdlq.States).Draw(rt, "state")
	}
	if rapid.IntRange(0, 3).Draw(rt, "by reason") == 0 {
		f.Reason = rapid.SampledFrom(claimdlq.Reasons).Draw(rt, "reason")
	}
	if rapid.IntRange(0, 3).Draw(rt, "by detail") == 0 {
		f.Detail = detail(rapid.SampledFrom([]string{"IK4:SV102:2", "HTTP_503"}).Draw(rt, "detail"))
	}
	if rapid.IntRange(0, 3).Draw(rt, "by partner") == 0 {
		f.Partner = "ZZ:OTHERPAYER"
	}
	if rapid.IntRange(0, 3).Draw(rt, "by stream") == 0 {
		f.Stream = rapid.SampledFrom(claimdlq.Streams).Draw(rt, "stream")
	}
	if rapid.IntRange(0, 3).Draw(rt, "by format") == 0 {
		format := claimdlq.FormatAck
		f.Format = &format
	}
	if rapid.IntRange(0, 3).Draw(rt, "by age") == 0 {
		f.Older = at(rapid.IntRange(0, m.clock).Draw(rt, "older"))
	}
	return f
}

func (m *machine) compareSubmissions(rt *rapid.T) {
	ctx := context.Background()
	now := at(m.clock + rapid.IntRange(-5, 5).Draw(rt, "at"))
	limit := rapid.SampledFrom([]int{1, 100}).Draw(rt, "due limit")
	after := claimdlq.SubmissionID(rapid.IntRange(0, 8).Draw(rt, "after"))
	hidden := rapid.SliceOfN(rapid.Bool(), 3, 3).Draw(rt, "hidden") // bulk; of one partner; of one stream
	skip := func(q claimdlq.Queue) bool {
		return hidden[0] && q.Bulk || hidden[1] && q.Partner == "ZZ:OTHERPAYER" || hidden[2] && q.Stream == claimdlq.StreamNCPDP
	}
	for state := claimdlq.SubmissionReady; state <= claimdlq.SubmissionDead; state++ {
		both(rt, m, "due", func(s store.Store) ([]claimdlq.Submission, error) {
			return s.Due(ctx, store.DueQuery{State: state, Now: now, Limit: limit})
		})
		both(rt, m, "due of some queues", func(s store.Store) ([]claimdlq.Submission, error) {
			return s.Due(ctx, store.DueQuery{State: state, Now: now, Limit: limit, After: after, Skip: skip})
		})
	}
	env := submission(1).Envelope
	for n := range uint32(6) {
		both(rt, m, "by interchange", func(s store.Store) ([]claimdlq.Submission, error) {
			return s.FindSubmissions(ctx, store.InterchangeRef(env, n), limit)
		})
		both(rt, m, "by group", func(s store.Store) ([]claimdlq.Submission, error) {
			return s.FindSubmissions(ctx, store.GroupRef("TESTAPP", "PAYERAPP", n), limit)
		})
	}
}

// compareSole holds what is said to be alone against what is found: a record that is not
// alone must never be taken for one that is.
func (m *machine) compareSole(rt *rapid.T, refs []claimdlq.Ref) {
	ids, err := m.tested.Sole(context.Background(), append(refs, 0))
	if err != nil || len(ids) != len(refs)+1 || ids[len(refs)] != 0 {
		rt.Fatalf("sole: %v, %v", ids, err)
	}
	for i, ref := range refs {
		rs, err := m.model.Lookup(context.Background(), ref, 2)
		if err != nil {
			rt.Fatalf("look-up: %v", err)
		}
		if ids[i] != 0 && len(rs) > 0 && (len(rs) > 1 || rs[0].ID != ids[i]) {
			rt.Fatalf("record %d is said to be alone, there are %d", ids[i], len(rs))
		}
	}
}
