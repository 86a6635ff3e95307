package envelope_test

import (
	"testing"

	"claimdlq"
	"claimdlq/flow/envelope"
	"claimdlq/store"
	"claimdlq/store/memstore"
)

func TestNumber_OnlyAPositiveNumberOfNineDigits(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]uint32{
		"000000001": 1, "1": 1, " 42 ": 42, "999999999": 999999999, "0": 0, "000000000": 0, "1234567890": 0, "12A": 0, "": 0, "-1": 0,
	} {
		got, ok := envelope.Number(in)
		if ok != (want != 0) || ok && got != want {
			t.Errorf("%q: %d %v", in, got, ok)
		}
	}
}

func TestReplayBatch_IsReadBack(t *testing.T) {
	t.Parallel()
	for _, n := range []uint32{1, 42, 999999999} {
		bht := envelope.ReplayBatch(n)
		if got, ok := envelope.ParseReplayBatch([]byte(bht)); !ok || got != n || len(bht) != 10 {
			t.Errorf("%d: %s, %d %v", n, bht, got, ok)
		}
	}
	for _, bad := range []string{"", "R", "R00000000A", "X000000001", "R000000000", "R0000000001"} {
		if n, ok := envelope.ParseReplayBatch([]byte(bad)); ok {
			t.Errorf("%q is %d", bad, n)
		}
	}
}

func TestAllocate_NeverANumberThatWasUsed(t *testing.T) { // 47
	t.Parallel()
	st := memstore.New()
	env := claimdlq.Envelope{SenderQualifier: "ZZ", Sender: "TEST", ReceiverQualifier: "ZZ", Receiver: "TESTPAYER"}
	// The submitter has used 1 to 500 himself, as ISA13 or as GS06, and will use 501.
	r := claimdlq.Record{Key: claimdlq.Key{1}, State: claimdlq.StateQueued, Claims: 1}
	b := store.Batch{Insert: []claimdlq.Record{r}}
	for n := range uint32(500) {
		s := claimdlq.Submission{State: claimdlq.SubmissionSent, Envelope: env, ISA13: n + 1, Members: []claimdlq.IDRange{{First: store.ParentIndex(0), Last: store.ParentIndex(0)}}}
		if n%2 == 0 {
			s.ISA13, s.Envelope.Sender = 7, "OTHER"
			s.Groups = []claimdlq.GroupControl{{Sender: "TEST", Receiver: "TESTPAYER", Number: n + 1}}
		}
		b.NewSubmissions = append(b.NewSubmissions, s)
	}
	if _, err := st.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	seen := map[uint32]bool{}
	for range 20 {
		n, err := envelope.Allocate(t.Context(), st, env, "TEST", "TESTPAYER", 501)
		if err != nil {
			t.Fatal(err)
		}
		if n <= 501 || seen[n] {
			t.Fatalf("%d was used", n)
		}
		seen[n] = true
	}
}
