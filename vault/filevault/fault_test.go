package filevault_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"claimdlq"
	"claimdlq/phi"
	"claimdlq/vault/filevault"
	"claimdlq/vault/vaulttest"
)

func writeAt(f *os.File, p []byte, off int64) error { _, err := f.WriteAt(p, off); return err }

// TestSync_AFullDiskLosesNothing makes each write of a run fail in turn, half
// done, and goes on when there is room again.
func TestSync_AFullDiskLosesNothing(t *testing.T) {
	t.Parallel()
	for fail := range int64(16) {
		b := setup(t, filevault.Options{})
		var n atomic.Int64
		var fullAt atomic.Int64
		fullAt.Store(-1)
		expect := 1
		b.SetDisk(func(f *os.File, p []byte, off int64) error {
			if n.Add(1)-1 == fullAt.Load() {
				if bytes.Count(p, []byte{0}) == len(p) {
					expect = 0 // filling ahead may fail: the write itself finds out
				}
				_, _ = f.WriteAt(p[:len(p)/2], off)
				return &os.PathError{Op: "write", Path: f.Name(), Err: syscall.ENOSPC}
			}
			return writeAt(f, p, off)
		}, (*os.File).Sync)
		want := map[claimdlq.PayloadRef][]byte{}
		fullAt.Store(fail)
		failures := 0
		for i, size := range []int{10, 2500, 1<<20 + 9, 30, 300_000} {
			p := vaulttest.Payload(i, size)
			for {
				ref, err := b.Stage(phi.Wrap(p))
				if err == nil {
					want[ref] = p
					break
				}
				failures++
				full(t, err)
			}
			for {
				err := b.Sync(t.Context())
				if err == nil {
					break
				}
				failures++
				full(t, err)
			}
		}
		if failures != expect {
			t.Fatalf("write %d: %d failures; want %d", fail, failures, expect)
		}
		for range 2 {
			for ref, p := range want {
				intact(t, b, ref, p)
			}
			b.reopen(t)
		}
	}
}

func full(t testing.TB, err error) {
	t.Helper()
	if !errors.Is(err, claimdlq.Unavailable) || !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("got %v; want unavailable, no space", err)
	}
}

func TestStage_AFullDiskBoundsWhatIsStaged(t *testing.T) {
	t.Parallel()
	b := setup(t, filevault.Options{})
	var no atomic.Bool
	b.SetDisk(func(f *os.File, p []byte, off int64) error {
		if no.Load() {
			return syscall.ENOSPC
		}
		return writeAt(f, p, off)
	}, (*os.File).Sync)
	want := map[claimdlq.PayloadRef][]byte{stage(t, b, []byte("first")): []byte("first")}
	no.Store(true)
	var err error
	for i := 0; err == nil; i++ {
		if i > 1000 {
			t.Fatal("1,000 units of 300 KB are waiting in memory")
		}
		p := vaulttest.Payload(i, 300_000)
		var ref claimdlq.PayloadRef
		if ref, err = b.Stage(phi.Wrap(p)); err == nil {
			want[ref] = p
		}
	}
	full(t, err)
	no.Store(false)
	flush(t, b)
	for ref, p := range want {
		intact(t, b, ref, p)
	}
}

func TestWriter_AFullDiskFailsTheUnitAndNoOther(t *testing.T) {
	t.Parallel()
	b := setup(t, filevault.Options{})
	var no atomic.Bool
	b.SetDisk(func(f *os.File, p []byte, off int64) error {
		if no.Load() {
			return syscall.ENOSPC
		}
		return writeAt(f, p, off)
	}, (*os.File).Sync)
	other := stage(t, b, []byte("other"))
	w, err := b.Create()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(vaulttest.Payload(1, 2<<20)); err != nil {
		t.Fatal(err)
	}
	no.Store(true)
	_, err = w.Write(vaulttest.Payload(1, 1<<20))
	full(t, err)
	_, err = w.Close()
	full(t, err)
	no.Store(false)
	if left := files(t, b.dir, ".unit"); len(left) != 0 {
		t.Fatalf("left behind: %v", left)
	}
	flush(t, b)
	intact(t, b, other, []byte("other"))
}

func TestSync_AFailedFsyncStopsTheProcess(t *testing.T) {
	t.Parallel()
	for _, ext := range []string{".chunk", ".slots", ".unit"} {
		t.Run(ext, func(t *testing.T) {
			t.Parallel()
			var fatal atomic.Int64
			b := setup(t, filevault.Options{Fatal: func(err error) {
				if errors.Is(err, syscall.EIO) {
					fatal.Add(1)
				}
			}})
			b.SetDisk(writeAt, func(f *os.File) error {
				if strings.HasSuffix(f.Name(), ext) {
					return syscall.EIO
				}
				return f.Sync()
			})
			ref := stage(t, b, []byte("x"))
			stream(t, b, vaulttest.Payload(1, 1<<20+1))
			if err := b.Sync(t.Context()); !errors.Is(err, claimdlq.Unavailable) || fatal.Load() != 1 {
				t.Fatalf("%v, fatal %d times", err, fatal.Load())
			}
			// Were Fatal to return, nothing would go on all the same.
			_, err1 := b.Stage(phi.Wrap(nil))
			_, err2 := b.Create()
			_, err3 := b.Vault.Open(t.Context(), ref, vaulttest.Proof)
			for i, err := range []error{err1, err2, err3, b.Sync(t.Context()), b.Shred(t.Context(), ref)} {
				if !errors.Is(err, claimdlq.Unavailable) {
					t.Errorf("call %d went on: %v", i, err)
				}
			}
			if fatal.Load() != 1 {
				t.Errorf("fatal %d times", fatal.Load())
			}
		})
	}
}

// TestSync_CallersThatArriveDuringAFlushGetTheNextOne holds the first flush in its
// fsync: whoever comes then must not be told that its bytes are durable.
func TestSync_CallersThatArriveDuringAFlushGetTheNextOne(t *testing.T) {
	t.Parallel()
	b := setup(t, filevault.Options{})
	entered, goOn := make(chan struct{}, 64), make(chan struct{})
	var flushes atomic.Int64
	b.SetDisk(writeAt, func(f *os.File) error {
		if strings.HasSuffix(f.Name(), ".chunk") {
			flushes.Add(1)
			entered <- struct{}{}
			<-goOn
		}
		return f.Sync()
	})
	done := make(chan error, 16)
	call := func() {
		if _, err := b.Stage(phi.Wrap([]byte("x"))); err != nil {
			done <- err
			return
		}
		done <- b.Sync(context.Background())
	}
	go call()
	<-entered
	for range 10 {
		if _, err := b.Stage(phi.Wrap([]byte("y"))); err != nil {
			t.Fatal(err)
		}
		go func() { done <- b.Sync(context.Background()) }()
	}
	goOn <- struct{}{} // ends the first flush
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	<-entered // the ten have begun another one
	select {
	case err := <-done:
		t.Fatalf("told too early: %v", err)
	default:
	}
	close(goOn)
	for range 10 {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	if n := flushes.Load(); n > 4 {
		t.Fatalf("%d flushes for 11 callers", n)
	}
}

func TestSync_GivesUpWithItsContext(t *testing.T) {
	t.Parallel()
	b := setup(t, filevault.Options{})
	goOn := make(chan struct{})
	b.SetDisk(writeAt, func(f *os.File) error { <-goOn; return f.Sync() })
	ref := stage(t, b, []byte("x"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.Sync(ctx); !errors.Is(err, claimdlq.Unavailable) || !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	close(goOn)
	flush(t, b)
	intact(t, b, ref, []byte("x"))
}

// TestVault_SurvivesACrashAtEachStep takes both directories as they are after each
// write, whole and half done, opens them as a new process would, and looks for
// everything that Sync had promised.
func TestVault_SurvivesACrashAtEachStep(t *testing.T) {
	t.Parallel()
	b := setup(t, filevault.Options{ChunkBytes: 8000})
	type moment struct {
		files  map[string][]byte
		synced map[claimdlq.PayloadRef][]byte
		gone   []claimdlq.PayloadRef
	}
	var moments []moment
	synced := map[claimdlq.PayloadRef][]byte{}
	var gone []claimdlq.PayloadRef
	take := func() {
		m := moment{files: map[string][]byte{}, synced: map[claimdlq.PayloadRef][]byte{}, gone: gone}
		for _, dir := range []string{b.dir, b.keys} {
			for _, path := range files(t, dir, "*") {
				m.files[filepath.Join(filepath.Base(dir), filepath.Base(path))] = read(t, path)
			}
		}
		maps.Copy(m.synced, synced)
		moments = append(moments, m)
	}
	b.SetDisk(func(f *os.File, p []byte, off int64) error {
		take()
		if err := writeAt(f, p[:len(p)/2], off); err != nil {
			return err
		}
		take()
		return writeAt(f, p, off)
	}, (*os.File).Sync)
	for i, size := range []int{100, 5000, 9000, 1<<20 + 3, 7, 2000} {
		p := vaulttest.Payload(i, size)
		refs := []claimdlq.PayloadRef{stage(t, b, p), stream(t, b, p)}
		flush(t, b)
		synced[refs[0]], synced[refs[1]] = p, p
		if i%2 == 1 { // being shredded, a unit may be there or not
			delete(synced, refs[0])
			if err := b.Shred(t.Context(), refs[0]); err != nil {
				t.Fatal(err)
			}
			gone = append(slices.Clip(gone), refs[0])
		}
	}
	take()
	for i, m := range moments {
		root := t.TempDir()
		c := &bundle{dir: filepath.Join(root, "vault"), keys: filepath.Join(root, "keys"), o: b.o}
		for _, dir := range []string{c.dir, c.keys} {
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		for name, content := range m.files {
			write(t, filepath.Join(root, name), content)
		}
		c.open(t)
		fresh := stage(t, c, []byte("after the crash"))
		flush(t, c)
		for ref, p := range m.synced {
			intact(t, c, ref, p)
		}
		for _, ref := range m.gone {
			broken(t, c, ref, "shredded", claimdlq.NotFound)
		}
		intact(t, c, fresh, []byte("after the crash"))
		if err := c.Close(); err != nil {
			t.Fatalf("moment %d: %v", i, err)
		}
	}
	if len(moments) < 40 {
		t.Fatalf("only %d moments", len(moments))
	}
}
