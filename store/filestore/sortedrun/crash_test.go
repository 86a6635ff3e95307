package sortedrun_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"testing"

	"claimdlq"
	"claimdlq/store/filestore/sortedrun"
)

type content = map[sortedrun.Key][]byte

// history adds and merges until the file system stops. It returns what the set
// held after the last step that returned without an error, and what it would
// hold after the step that did not.
func history(fsys sortedrun.FS) (acknowledged, attempted content, err error) {
	now := content{}
	s, err := sortedrun.Open(fsys, "runs", sortedrun.Options{Fanout: 2, BlockBytes: 50})
	if err != nil {
		return now, now, err
	}
	defer s.Close()
	for step := range 6 {
		next := maps.Clone(now)
		if step%3 == 2 {
			_, err = s.Merge(context.Background())
		} else {
			m := content{}
			for i := range 5 {
				m[keyOf(uint64(3*step+i))] = fmt.Appendf(nil, "value of step %d", step)
			}
			maps.Copy(next, m)
			err = s.Add(len(m), sorted(m))
		}
		if err != nil {
			return now, next, err
		}
		now = next
	}
	return now, now, nil
}

func TestSet_ACrashAtAnyChangeLosesNothingAndInventsNothing(t *testing.T) {
	t.Parallel()
	whole := newMemFS(1 << 30)
	if _, _, err := history(whole); err != nil {
		t.Fatal(err)
	}
	if whole.done < 40 {
		t.Fatalf("the history makes %d changes only", whole.done)
	}
	for at := range whole.done + 1 {
		for _, kind := range []string{"kill", "power cut", "names before content", "rename before create"} {
			t.Run(fmt.Sprintf("%s after change %d", kind, at), func(t *testing.T) {
				t.Parallel()
				fsys := newMemFS(at)
				acknowledged, attempted, _ := history(fsys)
				left := fsys.after(kind)
				s, err := sortedrun.Open(left, "runs", sortedrun.Options{Fanout: 2})
				if err != nil {
					t.Fatalf("open: %v", err)
				}
				defer s.Close()
				want := acknowledged
				if holdsAll(t, s, attempted) {
					want = attempted
				}
				holds(t, s, want)
				add(t, s, content{keyOf(999): []byte("afterwards")})
				want = maps.Clone(want)
				want[keyOf(999)] = []byte("afterwards")
				mergeAll(t, s)
				holds(t, s, want)
				files, _ := left.Names("runs")
				if len(files) != 1+s.Size().Runs {
					t.Fatalf("leftovers: %v with %d runs", files, s.Size().Runs)
				}
			})
		}
	}
}

func holdsAll(t testing.TB, s *sortedrun.Set, want content) bool {
	t.Helper()
	for k, v := range want {
		got, ok, err := s.Get(k)
		if err != nil {
			t.Fatalf("get: %v", err)
		}
		if !ok || string(got) != string(v) {
			return false
		}
	}
	return true
}

// failingFS fails one kind of change with an error that is not a crash.
type failingFS struct {
	*memFS
	sync, write, rename bool
}

func (f *failingFS) Rename(from, to string) error {
	if f.rename {
		return errDisk
	}
	return f.memFS.Rename(from, to)
}

func (f *failingFS) OpenFile(name string, flag int, perm os.FileMode) (sortedrun.File, error) {
	file, err := f.memFS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return failingFile{file, f}, nil
}

type failingFile struct {
	sortedrun.File
	fs *failingFS
}

var errDisk = errors.New("no space left on device")

func (f failingFile) WriteAt(b []byte, at int64) (int, error) {
	if f.fs.write {
		return 0, errDisk
	}
	return f.File.WriteAt(b, at)
}

func (f failingFile) Sync() error {
	if f.fs.sync {
		return errDisk
	}
	return f.File.Sync()
}

func TestSet_AFullDiskChangesNothingAndIsTriedAgainLater(t *testing.T) {
	t.Parallel()
	fsys := &failingFS{memFS: newMemFS(1 << 30)}
	s, err := sortedrun.Open(fsys, "runs", sortedrun.Options{Fanout: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	want := content{keyOf(1): {1}}
	add(t, s, want)
	for _, broken := range []*bool{&fsys.write, &fsys.rename} {
		*broken = true
		err = s.Add(1, sorted(content{keyOf(2): {2}}))
		if !errors.Is(err, claimdlq.Unavailable) || !errors.Is(err, errDisk) || errors.Is(err, sortedrun.ErrSync) {
			t.Fatalf("add: %v", err)
		}
		holds(t, s, want, keyOf(2))
		*broken = false
	}
	add(t, s, content{keyOf(2): {2}})
	want[keyOf(2)] = []byte{2}
	holds(t, s, want)
	if files, _ := fsys.Names("runs"); len(files) != 3 {
		t.Fatalf("files are %v, want the manifest and two runs", files)
	}
}

func TestSet_AFailedFlushIsToldApart(t *testing.T) {
	t.Parallel()
	fsys := &failingFS{memFS: newMemFS(1 << 30)}
	s, err := sortedrun.Open(fsys, "runs", sortedrun.Options{Fanout: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	add(t, s, content{keyOf(1): {1}})
	add(t, s, content{keyOf(2): {2}})
	fsys.sync = true
	_, mergeErr := s.Merge(context.Background())
	for name, err := range map[string]error{"add": s.Add(1, sorted(content{keyOf(2): {2}})), "merge": mergeErr} {
		if !errors.Is(err, sortedrun.ErrSync) || !errors.Is(err, errDisk) {
			t.Errorf("%s: %v, want a failed flush", name, err)
		}
	}
}
