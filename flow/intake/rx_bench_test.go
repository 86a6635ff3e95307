package intake_test

import (
	"bytes"
	"context"
	"syscall"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/flow/intake"
	"claimdlq/internal/testclaims"
	"claimdlq/phi"
	"claimdlq/store"
	"claimdlq/store/memstore"
	"claimdlq/vault"
	"claimdlq/vault/memvault"
	"claimdlq/wire/x12"
)

// nowhere keeps nothing, so that what is measured is intake alone.
type nowhere struct {
	store.Store
	last claimdlq.ID
}

func (n *nowhere) Commit(_ context.Context, b store.Batch) (store.Receipt, error) {
	r := store.Receipt{Inserted: make([]store.InsertResult, len(b.Insert))}
	for i := range r.Inserted {
		n.last++
		r.Inserted[i].ID = n.last
	}
	return r, nil
}

func (*nowhere) Lookup(context.Context, claimdlq.Ref, int) ([]claimdlq.Record, error) {
	return nil, nil
}

type unsealed struct{ vault.Vault }

func (unsealed) StageWith(p, _ phi.Bytes) (claimdlq.PayloadRef, error) {
	return claimdlq.PayloadRef{Unit: "bench", Length: int64(p.Len())}, nil
}
func (unsealed) Sync(context.Context) error { return nil }

func benchIntake(st store.Store, v vault.Vault) *intake.Intake {
	return intake.New(intake.Options{
		Store: st, Vault: v, Identities: []*claimdlq.Identity{claimdlq.NewIdentity(1, bytes.Repeat([]byte{1}, 32))},
		Rules: x12.LatestRules(), Now: time.Now,
	})
}

// benchMessages returns many different claims, each a transmission of its own.
func benchMessages(b testing.TB, o testclaims.RxOptions) (out []phi.Bytes) {
	b.Helper()
	if _, err := testclaims.EachRx(o, func(_ int, raw []byte) error {
		out = append(out, phi.Wrap(bytes.Clone(raw)))
		return nil
	}); err != nil {
		b.Fatal(err)
	}
	return out
}

// reportCPU reports the processor time of the process per claim, which says more than
// the clock on a machine that others use.
func reportCPU(b *testing.B) func() {
	before := cpu()
	return func() { b.ReportMetric(float64((cpu()-before).Nanoseconds())/float64(b.N), "cpu-ns/op") }
}

func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Figures are per claim.
func BenchmarkMessages(b *testing.B) {
	const pool, chunk = 1 << 14, 256
	all := benchMessages(b, testclaims.RxOptions{Seed: 1, Claims: pool})
	for _, bb := range []struct {
		name string
		st   func() store.Store
		v    func() vault.Vault
	}{
		{"alone", func() store.Store { return &nowhere{} }, func() vault.Vault { return unsealed{} }},
		{"memstore", func() store.Store { return memstore.New() }, func() vault.Vault { return memvault.New() }},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			var in *intake.Intake
			defer reportCPU(b)()
			for n := 0; n < b.N; n += chunk {
				at := n % pool
				if at == 0 {
					b.StopTimer()
					in = benchIntake(bb.st(), bb.v())
					b.StartTimer()
				}
				if _, err := in.Messages(b.Context(), claimdlq.System("bench"), all[at:at+chunk], intake.MessageOptions{Bulk: true}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// What a call allocates is for the call, not for each of its claims.
func TestMessages_AllocateNothingPerClaim(t *testing.T) {
	if racing {
		t.Skip("the race detector allocates")
	}
	const claims = 256
	all := benchMessages(t, testclaims.RxOptions{Seed: 1, Claims: claims, COBEvery: -1, PartialEvery: -1}) // none has others of its fill
	in := benchIntake(&nowhere{}, unsealed{})
	allocs := testing.AllocsPerRun(20, func() {
		if _, err := in.Messages(t.Context(), claimdlq.System("bench"), all, intake.MessageOptions{Bulk: true}); err != nil {
			t.Fatal(err)
		}
	})
	if allocs > claims/20 {
		t.Errorf("%.0f allocations for %d claims", allocs, claims)
	}
}

func BenchmarkMessage(b *testing.B) {
	const pool = 1 << 14
	all := benchMessages(b, testclaims.RxOptions{Seed: 1, Claims: pool})
	in := benchIntake(&nowhere{}, unsealed{})
	b.ReportAllocs()
	defer reportCPU(b)()
	for n := 0; b.Loop(); n++ {
		if _, err := in.Message(b.Context(), claimdlq.System("bench"), all[n%pool], intake.MessageOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}
