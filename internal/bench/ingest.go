package bench

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"claimdlq"
	"claimdlq/flow"
	"claimdlq/internal/testclaims"
	"claimdlq/target"
	"claimdlq/vault/keyring"
	"claimdlq/wire/x12"
)

// ingest times the intake of a whole file on one core: judged by the guide,
// every set sealed, indexed, audited and flushed before the answer.
func ingest(ctx context.Context, o Options, emit func(Result)) error {
	r, err := openRig(o, "ingest")
	if err != nil {
		return err
	}
	defer func() { _ = r.close() }()
	path := filepath.Join(r.dir, "claims.x12")
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	st, err := testclaims.Generate(f, fileOptions(o))
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	kr, err := keyring.Open(filepath.Join(r.dir, "keys"))
	if err != nil {
		return err
	}
	fl := flow.Assemble(flow.Deps{
		Store: r.store, Vault: r.vault, Identities: kr.Identities(), Rules: x12.LatestRules(),
		Routes: func(_, _ string) (target.Route, bool) { return target.Route{}, false }, Log: slog.New(slog.DiscardHandler), Now: time.Now,
	})
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	resetPeak()
	t, c := time.Now(), cpuTime()
	res, err := fl.Intake.File(ctx, claimdlq.System("bench"), "bench.x12", in)
	if err != nil {
		return err
	}
	el, cpu := time.Since(t), cpuTime()-c
	if res.Accepted != int64(st.Claims) {
		return fmt.Errorf("%d of %d clean claims were accepted", res.Accepted, st.Claims)
	}
	emit(Result{"ingest", "claims", float64(st.Claims), "claims"})
	emit(Result{"ingest", "rate, one core", float64(st.Bytes) / 1e6 / el.Seconds(), "MB/s"})
	emit(Result{"ingest", "claims, one core", float64(st.Claims) / el.Seconds(), "per second"})
	emit(Result{"ingest", "cpu", float64(cpu.Nanoseconds()) / 1000 / float64(st.Claims), "us per claim"})
	emit(Result{"ingest", "peak resident memory", rssMB("VmHWM"), "MB"})
	return nil
}
