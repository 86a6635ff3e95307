package sortedrun_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"claimdlq"
	"claimdlq/store/filestore/sortedrun"
)

// built returns a set's files and content: two runs of several small blocks.
func built(t *testing.T) (*memFS, content) {
	t.Helper()
	fsys := newMemFS(1 << 30)
	s, err := sortedrun.Open(fsys, "runs", sortedrun.Options{BlockBytes: 60})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	all := content{}
	for r := range 2 {
		m := content{}
		for i := range 8 {
			k := keyOf(uint64(2*i + r))
			m[k] = fmt.Appendf(nil, "value %d of run %d", i, r)
			all[k] = m[k]
		}
		add(t, s, m)
	}
	return fsys, all
}

// sound opens the files and reads everything. It returns the first error, and
// fails if a wrong value is given without one.
func sound(t *testing.T, fsys *memFS, want content) error {
	t.Helper()
	s, err := sortedrun.Open(fsys, "runs", sortedrun.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	errs := []error{s.Verify(context.Background())}
	for k, v := range want {
		got, ok, err := s.Get(k)
		if err == nil && errs[0] == nil && (!ok || !bytes.Equal(got, v)) {
			t.Fatalf("key %x: %q, %t without an error", k, got, ok)
		}
		if err == nil && ok && !bytes.Equal(got, v) {
			t.Fatalf("key %x: a wrong value", k)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func TestSet_EveryFlippedBitIsFoundAndNamed(t *testing.T) {
	t.Parallel()
	whole, want := built(t)
	if err := sound(t, whole.after("kill"), want); err != nil {
		t.Fatal(err)
	}
	for name, n := range whole.names {
		for i := range n.data {
			for _, bit := range []byte{1, 0x20, 0x80} {
				fsys := whole.after("kill")
				fsys.names[name].data[i] ^= bit
				err := sound(t, fsys, want)
				if !errors.Is(err, claimdlq.Corrupt) {
					t.Fatalf("%s byte %d bit %x: %v, want corrupt", name, i, bit, err)
				}
				if base := strings.TrimPrefix(name, "runs/"); !strings.Contains(err.Error(), base) {
					t.Fatalf("%v does not name %s", err, base)
				}
			}
		}
	}
}

func TestSet_EveryTruncationIsFound(t *testing.T) {
	t.Parallel()
	whole, want := built(t)
	for name, n := range whole.names {
		for size := range n.data {
			fsys := whole.after("kill")
			fsys.names[name].data = n.data[:size]
			if err := sound(t, fsys, want); !errors.Is(err, claimdlq.Corrupt) {
				t.Fatalf("%s cut to %d bytes: %v, want corrupt", name, size, err)
			}
		}
	}
}

func TestOpen_AMissingOrExchangedFileIsFound(t *testing.T) {
	t.Parallel()
	whole, want := built(t)
	for _, name := range []string{"runs/MANIFEST", "runs/00000001.run", "runs/00000002.run"} {
		fsys := whole.after("kill")
		delete(fsys.names, name)
		if err := sound(t, fsys, want); !errors.Is(err, claimdlq.Corrupt) {
			t.Errorf("without %s: %v, want corrupt", name, err)
		}
	}
	fsys := whole.after("kill")
	fsys.names["runs/00000001.run"], fsys.names["runs/00000002.run"] = fsys.names["runs/00000002.run"], fsys.names["runs/00000001.run"]
	if err := sound(t, fsys, want); !errors.Is(err, claimdlq.Corrupt) {
		t.Errorf("exchanged runs: %v, want corrupt", err)
	}
}

func TestOpen_LeavesOtherFilesAlone(t *testing.T) {
	t.Parallel()
	whole, want := built(t)
	for _, name := range []string{"runs/NOTES", "runs/x.run", "runs/00000099.run", "runs/MANIFEST.new"} {
		whole.names[name] = &node{data: []byte("TEST")}
	}
	if err := sound(t, whole, want); err != nil {
		t.Fatal(err)
	}
	got, _ := whole.Names("runs")
	if want := []string{"00000001.run", "00000002.run", "MANIFEST", "NOTES", "x.run"}; !slices.Equal(got, want) {
		t.Fatalf("files are %v, want %v", got, want)
	}
}

func TestSet_ABlockInTheWrongPlaceIsFound(t *testing.T) {
	t.Parallel()
	fsys := newMemFS(1 << 30)
	s, err := sortedrun.Open(fsys, "runs", sortedrun.Options{BlockBytes: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for r := range 2 { // blocks of one length, at the same offsets in both runs
		m := content{}
		for i := range uint64(4) {
			m[keyOf(i)] = fmt.Appendf(nil, "run %d value %d", r, i)
		}
		add(t, s, m)
	}
	const block = 8 + 16 + 1 + len("run 0 value 0")
	for name, move := range map[string]func(one, two []byte){
		"from another run": func(one, two []byte) { copy(two[:block], one[:block]) },
		"within the run": func(_, two []byte) {
			first := slices.Clone(two[:block])
			copy(two, two[block:2*block])
			copy(two[block:], first)
		},
	} {
		left := fsys.after("kill")
		move(left.names["runs/00000001.run"].data, left.names["runs/00000002.run"].data)
		moved, err := sortedrun.Open(left, "runs", sortedrun.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if v, ok, err := moved.Get(keyOf(0)); !errors.Is(err, claimdlq.Corrupt) {
			t.Errorf("%s: %q, %t, %v, want corrupt", name, v, ok, err)
		}
		_ = moved.Close()
	}
}
