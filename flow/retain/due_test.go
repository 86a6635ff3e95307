package retain

import (
	"reflect"
	"testing"
	"time"

	"claimdlq"
)

// A listing of deadlines holds about as many records as were asked for, also where a
// hundred thousand match, and they are the nearest.
func TestDueList_HoldsWhatWasAskedForAndNotTheBacklog(t *testing.T) {
	t.Parallel()
	const limit = 50
	l, all := dueList{limit: limit}, []Due(nil)
	for i := range 100_000 {
		d := Due{Record: claimdlq.Record{ID: claimdlq.ID(1 + i - i/1000%2)}} // one that moved meanwhile comes twice
		if i%7 > 0 {
			d.LastDay = time.Unix(int64(d.Record.ID)*7919%400*24*3600, 0).UTC()
		}
		l.add(d)
		all = append(all, d)
	}
	if n := cap(l.all); n > 4*(2*limit+page) {
		t.Errorf("it has room for %d", n)
	}
	if got, want := l.nearest(), nearest(all, limit); len(want) != limit || !reflect.DeepEqual(got, want) {
		t.Errorf("%d are not the nearest", len(got))
	}
}
