// Package flow joins the stages of a claim's life, in order:
//
//	intake   bytes are recognised, judged, sealed and recorded
//	attempt  what is queued is delivered, within its budget
//	settle   acknowledgments decide what became of it
//	correct  what was refused gets its next revision
//	replay   and is released again, under the guard and the cap
//	retain   whatever nothing moves is parked, and destroyed once it is final
//
// Stages never call each other: they hand over through the states of records and
// submissions in the store. The one exception is wired here: acknowledgments that
// come back with a delivery go to settle.
package flow

import (
	"bytes"
	"cmp"
	"context"
	"log/slog"
	"time"

	"claimdlq"
	"claimdlq/classify"
	"claimdlq/flow/attempt"
	"claimdlq/flow/correct"
	"claimdlq/flow/dlqlog"
	"claimdlq/flow/filing"
	"claimdlq/flow/intake"
	"claimdlq/flow/lineage"
	"claimdlq/flow/replay"
	"claimdlq/flow/retain"
	"claimdlq/flow/settle"
	"claimdlq/phi"
	"claimdlq/retry"
	"claimdlq/store"
	"claimdlq/target"
	"claimdlq/vault"
	"claimdlq/wire/x12"
)

// Deps are what the stages work with. All but Log and Breaker are required.
type Deps struct {
	Store store.Store
	Vault vault.Vault
	// Identities are the terms of the HMAC key, current first; at least one.
	Identities []*claimdlq.Identity
	// Routes says where claims go; what has no route is held.
	Routes   target.Routes
	Policies claimdlq.Policies
	// Windows say by when claims must be with their payers. Default: no limit.
	Windows filing.Windows
	Rules   *x12.Rules
	Log     *slog.Logger
	Now     func() time.Time
	Breaker retry.Options
	// Breakers, if not nil, tunes the breaker of each partner in place of Breaker.
	Breakers func(stream, partner string) retry.Options
	// Rx are partners' own meanings of reject codes; nil is none.
	Rx *classify.NCPDPRules
	// Workers is how many deliveries may be under way. Default: 64.
	Workers int
	// Guard is shared with whatever else releases claims. Default: one of its own.
	Guard *lineage.Guard
}

// Flow is the stages, joined. It is safe for concurrent use; at the start of a
// process call Recover first.
type Flow struct {
	Intake  *intake.Intake
	Attempt *attempt.Attempt
	Settle  *settle.Settle
	Correct *correct.Correct
	Replay  *replay.Replay
	Retain  *retain.Retain
}

// Assemble joins the stages.
func Assemble(d Deps) *Flow {
	log, guard := dlqlog.Named(d.Log), cmp.Or(d.Guard, lineage.NewGuard())
	f := &Flow{
		Intake: intake.New(intake.Options{
			Store: d.Store, Vault: d.Vault, Identities: d.Identities, Rules: d.Rules, Guard: guard, Log: log, RxLog: dlqlog.NamedRx(d.Log), Now: d.Now,
		}),
		Settle: settle.New(settle.Options{
			Store: d.Store, Vault: d.Vault, Identities: d.Identities, Routes: d.Routes, Policies: d.Policies,
			Rules: d.Rules, Rx: d.Rx, Log: log, RxLog: dlqlog.NamedRx(d.Log), Now: d.Now,
		}),
		Correct: correct.New(correct.Options{Store: d.Store, Vault: d.Vault, Rules: d.Rules, Now: d.Now}),
		Replay:  replay.New(d.Replays(guard)),
		Retain:  retain.New(retain.Options{Store: d.Store, Vault: d.Vault, Policies: d.Policies, Windows: d.Windows, Log: log, Now: d.Now}),
	}
	f.Attempt = attempt.New(attempt.Options{
		Store: d.Store, Vault: d.Vault, Identities: d.Identities, Routes: d.Routes, Policies: d.Policies, Log: log, Now: d.Now,
		Breaker: d.Breaker, Breakers: d.Breakers, Rx: d.Rx, RxLog: dlqlog.NamedRx(d.Log), Workers: d.Workers, Answer: f.answer,
	})
	return f
}

// Recover takes back and finishes what a dead process left. It is for the start of a
// process, before anything else. Errors: those of the store.
func (f *Flow) Recover(ctx context.Context) error {
	if err := f.Intake.Recover(ctx); err != nil {
		return err
	}
	return f.Attempt.Recover(ctx)
}

// Replays returns what replays work with, for what drives them by itself.
func (d Deps) Replays(guard *lineage.Guard) replay.Config {
	return replay.Config{
		Store: d.Store, Vault: d.Vault, Identities: d.Identities, Policies: d.Policies, Rules: d.Rules, Guard: guard,
		Log: dlqlog.Named(d.Log), RxLog: dlqlog.NamedRx(d.Log), Now: d.Now,
	}
}

// answer settles by acknowledgments that came back with a delivery.
func (f *Flow) answer(ctx context.Context, b phi.Bytes) error {
	_, err := f.Settle.Acks(ctx, claimdlq.System("settle"), "", bytes.NewReader(b.Reveal()))
	return err
}
