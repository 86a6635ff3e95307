package flow_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"claimdlq"
	"claimdlq/flow"
	"claimdlq/flow/intake"
	"claimdlq/internal/testclaims"
	"claimdlq/phi"
	"claimdlq/store"
	"claimdlq/vault"
)

// stopper is a store that dies before its nth commit.
type stopper struct {
	store.Store
	after int
}

func (s *stopper) Commit(ctx context.Context, b store.Batch) (store.Receipt, error) {
	if s.after--; s.after <= 0 {
		return store.Receipt{}, &claimdlq.Error{Code: claimdlq.Unavailable, Op: "commit"}
	}
	return s.Store.Commit(ctx, b)
}

func TestRxIntake_ACrashBeforeTheCommitLeavesAnOrphanOnly(t *testing.T) { // F38
	t.Parallel()
	b := rxSetup(t, "")
	b.deps.Store = &stopper{Store: b.st, after: 1}
	b.assemble()
	raw := rxOne(t, "B1", 1)
	if _, err := b.f.Intake.Message(t.Context(), source, phi.Wrap(raw), intake.MessageOptions{}); !errors.Is(err, claimdlq.Unavailable) {
		t.Fatalf("got %v", err)
	}
	units := 0
	b.must(b.v.Units(t.Context(), func(string, int64) bool { units++; return true }))
	if units != 1 || len(b.list(store.Filter{})) != 0 {
		t.Errorf("%d units, %d records", units, len(b.list(store.Filter{})))
	}
	b.deps.Store = b.st
	b.assemble()
	b.takes(raw, in)
}

// unsynced is a vault that counts what is staged and not yet synced.
type unsynced struct {
	vault.Vault
	staged int
}

func (l *unsynced) StageWith(p, a phi.Bytes) (claimdlq.PayloadRef, error) {
	l.staged++
	return l.Vault.StageWith(p, a)
}
func (l *unsynced) Sync(ctx context.Context) error { l.staged = 0; return l.Vault.Sync(ctx) }

// ordered is a store that refuses a record whose payload is not durable.
type ordered struct {
	store.Store
	v *unsynced
	t *testing.T
}

func (o *ordered) Commit(ctx context.Context, b store.Batch) (store.Receipt, error) {
	if len(b.Insert) > 0 && o.v.staged > 0 {
		o.t.Error("a record is committed before its payload is durable")
	}
	return o.Store.Commit(ctx, b)
}

func TestRxIntake_PayloadsAreDurableBeforeTheirRecords(t *testing.T) { // 33, promise 1
	t.Parallel()
	b := rxSetup(t, "", func(d *flow.Deps) {
		v := &unsynced{Vault: d.Vault}
		d.Vault, d.Store = v, &ordered{Store: d.Store, v: v, t: t}
	})
	b.rxIngest(rxFile(t, batchOf(300)))
	b.takes(rxOne(t, "B1", 999), in)
	b.takes([]byte("999999D0ZZ"), bad)
	b.rxIngest([]byte("\x02999999D0B1 broken"))
}

func TestRxFile_SeveralMessagesEachFramed(t *testing.T) {
	t.Parallel()
	b := rxSetup(t, "")
	o := testclaims.RxOptions{Seed: 6, Claims: 300, TransactionsPer: 2, Framed: true}
	file := rxFile(t, o)
	res := b.rxIngest(file)
	if res.Accepted != 300 || res.Transmissions != 150 || res.Error != "" {
		t.Errorf("got %+v", res)
	}
	for i, raw := range rxMessages(t, o) {
		if s := b.submissions()[i]; !s.Bulk || !bytes.Equal(b.sent(s), raw) {
			t.Fatalf("submission %d", i)
		}
	}
	lines := bytes.ReplaceAll(file, []byte("\x03"), []byte("\x03\r\n"))
	if res := b.rxIngest(lines); res.Duplicates != 300 || res.Error != "" {
		t.Errorf("with line breaks: %+v", res)
	}
}

func TestRxFile_ABrokenFrameIsKeptAndTheWholeOnesAreTaken(t *testing.T) {
	t.Parallel()
	one, two, three := rxOne(t, "B1", 1), rxOne(t, "B1", 2), rxOne(t, "B1", 3)
	framed := func(b []byte) string { return "\x02" + string(b) + "\x03" }
	for name, file := range map[string]string{
		"a frame without its end":     framed(one) + "\x02" + string(two[:100]) + framed(three),
		"the last one is cut off":     framed(one) + framed(three) + "\x02" + string(two[:100]),
		"bytes between frames":        framed(one) + "TEST JUNK" + framed(three),
		"a claim between the frames":  framed(one) + string(two) + framed(three),
		"an answer among the claims":  framed(one) + framed([]byte("D0B11A011234567893     20260115\x1d\x1e\x1cAM21\x1cANP")) + framed(three),
		"an empty frame":              framed(one) + framed(nil) + framed(three),
		"bytes after the last of all": framed(one) + framed(three) + "\r\nTEST",
		"the first without a frame":   string(two) + framed(one) + framed(three),
		"filling before the first":    "\r\n" + framed(one) + framed(three) + "TEST",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := rxSetup(t, "")
			for i := range 2 {
				res := b.rxIngest([]byte(file))
				if i == 0 && (res.Accepted != 2 || res.Quarantined != 1) || i == 1 && res.Duplicates != 3 {
					t.Errorf("delivery %d: %+v", i+1, res)
				}
			}
			if n := len(b.submissions()); n != 2 {
				t.Errorf("%d submissions", n)
			}
			for _, r := range b.list(store.Filter{}) {
				if r.Stream != claimdlq.StreamNCPDP {
					t.Errorf("record %d is of stream %s", r.ID, r.Stream)
				}
			}
		})
	}
}

func TestRxFile_EveryByteThatIsNotTakenIsKept(t *testing.T) { // promise 1
	t.Parallel()
	one := rxOne(t, "B1", 1)
	good := rxBatch(1, one, rxOne(t, "B1", 2), rxOne(t, "B1", 3))
	for cut := 80; cut < len(good); cut += 97 {
		b := rxSetup(t, "")
		b.rxIngest(good[:cut])
		var all strings.Builder
		b.eachUnit(func(raw []byte) { all.Write(raw) })
		rest := good[75:cut] // after the header
		for len(rest) > 0 {
			end := bytes.IndexByte(rest, 3) + 1
			if end == 0 {
				end = len(rest)
			}
			if rest[1] != '9' && !strings.Contains(all.String(), string(rest[:end])) {
				t.Fatalf("cut at %d: a record of the file is not in the vault", cut)
			}
			rest = rest[end:]
		}
	}
}

// eachUnit opens every unit whole.
func (b *rxBench) eachUnit(f func([]byte)) {
	b.t.Helper()
	receipt, err := b.st.Commit(b.t.Context(), store.Batch{Entries: []claimdlq.Entry{{Action: claimdlq.ActOpen, Record: 1}}})
	b.must(err)
	b.must(b.v.Units(b.t.Context(), func(unit string, size int64) bool {
		p, err := b.v.Open(b.t.Context(), claimdlq.PayloadRef{Unit: unit, Length: size}, receipt.Proof)
		b.must(err)
		f(p.Reveal())
		return true
	}))
}

func TestRxFile_AMixedFolder(t *testing.T) {
	t.Parallel()
	b := rxSetup(t, "")
	for i, file := range [][]byte{
		generate(t, testclaims.Options{Claims: 5}), rxOne(t, "B1", 1), rxFile(t, batchOf(20)), generate(t, testclaims.Options{Claims: 5, ISA13: 2, FirstClaim: 50}),
		rxFile(t, testclaims.RxOptions{Claims: 3, Framed: true, FirstClaim: 500}),
	} {
		if res := b.rxIngest(file); res.Accepted != res.Claims || res.Claims == 0 {
			t.Errorf("file %d: %+v", i, res)
		}
	}
	for stream, want := range map[string]int{"837": 2, "ncpdp": 24} {
		if got := len(b.list(store.Filter{Stream: stream})); got != want {
			t.Errorf("%d records of %s, want %d", got, stream, want)
		}
	}
}

func TestRxFile_X12StaysX12WhateverFollowsIt(t *testing.T) {
	t.Parallel()
	b := rxSetup(t, "")
	file := append(generate(t, testclaims.Options{Claims: 1}), "\x1e\x1cAM07"...)
	if res := b.rxIngest(file); res.Interchanges != 1 || res.Accepted != 1 {
		t.Errorf("got %+v", res)
	}
	for _, text := range []string{"1234565100 is a number", "D0 is a word", "<html>", "F6 too"} {
		b.rxIngest([]byte(text))
	}
	if n := len(b.list(store.Filter{Stream: claimdlq.StreamNCPDP})); n != 0 {
		t.Errorf("%d records are pharmacy claims", n)
	}
}

func TestRxFile_AFileThatIsOneHugeMessageIsKept(t *testing.T) {
	t.Parallel()
	b := rxSetup(t, "")
	for i, file := range [][]byte{
		append(rxOne(t, "B1", 1), bytes.Repeat([]byte("A"), 3<<20)...),
		append([]byte("\x02"), bytes.Repeat([]byte("999999D0B1"), 300_000)...),
	} {
		res := b.rxIngest(file)
		if res.Quarantined != 1 || res.Claims != 1 {
			t.Errorf("file %d: %+v", i, res)
		}
	}
	sizes := []int64{}
	b.must(b.v.Units(t.Context(), func(_ string, n int64) bool { sizes = append(sizes, n); return true }))
	slices.Sort(sizes)
	if len(sizes) != 2 || sizes[0] < 3_000_000 {
		t.Errorf("kept %v bytes", sizes)
	}
}

// endless is a good batch of many details that is made as it is read.
type endless struct {
	detail []byte
	left   int
	n      int
	buf    []byte
	rx     int
}

func (e *endless) Read(p []byte) (int, error) {
	for len(e.buf) == 0 {
		if e.left == 0 {
			return 0, io.EOF
		}
		e.left--
		e.n++
		d := bytes.Clone(e.detail)
		copy(d[3:13], fmt.Sprintf("%010d", e.n))
		copy(d[e.rx:], fmt.Sprintf("%07d", e.n))
		e.buf = d
	}
	n := copy(p, e.buf)
	e.buf = e.buf[n:]
	return n, nil
}

// nullStore keeps nothing: what is left is what intake itself needs.
type nullStore struct {
	store.Store
	last  claimdlq.ID
	count int
}

func (n *nullStore) Commit(_ context.Context, b store.Batch) (store.Receipt, error) {
	var r store.Receipt
	for range b.Insert {
		n.last++
		r.Inserted = append(r.Inserted, store.InsertResult{ID: n.last})
	}
	n.count += len(b.Insert)
	return r, nil
}

func (n *nullStore) Lookup(context.Context, claimdlq.Ref, int) ([]claimdlq.Record, error) {
	return nil, nil
}

func (n *nullStore) Seen(_ context.Context, fps []claimdlq.Key) ([]claimdlq.ID, error) {
	return make([]claimdlq.ID, len(fps)), nil
}

func (n *nullStore) Get(_ context.Context, id claimdlq.ID) (claimdlq.Record, error) {
	return claimdlq.Record{ID: id, State: claimdlq.StateQueued, Hold: claimdlq.HoldIntake, Format: claimdlq.FormatNCPDP, Claims: 1}, nil
}

type nullVault struct{ vault.Vault }

func (nullVault) StageWith(p, a phi.Bytes) (claimdlq.PayloadRef, error) {
	return claimdlq.PayloadRef{Unit: "null", Length: int64(p.Len())}, nil
}
func (nullVault) Sync(context.Context) error { return nil }

func TestRxFile_MemoryDoesNotGrowWithTheBatch(t *testing.T) { // alone: it measures memory
	one := rxSet(t, rxOne(t, "B1", 1), "07-D2=0000000")
	detail := append([]byte("\x02G10000000000"), append(one, 3)...)
	e := &endless{detail: detail, left: 60_000, rx: bytes.Index(detail, []byte("\x1cD20000000")) + 3}
	head := rxBatch(1)
	st := &nullStore{}
	b := rxSetup(t, "", func(d *flow.Deps) { d.Store, d.Vault = st, nullVault{} })
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	trailer := fmt.Sprintf("\x02990000001%010d%35s\x03", 60_002, "")
	res, err := b.f.Intake.File(t.Context(), source, "", io.MultiReader(bytes.NewReader(head[:75]), e, strings.NewReader(trailer), gcReader{&after}))
	b.must(err)
	if res.Error != "" || res.Accepted != 60_000 || st.count != 60_000 {
		t.Fatalf("got %+v, %d records", res, st.count)
	}
	// The references of a batch are kept to find one used twice: some 60 bytes each.
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 12<<20 {
		t.Errorf("%d MiB are held after 60,000 details (%d MiB of file)", grown>>20, len(detail)*60_000>>20)
	}
}

// gcReader is empty; reading it measures what is held.
type gcReader struct{ m *runtime.MemStats }

func (g gcReader) Read([]byte) (int, error) {
	runtime.GC()
	runtime.ReadMemStats(g.m)
	return 0, io.EOF
}
