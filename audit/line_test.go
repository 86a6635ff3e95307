package audit_test

import (
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

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
