package lineage_test

import (
	"bytes"
	"testing"

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
		{claimdlq.Record{State: claimdlq.StateWithdrawn, FateUnknown: true}, true},
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
