package filevault_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/phi"
	"claimdlq/vault/filevault"
	"claimdlq/vault/keyring"
	"claimdlq/vault/vaulttest"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func rotate(t testing.TB, b *bundle) {
	t.Helper()
	if _, err := b.Rotate(t.Context(), now, nil); err != nil {
		t.Fatal(err)
	}
}

func TestRotate_RewrapsEveryKeyAndTouchesNoPayload(t *testing.T) {
	t.Parallel()
	b := setup(t, filevault.Options{})
	small, large := stage(t, b, vaulttest.Payload(1, 100)), stream(t, b, vaulttest.Payload(2, 1<<20+1))
	gone := stage(t, b, []byte("gone"))
	if err := b.Shred(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	before := map[string][]byte{}
	for _, path := range files(t, b.dir, "*") {
		before[path] = read(t, path)
	}
	old := b.kr.Primary()
	calls := 0
	term, err := b.Rotate(t.Context(), now, func(done, total int) { calls++ })
	if err != nil || calls != 1 || term.ID != old+1 {
		t.Fatalf("term %d, %d calls, %v", term.ID, calls, err)
	}
	if k := b.kr.KEKs(); k[0].State != keyring.Retired || !k[1].Primary {
		t.Fatalf("terms: %+v", k)
	}
	for path, want := range before {
		if !bytes.Equal(read(t, path), want) {
			t.Errorf("%s was touched", filepath.Base(path))
		}
	}
	// Nothing is left under the old term: it can be destroyed.
	if err := b.kr.DestroyKEK(old); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		intact(t, b, small, vaulttest.Payload(1, 100))
		intact(t, b, large, vaulttest.Payload(2, 1<<20+1))
		broken(t, b, gone, "shredded", claimdlq.NotFound)
		b.reopen(t)
	}
	if n, err := b.Rewrap(t.Context(), nil); n != 0 || err != nil {
		t.Fatalf("wrapped %d keys again, %v", n, err)
	}
}

// TestRotate_WhileTheVaultIsInUse rotates under readers, producers, writers and
// shredders, destroying each old term at once.
func TestRotate_WhileTheVaultIsInUse(t *testing.T) {
	t.Parallel()
	b := setup(t, filevault.Options{ChunkBytes: 1 << 20})
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				use(t, b, g, i)
			}
		})
	}
	for range 20 {
		rotate(t, b)
		if err := b.kr.RetireKEK(b.kr.Primary()); !errors.Is(err, claimdlq.Refused) {
			t.Errorf("retired the primary term: %v", err)
		}
	}
	cancel()
	wg.Wait()
}

// use takes one unit through its life.
func use(t *testing.T, b *bundle, g, i int) {
	p := vaulttest.Payload(g*1000+i, 100+i%5*400_000)
	ref, err := b.Stage(phi.Wrap(p))
	if i%2 == 0 && err == nil {
		var w interface {
			Write([]byte) (int, error)
			Close() (claimdlq.PayloadRef, error)
		}
		if w, err = b.Create(); err == nil {
			_, _ = w.Write(p)
			ref, err = w.Close()
		}
	}
	ctx := context.Background()
	if err = errors.Join(err, b.Sync(ctx)); err != nil {
		t.Error(err)
		return
	}
	for range 3 {
		if got, err := b.Vault.Open(ctx, ref, vaulttest.Proof); err != nil || !bytes.Equal(got.Reveal(), p) {
			t.Errorf("open: %v", err)
		}
	}
	if err := b.Shred(ctx, ref); err != nil {
		t.Error(err)
	}
	if _, err := b.Vault.Open(ctx, ref, vaulttest.Proof); !errors.Is(err, claimdlq.NotFound) {
		t.Errorf("open after shred: %v", err)
	}
}

// TestRotate_ACrashInTheMiddleIsFinishedByTheNextOne stops a rotation between two
// slot files, with a temporary file left over.
func TestRotate_ACrashInTheMiddleIsFinishedByTheNextOne(t *testing.T) {
	t.Parallel()
	b := setup(t, filevault.Options{})
	want := map[claimdlq.PayloadRef][]byte{}
	for i := range 3 { // a rotation begins a new slot file
		p := vaulttest.Payload(i, 100)
		want[stage(t, b, p)] = p
		rotate(t, b)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := b.Rotate(ctx, now, func(done, total int) { cancel() })
	if !errors.Is(err, claimdlq.Unavailable) || len(files(t, b.keys, ".slots")) != 3 {
		t.Fatalf("%v, %d slot files", err, len(files(t, b.keys, ".slots")))
	}
	write(t, filepath.Join(b.keys, ".00000002.slots.tmp-x"), []byte("half"))
	b.reopen(t)
	for ref, p := range want {
		intact(t, b, ref, p)
	}
	rotate(t, b)
	active := 0
	for _, k := range b.kr.KEKs() {
		if k.State == keyring.Active {
			active++
			continue
		}
		if err := b.kr.DestroyKEK(k.ID); err != nil {
			t.Fatal(err)
		}
	}
	if active != 1 {
		t.Fatalf("%d active terms; want 1", active)
	}
	for ref, p := range want {
		intact(t, b, ref, p)
	}
	if left := files(t, b.keys, ".tmp-x"); len(left) != 0 {
		t.Fatalf("left behind: %v", left)
	}
}

func TestRewrap_AnUnreadableKeyStopsItAndChangesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t, filevault.Options{})
	ref := stage(t, b, []byte("x"))
	b.reopen(t)
	path := files(t, b.keys, ".slots")[0]
	bad := read(t, path)
	bad[head+50] ^= 1
	write(t, path, withSum(bad, head))
	if _, err := b.Rotate(t.Context(), now, nil); !errors.Is(err, claimdlq.Corrupt) {
		t.Fatalf("got %v; want corrupt", err)
	}
	if !bytes.Equal(read(t, path), bad) {
		t.Fatal("the file was changed")
	}
	if k := b.kr.KEKs(); k[0].State != keyring.Active {
		t.Fatal("the old term was retired with a key under it")
	}
	broken(t, b, ref, "damaged", claimdlq.Corrupt)
}

func TestReclaim_RemovesFilesWithoutALiveKey(t *testing.T) {
	t.Parallel()
	b := setup(t, filevault.Options{ChunkBytes: 4096})
	keep := stage(t, b, vaulttest.Payload(1, 3000))
	var gone []claimdlq.PayloadRef
	for i := range 5 {
		gone = append(gone, stage(t, b, vaulttest.Payload(i, 4000)), stream(t, b, vaulttest.Payload(i, 1<<20+1)))
	}
	flush(t, b)
	if r, err := b.Reclaim(t.Context()); err != nil || r.Files != 0 {
		t.Fatalf("reclaimed %+v with every key alive, %v", r, err)
	}
	w, err := b.Create() // is being written all the while
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(vaulttest.Payload(9, 2<<20)); err != nil {
		t.Fatal(err)
	}
	for _, ref := range gone {
		if err := b.Shred(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
	}
	r, err := b.Reclaim(t.Context())
	if err != nil || r.Files < 9 || r.Bytes < 5<<20 {
		t.Fatalf("reclaimed %+v, %v", r, err)
	}
	late, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	flush(t, b)
	for range 2 {
		intact(t, b, keep, vaulttest.Payload(1, 3000))
		intact(t, b, late, vaulttest.Payload(9, 2<<20))
		for _, ref := range gone {
			broken(t, b, ref, "shredded", claimdlq.NotFound)
			if err := b.Shred(t.Context(), ref); err != nil {
				t.Fatalf("shredding once more: %v", err)
			}
		}
		b.reopen(t)
	}
}

func TestReclaim_LeavesTheSlotOfAUnitThatIsBeingWritten(t *testing.T) {
	t.Parallel()
	b := setup(t, filevault.Options{})
	gone := stage(t, b, []byte("gone"))
	w, err := b.Create()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(vaulttest.Payload(1, 2<<20)); err != nil {
		t.Fatal(err)
	}
	rotate(t, b) // the writer's slot is in a file that is not appended to any more
	stage(t, b, []byte("x"))
	if err := b.Shred(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	if r, err := b.Reclaim(t.Context()); err != nil || r.Files != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	ref, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	flush(t, b)
	intact(t, b, ref, vaulttest.Payload(1, 2<<20))
	if err := b.Shred(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	if r, err := b.Reclaim(t.Context()); err != nil || r.Files != 2 {
		t.Fatalf("%+v, %v; want the unit's file and the slot file", r, err)
	}
}

func TestReclaim_RemovesWhatACrashedWriterLeft(t *testing.T) {
	t.Parallel()
	b := setup(t, filevault.Options{})
	ref := stage(t, b, []byte("x"))
	flush(t, b)
	orphan := filepath.Join(b.dir, "00000007.unit")
	write(t, orphan, make([]byte, 2<<20))
	b.reopen(t)
	if r, err := b.Reclaim(t.Context()); err != nil || r.Files != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	if _, err := os.Stat(orphan); !os.IsNotExist(err) {
		t.Fatalf("it is still there: %v", err)
	}
	intact(t, b, ref, []byte("x"))
}

func TestReclaim_RemovesNothingWhileASlotIsDamaged(t *testing.T) {
	t.Parallel()
	b := setup(t, filevault.Options{ChunkBytes: 4096})
	stage(t, b, vaulttest.Payload(1, 4000))
	gone := stage(t, b, vaulttest.Payload(2, 4000))
	stage(t, b, vaulttest.Payload(3, 4000))
	if err := b.Shred(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	path := files(t, b.keys, ".slots")[0]
	bad := read(t, path)
	bad[head+9] ^= 1
	write(t, path, bad)
	if r, err := b.Reclaim(t.Context()); !errors.Is(err, claimdlq.Corrupt) || r.Files != 0 {
		t.Fatalf("%+v, %v; want corrupt", r, err)
	}
	units := 0
	err := b.Units(t.Context(), func(string, int64) bool { units++; return true })
	if !errors.Is(err, claimdlq.Corrupt) || units != 1 {
		t.Fatalf("%d units, %v; want the one that is left, and corrupt", units, err)
	}
}

func TestShred_AFullDiskLeavesTheUnitWhole(t *testing.T) {
	t.Parallel()
	b := setup(t, filevault.Options{})
	ref := stage(t, b, []byte("x"))
	flush(t, b)
	b.SetDisk(func(f *os.File, _ []byte, _ int64) error { return syscall.ENOSPC }, (*os.File).Sync)
	full(t, b.Shred(t.Context(), ref))
	intact(t, b, ref, []byte("x"))
}
