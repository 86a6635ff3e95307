package foldertarget_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/target/foldertarget"
)

var written = time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)

func put(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, n := range names {
		path := filepath.Join(dir, n)
		if err := os.WriteFile(path, []byte("content of "+n), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, written, written); err != nil {
			t.Fatal(err)
		}
	}
}

func at(d time.Duration) func() time.Time { return func() time.Time { return written.Add(d) } }

// handler keeps what it is given and answers from a table.
type handler struct {
	got     []string
	answers map[string]error
}

func (h *handler) handle(_ context.Context, name string, r io.Reader) error {
	b, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if string(b) != "content of "+name {
		return errors.New("other content")
	}
	h.got = append(h.got, name)
	return h.answers[name]
}

func TestPickup_MovesWhatWasHandledAndWhatWasRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, "b.999", "a.ta1", "c.277", ".hidden", "d.part", "e.FILEPART", "f~", "g.tmp")
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "a.ta1"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	h := &handler{answers: map[string]error{"b.999": &claimdlq.Error{Code: claimdlq.Invalid}}}
	p := foldertarget.Pickup{Dir: dir, Now: at(time.Hour)}
	done, err := p.Run(t.Context(), h.handle)
	if err != nil || done != (foldertarget.Picked{Done: 2, Bad: 1}) {
		t.Fatalf("got %+v, %v", done, err)
	}
	if !slices.Equal(h.got, []string{"a.ta1", "b.999", "c.277"}) {
		t.Fatalf("handled %v", h.got)
	}
	if n := files(t, filepath.Join(dir, "done")); !slices.Equal(n, []string{"a.ta1", "c.277"}) {
		t.Fatalf("done holds %v", n)
	}
	if n := files(t, filepath.Join(dir, "bad")); !slices.Equal(n, []string{"b.999"}) {
		t.Fatalf("bad holds %v", n)
	}
	if again, err := p.Run(t.Context(), h.handle); err != nil || again != (foldertarget.Picked{}) {
		t.Fatalf("again: %+v, %v", again, err)
	}
}

func TestPickup_WaitsUntilAFileIsLeftAlone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		settle, age time.Duration
		want        foldertarget.Picked
	}{
		{0, 2*time.Second - 1, foldertarget.Picked{Waiting: 1}},
		{0, 2 * time.Second, foldertarget.Picked{Done: 1}},
		{time.Minute, time.Minute - 1, foldertarget.Picked{Waiting: 1}},
		{time.Minute, time.Minute, foldertarget.Picked{Done: 1}},
		{-1, 0, foldertarget.Picked{Done: 1}},
	} {
		dir := t.TempDir()
		put(t, dir, "a")
		got, err := foldertarget.Pickup{Dir: dir, Settle: c.settle, Now: at(c.age)}.Run(t.Context(), (&handler{}).handle)
		if err != nil || got != c.want {
			t.Errorf("settle %v age %v: got %+v, %v", c.settle, c.age, got, err)
		}
	}
}

func TestPickup_AFailureOfOursLeavesTheFile(t *testing.T) {
	t.Parallel()
	for _, code := range []claimdlq.Code{claimdlq.Unavailable, claimdlq.Conflict, claimdlq.Internal} {
		dir := t.TempDir()
		put(t, dir, "a", "b", "c")
		h := &handler{answers: map[string]error{"b": &claimdlq.Error{Code: code}}}
		got, err := foldertarget.Pickup{Dir: dir, Now: at(time.Hour)}.Run(t.Context(), h.handle)
		if !errors.Is(err, code) || got != (foldertarget.Picked{Done: 1}) {
			t.Errorf("%s: got %+v, %v", code, got, err)
		}
		if n := files(t, dir); !slices.Equal(n, []string{"b", "c", "done"}) {
			t.Errorf("%s: folder holds %v", code, n)
		}
	}
}

func TestPickup_StopsWhenCancelled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, "a", "b")
	ctx, cancel := context.WithCancel(t.Context())
	_, err := foldertarget.Pickup{Dir: dir, Now: at(time.Hour)}.Run(ctx, func(context.Context, string, io.Reader) error {
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	if n := files(t, dir); !slices.Equal(n, []string{"b", "done"}) {
		t.Fatalf("folder holds %v", n)
	}
}

func TestPickup_NeverReplacesAnEarlierFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for range 3 {
		put(t, dir, "a")
		if _, err := (foldertarget.Pickup{Dir: dir, Now: at(time.Hour)}).Run(t.Context(), (&handler{}).handle); err != nil {
			t.Fatal(err)
		}
	}
	if n := files(t, filepath.Join(dir, "done")); !slices.Equal(n, []string{"a", "a.2", "a.3"}) {
		t.Fatalf("done holds %v", n)
	}
}

func TestPickup_AMissingFolderShowsNoPath(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "SECRETPATH")
	_, err := foldertarget.Pickup{Dir: dir, Now: at(0)}.Run(t.Context(), (&handler{}).handle)
	if !errors.Is(err, claimdlq.Unavailable) || strings.Contains(err.Error(), "SECRETPATH") {
		t.Fatalf("got %v", err)
	}
}
