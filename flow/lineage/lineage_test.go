package lineage_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"claimdlq"
	"claimdlq/flow/lineage"
	"claimdlq/store"
	"claimdlq/store/memstore"
)

func identity(term uint32) *claimdlq.Identity {
	return claimdlq.NewIdentity(term, bytes.Repeat([]byte{byte(term)}, 32))
}

func TestFingerprint_HowThePartsAreCutMatters(t *testing.T) { // F3
	t.Parallel()
	id := identity(1)
	one, _ := lineage.Fingerprint(id, [][]byte{[]byte("1"), []byte("23")}, nil)
	two, _ := lineage.Fingerprint(id, [][]byte{[]byte("12"), []byte("3")}, nil)
	if one == two {
		t.Error("two claims have one fingerprint")
	}
	if none, _ := lineage.Fingerprint(id, nil, nil); none != (claimdlq.Key{}) {
		t.Error("a claim that cannot be read has a fingerprint")
	}
}

func TestBlocks_OnlyWhatIsUnderWayOrWithThePayer(t *testing.T) {
	t.Parallel()
	cases := []struct {
		r    claimdlq.Record
		want bool
	}{
		{claimdlq.Record{State: claimdlq.StateQueued}, true},
		{claimdlq.Record{State: claimdlq.StateLeased}, true},
		{claimdlq.Record{State: claimdlq.StateSubmitted}, true},
		{claimdlq.Record{State: claimdlq.StateInDoubt}, true},
		{claimdlq.Record{State: claimdlq.StateQuarantined}, false},
		{claimdlq.Record{State: claimdlq.StateParked}, false},
		{claimdlq.Record{State: claimdlq.StateParked, FateUnknown: true}, true},
		{claimdlq.Record{State: claimdlq.StateSettled, Disposition: claimdlq.Paid}, true},
		{claimdlq.Record{State: claimdlq.StateSettled, Disposition: claimdlq.Accepted}, true},
		{claimdlq.Record{State: claimdlq.StateSettled, Disposition: claimdlq.DuplicateOfPaid}, true},
		{claimdlq.Record{State: claimdlq.StateSettled, Disposition: claimdlq.Rejected}, false},
		{claimdlq.Record{State: claimdlq.StateSettled, Disposition: claimdlq.Reversed}, false},
		{claimdlq.Record{State: claimdlq.StateWithdrawn}, false},
		{claimdlq.Record{State: claimdlq.StateWithdrawn, FateUnknown: true}, true}, // written off, and maybe paid
		{claimdlq.Record{State: claimdlq.StateQuarantined, FateUnknown: true}, true},
	}
	for _, c := range cases {
		if got := lineage.Blocks(c.r); got != c.want {
			t.Errorf("%s %s, fate unknown %v: blocks %v, want %v", c.r.State, c.r.Disposition, c.r.FateUnknown, got, c.want)
		}
	}
}

func TestOwners_TheLatestSuccessorIsTheOwner(t *testing.T) {
	t.Parallel()
	st, ids := memstore.New(), []*claimdlq.Identity{identity(2), identity(1)}
	now, _ := lineage.Fingerprint(ids[0], [][]byte{[]byte("TEST")}, nil)
	then, _ := lineage.Fingerprint(ids[1], [][]byte{[]byte("TEST")}, nil)
	other, _ := lineage.Fingerprint(ids[0], [][]byte{[]byte("OTHER")}, nil)
	owners := func() []lineage.Owner {
		t.Helper()
		out, err := lineage.Owners(t.Context(), st, ids, []claimdlq.Key{other, now, {}}, [][]claimdlq.Key{{other, then, {}}})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	register := func(k claimdlq.Key, id claimdlq.ID) {
		t.Helper()
		if _, err := st.Commit(t.Context(), store.Batch{Fingerprints: []store.Fingerprint{{Key: k, Record: id}}}); err != nil {
			t.Fatal(err)
		}
	}
	if owners() != nil {
		t.Fatal("nobody is an owner")
	}
	register(then, 7) // before the key was rotated
	for id := claimdlq.ID(8); ; id++ {
		o := owners()
		if len(o) != 3 || o[0].ID != 0 || o[2].ID != 0 || o[1].ID != id-1 {
			t.Fatalf("got %+v, want owner %d", o, id-1)
		}
		if id == 12 {
			return
		}
		register(o[1].Next, id)
	}
}

func TestGuard_OneAtATime(t *testing.T) { // F14
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := lineage.NewGuard()
		a, b, c := claimdlq.Key{1}, claimdlq.Key{2}, claimdlq.Key{3}
		if got := g.Try([]claimdlq.Key{a, {}, a, b}, nil); !got[0] || got[1] || got[2] || !got[3] {
			t.Fatalf("got %v", got)
		}
		waited := make(chan error)
		go func() { waited <- g.Hold(t.Context(), []claimdlq.Key{b, c, c}) }()
		synctest.Wait()
		if got := g.Try([]claimdlq.Key{c}, nil); !got[0] {
			t.Fatal("who waits must hold nothing")
		}
		g.Free([]claimdlq.Key{b})
		synctest.Wait()
		select {
		case <-waited:
			t.Fatal("held what another holds")
		default:
		}
		g.Free([]claimdlq.Key{c})
		if err := <-waited; err != nil {
			t.Fatal(err)
		}
		if got := g.Try([]claimdlq.Key{b, c}, nil); got[0] || got[1] {
			t.Fatalf("got %v", got)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := g.Hold(ctx, []claimdlq.Key{a}); !errors.Is(err, claimdlq.Unavailable) {
			t.Errorf("got %v", err)
		}
	})
}
