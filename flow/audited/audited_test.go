package audited_test

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"claimdlq"
	"claimdlq/flow/audited"
	"claimdlq/store/memstore"
)

func TestNamed_NobodyActsWithoutANameAndAReason(t *testing.T) {
	t.Parallel()
	for _, by := range []claimdlq.By{{}, {Actor: "ana"}, {Reason: "TEST"}} {
		if err := audited.Named(by, "act"); !errors.Is(err, claimdlq.Refused) {
			t.Errorf("%+v: %v", by, err)
		}
	}
	if err := audited.Named(claimdlq.By{Actor: "ana", Reason: "TEST"}, "act"); err != nil {
		t.Error(err)
	}
}

func TestNote_IsCutAt200BytesAndNeverInsideARune(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		want int
	}{{"TEST", 4}, {strings.Repeat("a", 200), 200}, {strings.Repeat("a", 201), 200}, {strings.Repeat("a", 199) + "é", 199}, {strings.Repeat("é", 150), 200}} {
		got := audited.Note(c.in)
		if len(got) != c.want || !utf8.ValidString(got) || !strings.HasPrefix(c.in, got) {
			t.Errorf("%d bytes become %d", len(c.in), len(got))
		}
	}
}

func TestOpen_TheProofStandsForTheEntriesOfEveryRecord(t *testing.T) { // 45 CFR 164.312(b)
	t.Parallel()
	st := memstore.New()
	by := claimdlq.By{Actor: "ana", Reason: "TEST"}
	proof, err := audited.Open(t.Context(), st, by, claimdlq.ActReveal, time.Unix(1, 0), claimdlq.Record{ID: 4}, claimdlq.Record{ID: 9})
	if err != nil || !proof.Valid() {
		t.Fatalf("%v %v", proof, err)
	}
	var got []claimdlq.ID
	first, last := proof.Range()
	err = st.Entries(t.Context(), first, func(e claimdlq.Entry) bool {
		if e.Seq <= last && e.Action == claimdlq.ActReveal && e.Note == "TEST" {
			got = append(got, e.Record)
		}
		return true
	})
	if err != nil || len(got) != 2 || got[0] != 4 || got[1] != 9 {
		t.Errorf("audited %v %v", got, err)
	}
}
