package audit_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/audit"
)

// life are the entries of a log in several files: record 1 comes in, is carried by
// submission 5, which is delivered; record 2 goes its own way, by submission 6.
func life(t *testing.T) *bundle {
	t.Helper()
	b := setup(t, audit.Options{FileBytes: 400})
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for i, e := range []claimdlq.Entry{
		{Record: 2, Action: claimdlq.ActReceive},
		{Record: 1, Action: claimdlq.ActReceive},
		{Record: 1, Submission: 5, Action: claimdlq.ActReplay, Note: `,"record":2, is no field`},
		{Record: 12, Action: claimdlq.ActReceive},
		{Submission: 5, Action: claimdlq.ActOutcome},
		{Submission: 6, Action: claimdlq.ActOutcome},
		{Record: 2, Submission: 6, Action: claimdlq.ActReplay},
		{Record: 1, Action: claimdlq.ActPark},
	} {
		e.Seq, e.At, e.Actor = uint64(i+1), at.Add(time.Duration(i)*time.Minute), "TESTANALYST"
		if err := b.Append([]claimdlq.Entry{e}); err != nil {
			t.Fatal(err)
		}
	}
	if files, _ := filepath.Glob(filepath.Join(b.dir, "*.jsonl")); len(files) < 3 {
		t.Fatalf("%d files", len(files))
	}
	return b
}

func seqs(es []claimdlq.Entry) []uint64 {
	out := []uint64{}
	for _, e := range es {
		out = append(out, e.Seq)
	}
	return out
}

func TestAbout_TheRecordsEntriesAndThoseOfWhatCarriedIt(t *testing.T) {
	t.Parallel()
	b := life(t)
	rec := claimdlq.Record{ID: 1, CreatedAt: time.Date(2026, 3, 1, 12, 1, 0, 0, time.UTC)}
	for _, c := range []struct {
		bound audit.Bound
		want  []uint64
		cut   int
	}{
		{audit.Bound{}, []uint64{2, 3, 5, 8}, 0},
		{audit.Bound{Entries: 4}, []uint64{2, 3, 5, 8}, 0},
		{audit.Bound{Entries: 3}, []uint64{3, 5, 8}, 1},
	} {
		h, err := audit.About(t.Context(), b.dir, rec, c.bound)
		if err != nil {
			t.Fatal(err)
		}
		if got := seqs(h.Entries); !slices.Equal(got, c.want) || h.Cut != c.cut || !h.Whole {
			t.Errorf("%+v: %v, %d cut, whole %v", c.bound, got, h.Cut, h.Whole)
		}
	}
	h, err := audit.About(t.Context(), b.dir, rec, audit.Bound{Bytes: 1}) // the file in which it came in is read to its end
	if got := seqs(h.Entries); err != nil || h.Whole || len(got) == 0 || len(got) > 3 || got[0] != 2 {
		t.Errorf("%v, whole %v, %v", got, h.Whole, err)
	}
}

func TestBackwards_TheNewestFirstWithoutWhatIsBeingWritten(t *testing.T) {
	t.Parallel()
	b := life(t)
	files, err := filepath.Glob(filepath.Join(b.dir, "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(files[len(files)-1], os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"seq":9,"at":"2026`); err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	read := func(high uint64, most int64, n int) (got []uint64, next uint64, more bool) {
		next, more, err := audit.Backwards(t.Context(), b.dir, high, most, func(line []byte) (bool, error) {
			e, err := audit.Decode(line)
			got = append(got, e.Seq)
			return len(got) < n, err
		})
		if err != nil {
			t.Fatal(err)
		}
		return got, next, more
	}
	if got, _, more := read(100, 1<<30, 100); !slices.Equal(got, []uint64{8, 7, 6, 5, 4, 3, 2, 1}) || more {
		t.Errorf("%v, more %v", got, more)
	}
	if got, next, more := read(6, 1<<30, 3); !slices.Equal(got, []uint64{6, 5, 4}) || next != 4 || !more {
		t.Errorf("%v, next %d, more %v", got, next, more)
	}
	if _, err := audit.Decode([]byte(`{"seq":`)); !errors.Is(err, claimdlq.Corrupt) {
		t.Error(err)
	}
	if _, _, err := audit.Backwards(t.Context(), filepath.Join(b.dir, "nothing"), 1, 1, nil); !errors.Is(err, claimdlq.NotFound) {
		t.Error(err)
	}
}
