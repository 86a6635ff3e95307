package audit_test

import (
	"errors"
	"io"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"claimdlq"
	"claimdlq/audit"
)

// The text of a second is used again; what follows it must not be.
func TestLine_TimesOfOneBatchAreEachTheirOwn(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 23, 59, 59, 999_999_999, time.UTC)
	times := []time.Time{
		{},
		time.Unix(0, 0), at, at.Add(-time.Nanosecond * 999_999_999), at, at.Add(time.Millisecond), at.Add(time.Second),
		at.Add(-time.Second), at.In(time.FixedZone("", 3600)), at.AddDate(-3000, 0, 0), at, at.AddDate(9000, 0, 0), at,
	}
	want := ""
	for _, x := range times {
		want += x.UTC().Format("2006-01-02T15:04:05.000Z") + "\n"
	}
	if got := string(audit.AppendTimes(nil, times...)); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestTree_ItsNodesAreThoseOfTheStandard(t *testing.T) {
	t.Parallel()
	left, right := tlog.RecordHash([]byte("left")), tlog.RecordHash([]byte("right"))
	if got, want := audit.Node(left, right), tlog.NodeHash(left, right); got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

// An entry about many records is one line, which an export finds by each of them.
func TestLine_AnEntryOfManyRecordsIsFoundByEach(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	signer, verifier := newKey(t)
	l, err := audit.Open(dir, signer)
	if err != nil {
		t.Fatal(err)
	}
	entries := []claimdlq.Entry{
		{Seq: 1, At: time.Unix(1, 0), Actor: "ANALYST", Action: claimdlq.ActReplay, Records: "3-9,40", Note: "TESTREASON"},
		{Seq: 2, At: time.Unix(2, 0), Actor: "ANALYST", Action: claimdlq.ActReplay, Record: 4},
	}
	if err := errors.Join(l.Append(entries), l.Close()); err != nil {
		t.Fatal(err)
	}
	if rep, err := audit.Verify(t.Context(), dir, verifier, nil); err != nil || !rep.OK() {
		t.Fatalf("%+v, %v", rep, err)
	}
	for id, want := range map[claimdlq.ID]int{2: 0, 3: 1, 4: 2, 40: 1, 41: 0} {
		n, err := audit.Export(t.Context(), io.Discard, dir, audit.Filter{Record: id})
		if err != nil || n != want {
			t.Errorf("record %d: %d entries, %v, want %d", id, n, err, want)
		}
	}
}
