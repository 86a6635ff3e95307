package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"claimdlq"
	"claimdlq/phi"
	"claimdlq/store"
	"claimdlq/store/filestore"
	"claimdlq/vault/filevault"
	"claimdlq/vault/keyring"
)

// rig is a store and a vault in a scratch folder, without a flow around them.
type rig struct {
	dir   string
	store *filestore.Store
	vault *filevault.Vault
}

func openRig(o Options, name string) (*rig, error) {
	r := &rig{dir: filepath.Join(o.Dir, "claimdlq-bench-"+name)}
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return nil, err
	}
	kr, err := keyring.Open(filepath.Join(r.dir, "keys"))
	if err != nil {
		return nil, err
	}
	if r.vault, err = filevault.Open(filepath.Join(r.dir, "vault"), filepath.Join(r.dir, "keys"), kr); err != nil {
		return nil, err
	}
	r.store, err = filestore.Open(filepath.Join(r.dir, "journal"), filestore.Options{})
	return r, err
}

func (r *rig) close() error {
	err := r.store.Close()
	if verr := r.vault.Close(); err == nil {
		err = verr
	}
	if rerr := os.RemoveAll(r.dir); err == nil {
		err = rerr
	}
	return err
}

var epoch = time.Date(2026, 7, 17, 12, 0, 0, 0, time.UTC)

// record makes record n as a quarantine would: always the same one.
func record(n int) claimdlq.Record {
	k := pseudo(uint64(n))
	at := epoch.Add(time.Duration(n) * time.Millisecond)
	r := claimdlq.Record{
		Key: k, Digest: claimdlq.Digest(k), KeyTerm: 1, Batch: claimdlq.Ref(uint64(k[0])<<56 | uint64(n)),
		Format: claimdlq.Format837P, InterchangeID: fmt.Sprintf("%09d", n/200), GroupID: "1", TransactionID: fmt.Sprintf("%04d", n%200),
		Sender: "ZZ:TESTSENDER", Partner: fmt.Sprintf("ZZ:TESTPAYER%03d", k[1]%200), Stream: "837", Usage: "T",
		State: claimdlq.StateQuarantined, Reason: claimdlq.Reasons[int(k[2])%len(claimdlq.Reasons)], Class: claimdlq.Poison,
		Detail: claimdlq.NewDetail(fmt.Sprintf("IK4:SV10%d", k[3]%9)), RuleVersion: "v2026.11",
		PayloadRevision: 1, Claims: 1, AmountCents: 12500, AttemptCount: 1, CreatedAt: at, FirstFailedAt: at, UpdatedAt: at,
	}
	return r
}

func entry(act claimdlq.Action, id claimdlq.ID, r claimdlq.Record) claimdlq.Entry {
	return claimdlq.Entry{At: r.UpdatedAt, Actor: "system:bench", Action: act, Record: id, Detail: r.Detail, To: r.State}
}

// insert times what a failing claim costs: seal 2.5 KB on average, flush it,
// commit the record with its audit entry, flush that.
func insert(ctx context.Context, o Options, emit func(Result)) error {
	r, err := openRig(o, "insert")
	if err != nil {
		return err
	}
	var next atomic.Int64
	l, err := drive(o.Producers, o.For, func(rnd *rand.Rand) error {
		payload := make([]byte, 1024+rnd.IntN(3072))
		rec := record(int(next.Add(1)))
		copy(payload, rec.Key[:])
		ref, err := r.vault.Stage(phi.Wrap(payload))
		if err != nil {
			return err
		}
		if err := r.vault.Sync(ctx); err != nil {
			return err
		}
		rec.Payload = ref
		_, err = r.store.Commit(ctx, store.Batch{Insert: []claimdlq.Record{rec}, Entries: []claimdlq.Entry{entry(claimdlq.ActEnqueue, store.ParentIndex(0), rec)}})
		return err
	})
	if err == nil {
		l.emit("insert", emit)
	}
	if cerr := r.close(); err == nil {
		err = cerr
	}
	return err
}

// fill commits records 0..n in batches of 1,000.
func (r *rig) fill(ctx context.Context, n int) error {
	var b store.Batch
	for i := range n {
		rec := record(i)
		b.Insert = append(b.Insert, rec)
		b.Entries = append(b.Entries, entry(claimdlq.ActEnqueue, store.ParentIndex(len(b.Insert)-1), rec))
		if len(b.Insert) == 1000 || i == n-1 {
			if _, err := r.store.Commit(ctx, b); err != nil {
				return err
			}
			if last := b.Entries[len(b.Entries)-1]; last.Record != 0 {
				if err := r.store.AuditedTo(ctx, uint64(i+1)); err != nil {
					return err
				}
			}
			b = store.Batch{}
		}
	}
	return nil
}

// change times state changes with their audit entries in a store of o.Records:
// read, decide, compare-and-set, flush.
func change(ctx context.Context, o Options, emit func(Result)) error {
	r, err := openRig(o, "change")
	if err != nil {
		return err
	}
	defer func() { _ = r.close() }()
	if err := r.fill(ctx, o.Records); err != nil {
		return err
	}
	emit(Result{"change", "records", float64(o.Records), "records"})
	// Each producer walks ids of its own, as workers with leases do.
	var producer atomic.Int64
	ids := make([]atomic.Int64, o.Producers)
	l, err := drive(o.Producers, o.For, func(*rand.Rand) error {
		p := producer.Add(1) % int64(o.Producers)
		i := ids[p].Add(1)
		id := claimdlq.ID((i*int64(o.Producers)+p)%int64(o.Records) + 1)
		rec, err := r.store.Get(ctx, id)
		if err != nil {
			return err
		}
		var next claimdlq.Record
		act := claimdlq.ActPark
		if rec.State == claimdlq.StateQuarantined {
			next, err = rec.Park(claimdlq.ReasonNone, rec.UpdatedAt.Add(time.Second))
		} else {
			next, err = rec.Unpark(claimdlq.DefaultPolicy(), rec.UpdatedAt.Add(time.Second))
			act = claimdlq.ActUnpark
		}
		if err != nil {
			return err
		}
		_, err = r.store.Commit(ctx, store.Batch{Update: []claimdlq.Record{next}, Entries: []claimdlq.Entry{entry(act, id, next)}})
		return err
	})
	if err != nil {
		return err
	}
	l.emit("change", emit)
	return nil
}

// large shows what a store of o.Records unresolved records costs.
func large(ctx context.Context, o Options, emit func(Result)) error {
	r, err := openRig(o, "large")
	if err != nil {
		return err
	}
	defer func() { _ = r.close() }()
	t := time.Now()
	if err := r.fill(ctx, o.Records); err != nil {
		return err
	}
	emit(Result{"large", "records", float64(o.Records), "records"})
	emit(Result{"large", "load", float64(o.Records) / time.Since(t).Seconds(), "records per second"})
	if err := r.store.Close(); err != nil {
		return err
	}
	r.store = nil
	resetPeak() // what loading left behind is not what an open store costs
	t = time.Now()
	if r.store, err = filestore.Open(filepath.Join(r.dir, "journal"), filestore.Options{}); err != nil {
		return err
	}
	emit(Result{"large", "open from a snapshot", ms(time.Since(t)), "ms"})
	emit(Result{"large", "resident memory", rssMB("VmRSS"), "MB"})
	filters := map[string]store.Filter{
		"list of 50 by state":                     {State: claimdlq.StateQuarantined},
		"list of 50 by state and reason":          {State: claimdlq.StateQuarantined, Reason: claimdlq.FatalSyntax},
		"list of 50 by state and partner":         {State: claimdlq.StateQuarantined, Partner: "ZZ:TESTPAYER007"},
		"list of 50 by state, reason and partner": {State: claimdlq.StateQuarantined, Reason: claimdlq.FatalSyntax, Partner: "ZZ:TESTPAYER007"},
	}
	names := make([]string, 0, len(filters))
	for n := range filters {
		names = append(names, n)
	}
	slices.Sort(names)
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, n := range names {
		if err := timeMany(emit, n, 300, func() error {
			rs, err := r.store.List(ctx, filters[n], claimdlq.ID(1+rnd.Uint64N(uint64(o.Records))), 50)
			if err == nil && o.Records > 1_000_000 && len(rs) == 0 {
				return nil // a page before the first match
			}
			return err
		}); err != nil {
			return err
		}
	}
	if err := timeMany(emit, "counts", 300, func() error { _, err := r.store.Stats(ctx); return err }); err != nil {
		return err
	}
	if err := timeMany(emit, "groups", 50, func() error { _, err := r.store.Groups(ctx, store.Filter{}, 50); return err }); err != nil {
		return err
	}
	return timeMany(emit, "get", 1000, func() error {
		_, err := r.store.Get(ctx, claimdlq.ID(1+rnd.Uint64N(uint64(o.Records))))
		return err
	})
}

func timeMany(emit func(Result), what string, n int, f func() error) error {
	lats := make([]time.Duration, 0, n)
	for range n {
		t := time.Now()
		if err := f(); err != nil {
			return err
		}
		lats = append(lats, time.Since(t))
	}
	emit(Result{"large", what + ", p50", ms(percentile(lats, .50)), "ms"})
	emit(Result{"large", what + ", p99", ms(percentile(lats, .99)), "ms"})
	return nil
}
