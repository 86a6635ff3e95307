package flow_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/flow"
	"claimdlq/flow/intake"
	"claimdlq/internal/payersim"
	"claimdlq/internal/testclaims"
	"claimdlq/phi"
	"claimdlq/store"
	"claimdlq/target"
	"claimdlq/wire/ncpdp"
	"claimdlq/wire/x12"
)

// rxBench is a flow of pharmacy claims on a store and vault in memory, with a payer
// that adjudicates what is delivered.
type rxBench struct {
	*bench
}

// rxSetup returns an rxBench whose payer follows the script. change may alter what the
// flow works with. The test ends with a check of conservation.
func rxSetup(t *testing.T, script string, change ...func(*flow.Deps)) *rxBench {
	t.Helper()
	b := &rxBench{&bench{t: t, log: &syncBuffer{}, clock: &clock{at: time.Date(2026, 7, 18, 10, 0, 0, 0, time.UTC)}}}
	b.st, b.v = adapters(t)
	sc, err := payersim.ParseScript(script)
	if err != nil {
		t.Fatal(err)
	}
	if b.payer, err = payersim.New(payersim.Options{Script: sc, Now: b.clock.now}); err != nil {
		t.Fatal(err)
	}
	route := target.Route{Target: b.payer.Target(), IdempotentResend: true}
	b.deps = flow.Deps{
		Store: b.st, Vault: b.v, Identities: []*claimdlq.Identity{identity(1)},
		Routes: func(stream, _ string) (target.Route, bool) { return route, stream == claimdlq.StreamNCPDP },
		Rules:  x12.LatestRules(),
		Log:    slog.New(slog.NewTextHandler(b.log, nil)), Now: b.clock.now,
	}
	for _, f := range change {
		f(&b.deps)
	}
	b.assemble()
	t.Cleanup(b.conserved)
	return b
}

// rxMessages returns the transmissions that o asks for, each by itself.
func rxMessages(t testing.TB, o testclaims.RxOptions) [][]byte {
	t.Helper()
	var out [][]byte
	if _, err := testclaims.EachRx(o, func(_ int, b []byte) error {
		out = append(out, bytes.Clone(b))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

// rxOne returns the nth claim of a seed, from 1, as a transmission of its own: plain
// (no compound, no other payer, no partial fill), under the given code.
func rxOne(t testing.TB, code string, n int) []byte {
	t.Helper()
	return rxMessages(t, testclaims.RxOptions{Seed: 1, Code: code, FirstClaim: n, CompoundEvery: -1, COBEvery: -1, PartialEvery: -1})[0]
}

// rxFile returns a file of pharmacy messages.
func rxFile(t testing.TB, o testclaims.RxOptions) []byte {
	t.Helper()
	var out bytes.Buffer
	if _, err := testclaims.GenerateRx(&out, o); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// rxSet returns the message with a field of its first transaction set, such as
// 11-DU=1234{.
func rxSet(t testing.TB, msg []byte, assignments ...string) []byte {
	t.Helper()
	var as []ncpdp.Assignment
	for _, s := range assignments {
		a, err := ncpdp.ParseAssignment(s)
		if err != nil {
			t.Fatal(err)
		}
		as = append(as, a)
	}
	out, err := ncpdp.Edit(msg, 1, as)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// rxFixture returns a case of the shared pharmacy files, and skips where they are not
// next to this repository.
func rxFixture(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(rxFixtures(t), name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func rxFixtures(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		at := filepath.Join(dir, "shared", "fixtures", "ncpdp", "files")
		if _, err := os.Stat(at); err == nil {
			return at
		}
	}
	t.Skip("the shared pharmacy fixtures are not next to this repository")
	return ""
}

// message takes one transmission in.
func (b *rxBench) message(raw []byte) intake.Receipt {
	b.t.Helper()
	r, err := b.f.Intake.Message(b.t.Context(), source, phi.Wrap(bytes.Clone(raw)), intake.MessageOptions{})
	b.must(err)
	b.conserved()
	return r
}

// take takes one transmission of one transaction in.
func (b *rxBench) take(raw []byte) intake.Taken {
	b.t.Helper()
	r := b.message(raw)
	if len(r.Records) != 1 {
		b.t.Fatalf("%d records", len(r.Records))
	}
	return r.Records[0]
}

// takes takes one transmission in and checks what became of its transactions.
func (b *rxBench) takes(raw []byte, want ...intake.Status) intake.Receipt {
	b.t.Helper()
	r := b.message(raw)
	var got []intake.Status
	for _, t := range r.Records {
		got = append(got, t.Status)
	}
	if !slices.Equal(got, want) {
		b.t.Fatalf("got %v, want %v\n%s", got, want, b.dump())
	}
	return r
}

// submissions returns all of them, oldest first.
func (b *rxBench) submissions() []claimdlq.Submission {
	b.t.Helper()
	var out []claimdlq.Submission
	for id := claimdlq.SubmissionID(1); ; id++ {
		s, err := b.st.Submission(b.t.Context(), id)
		if errors.Is(err, claimdlq.NotFound) {
			return out
		}
		b.must(err)
		out = append(out, s)
	}
}

// force settles the record without a payer, as if it had been delivered.
func (b *rxBench) force(id claimdlq.ID, d claimdlq.Disposition) {
	b.t.Helper()
	b.step(id, func(r claimdlq.Record) (claimdlq.Record, error) {
		return r.Settle(d, claimdlq.NewDetail("TEST"), b.clock.now())
	})
}

// step makes steps of one record durable, each by itself.
func (b *rxBench) step(id claimdlq.ID, steps ...func(claimdlq.Record) (claimdlq.Record, error)) {
	b.t.Helper()
	for _, f := range steps {
		n, err := f(b.record(id))
		b.must(err)
		_, err = b.st.Commit(b.t.Context(), store.Batch{Update: []claimdlq.Record{n}})
		b.must(err)
	}
}

// rxIngest takes a file of pharmacy claims in.
func (b *rxBench) rxIngest(file []byte) intake.Result {
	b.t.Helper()
	res, err := b.f.Intake.File(b.t.Context(), source, "TEST.ncpdp", bytes.NewReader(file))
	b.must(err)
	b.conserved()
	if res.Claims != res.Accepted+res.Quarantined+res.Duplicates+res.Conflicts+res.InDoubt {
		b.t.Errorf("result does not add up: %+v", res)
	}
	return res
}

// noMarks fails if a mark of canary claims is in a record, a submission, an audit
// entry or the log.
func (b *rxBench) noMarks(marks []string) {
	b.t.Helper()
	var all strings.Builder
	for _, r := range b.list(store.Filter{}) {
		fmt.Fprintf(&all, "%+v\n", r)
	}
	for _, s := range b.submissions() {
		fmt.Fprintf(&all, "%+v\n", s)
	}
	b.must(b.st.Entries(b.t.Context(), 1, func(e claimdlq.Entry) bool {
		fmt.Fprintf(&all, "%+v\n", e)
		return true
	}))
	all.WriteString(b.log.String())
	for _, m := range marks {
		if strings.Contains(all.String(), m) {
			b.t.Errorf("%s is outside the vault", m)
		}
	}
}
