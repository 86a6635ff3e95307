package filestore_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"claimdlq"
	"claimdlq/store"
)

// dump is all that can be read from a store, as text.
func dump(t testing.TB, s store.Store, prints int) string {
	t.Helper()
	ctx := context.Background()
	var b strings.Builder
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("dump: %v", err)
		}
	}
	top := claimdlq.ID(0)
	for {
		page, err := s.List(ctx, store.Filter{}, top, 37)
		must(err)
		if len(page) == 0 {
			break
		}
		for _, r := range page {
			top = r.ID
			got, err := s.Get(ctx, r.ID)
			must(err)
			found, err := s.Find(ctx, r.Key)
			must(err)
			fmt.Fprintf(&b, "record %+v get %v find %v\n", r, got == r, found == r)
		}
	}
	for _, f := range filters() {
		page, err := s.List(ctx, f, 0, 10)
		must(err)
		for _, r := range page {
			fmt.Fprintf(&b, "list %+v: %d\n", f, r.ID)
		}
		groups, err := s.Groups(ctx, f, 100)
		must(err)
		fmt.Fprintf(&b, "groups %+v\n", groups)
	}
	for n := range 400 {
		refs := []claimdlq.Ref{claimdlq.DisplayRef(fmt.Sprintf("%09d:0001", n)), claimdlq.Ref(n), claimdlq.ParentRef(claimdlq.ID(n))}
		for _, ref := range refs {
			rs, err := s.Lookup(ctx, ref, 5)
			must(err)
			for _, r := range rs {
				fmt.Fprintf(&b, "lookup %d: %d at %d\n", n, r.ID, r.Revision)
			}
		}
	}
	st, err := s.Stats(ctx)
	must(err)
	fmt.Fprintf(&b, "stats %+v\n", st)
	for id := claimdlq.SubmissionID(1); ; id++ {
		sub, err := s.Submission(ctx, id)
		if err != nil {
			break
		}
		fmt.Fprintf(&b, "submission %+v\n", sub)
	}
	for state := claimdlq.SubmissionReady; state <= claimdlq.SubmissionDead; state++ {
		subs, err := s.Due(ctx, store.DueQuery{State: state, Now: at(20), Limit: 1000})
		must(err)
		for _, sub := range subs {
			fmt.Fprintf(&b, "due %v: %d\n", state, sub.ID)
		}
	}
	must(s.Entries(ctx, 1, func(e claimdlq.Entry) bool {
		fmt.Fprintf(&b, "entry %+v\n", e)
		return true
	}))
	for i := range prints {
		ids, err := s.Seen(ctx, []claimdlq.Key{key(1_000_000 + i)})
		must(err)
		fmt.Fprintf(&b, "seen %d: %d\n", i, ids[0])
	}
	return b.String()
}

func filters() []store.Filter {
	ack := claimdlq.FormatAck
	out := []store.Filter{
		{Reason: claimdlq.SemanticReject},
		{Partner: "ZZ:TESTPAYER1"},
		{Stream: "837"},
		{Stream: "none"},
		{Format: &ack},
		{Detail: claimdlq.NewDetail("STC:A7:562")},
		{Older: at(100)},
		{State: claimdlq.StateQuarantined, Older: at(50), Partner: "ZZ:TESTPAYER2"},
		{State: claimdlq.StateQuarantined, Reason: claimdlq.FatalSyntax, Partner: "ZZ:TESTPAYER0", Detail: claimdlq.NewDetail("IK4:SV102:2")},
	}
	for _, state := range claimdlq.States {
		out = append(out, store.Filter{State: state})
	}
	return out
}

// differ fails where two dumps are not the same, with the first line that differs.
func differ(t testing.TB, what, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			t.Fatalf("%s: line %d is\n%s\nwant\n%s", what, i, g[i], w[i])
		}
	}
	t.Fatalf("%s: %d lines, want %d", what, len(g), len(w))
}
