package app

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"claimdlq"
	"claimdlq/audit"
	"claimdlq/classify"
	"claimdlq/flow"
	"claimdlq/flow/attempt"
	"claimdlq/flow/filing"
	"claimdlq/flow/lineage"
	"claimdlq/flow/replay"
	"claimdlq/internal/auth"
	"claimdlq/store"
	"claimdlq/store/filestore"
	"claimdlq/vault/filevault"
	"claimdlq/vault/keyring"
	"claimdlq/wire/x12"
)

// Options say where the data is and where claims go. Dir and Now are required.
type Options struct {
	// Dir is the data directory.
	Dir string
	// Create makes the directory where there is none, or makes an empty one a data
	// directory. Otherwise that is an error with code NotFound, so that a typing
	// mistake does not make an empty one.
	Create bool
	// Targets say where claims go: "URL", "FOLDER", or "STREAM=" or "PARTNER=" and one
	// of them. A stream is 837 or ncpdp; a partner ISA08, ISA07:ISA08, a BIN, or
	// BIN:PCN. Default: nowhere; claims are held.
	Targets []string
	// Status says, in the same form, where to ask what became of a delivery; see
	// Endpoint. Default: nowhere.
	Status []string
	// Authorization is sent to the HTTP targets in Targets. It is never shown.
	Authorization string
	// Endpoints say the same in full, by stream, partner, or STREAM/PARTNER; "" is for
	// everybody.
	Endpoints map[string]Endpoint
	// Overrides are partners' own meanings of reject codes. Default: none.
	Overrides []classify.NCPDPOverride
	// Workers is how many deliveries may be under way. Default: 64.
	Workers int
	// SignIn says how people sign in to the API; Dir and Now are filled in.
	SignIn auth.Options
	// Stopped is what the configuration stops, beside what people have.
	Stopped []attempt.Switch
	// Policies hold the levers of each stream. Default: those that the directory was
	// opened with last, or claimdlq.DefaultPolicy.
	Policies claimdlq.Policies
	// Windows say by when claims must be with their payers. Default: those that the
	// directory was opened with last, or no limit.
	Windows filing.Windows
	// Log takes the log. Default: none.
	Log *slog.Logger
	// Now is the clock.
	Now func() time.Time
}

// App is an open data directory.
type App struct {
	Flow  *flow.Flow
	Store *filestore.Store
	Vault *filevault.Vault
	Keys  *keyring.Keyring
	Audit *audit.Log
	// Desk knows who may sign in to the API, and what he may do.
	Desk *auth.Desk

	log      *slog.Logger
	now      func() time.Time
	policies claimdlq.Policies
	windows  filing.Windows
	watching sync.Mutex // one Watch at a time
	watched  time.Time  // when the last one was
	routes   *routes

	replays replay.Config
	// kept is what people had stopped when the directory was opened, stopped what the
	// configuration stops.
	kept, stopped []attempt.Switch

	dir, auditDir string

	once    sync.Once
	closers []func() error // run last to first
	err     error
}

// Open opens a data directory, takes back what a dead process was delivering, and
// starts to move audit entries into the audit log. Close it.
//
// Errors: NotFound (no such directory), Unavailable (locked, or the disk), Corrupt
// (damaged, or a part of it is missing or was restored alone), Invalid (a target, or
// a directory of other things).
func Open(ctx context.Context, o Options) (*App, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	a := &App{log: o.Log, now: o.Now, dir: o.Dir}
	if err := a.open(ctx, o); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// open wires from the ground up. What was opened before an error is in a.closers.
func (a *App) open(ctx context.Context, o Options) error {
	var err error
	if a.routes, err = makeRoutes(o); err != nil {
		return err
	}
	if err := makeDir(o.Dir, o.Create); err != nil {
		return err
	}
	l, err := lockDir(o.Dir)
	if err != nil {
		return err
	}
	a.onClose(l.release)
	if err := checkParts(o.Dir); err != nil {
		return err
	}
	if err := a.keepPolicies(o.Policies, o.Windows); err != nil {
		return err
	}
	if a.Keys, err = keyring.Open(filepath.Join(o.Dir, dirKeys)); err != nil {
		return err
	}
	if a.Vault, err = filevault.Open(filepath.Join(o.Dir, dirVault), filepath.Join(o.Dir, dirKeys), a.Keys); err != nil {
		return err
	}
	a.onClose(a.Vault.Close)
	if a.Store, err = filestore.Open(filepath.Join(o.Dir, dirJournal), filestore.Options{}); err != nil {
		return err
	}
	a.onClose(a.Store.Close)
	if err := a.openAudit(o); err != nil {
		return err
	}
	rx, err := classify.NewNCPDPRules(o.Overrides)
	if err != nil {
		return err
	}
	guard := lineage.NewGuard()
	deps := flow.Deps{
		Store: a.Store, Vault: a.Vault, Identities: a.Keys.Identities(), Routes: a.routes.find,
		Policies: a.policies, Windows: a.windows, Rules: x12.LatestRules(), Log: o.Log, Now: o.Now,
		Breakers: a.routes.breaker, Rx: rx, Workers: o.Workers, Guard: guard,
	}
	a.Flow, a.replays = flow.Assemble(deps), deps.Replays(guard)
	o.SignIn.Dir, o.SignIn.Now = filepath.Join(o.Dir, dirAuth), o.Now
	if a.Desk, err = auth.Open(o.SignIn); err != nil {
		return err
	}
	a.onClose(a.Desk.Flush)
	if err := a.restoreSwitches(o.Stopped); err != nil {
		return err
	}
	return a.Flow.Recover(ctx)
}

func (a *App) onClose(f func() error) { a.closers = append(a.closers, f) }

// Close stops in the reverse order of Open and gives the lock up. A second call
// does nothing and returns what the first did.
func (a *App) Close() error {
	a.once.Do(func() {
		var errs []error
		for _, f := range slices.Backward(a.closers) {
			errs = append(errs, f())
		}
		a.err = errors.Join(errs...)
	})
	return a.err
}

// Replays returns what bulk replays work with.
func (a *App) Replays() replay.Config { return a.replays }

// Note makes an event of the sign-in desk durable in the audit log.
func (a *App) Note(ctx context.Context, e auth.Event) error {
	_, err := a.Store.Commit(ctx, store.Batch{Entries: []claimdlq.Entry{e.Entry()}})
	return err
}

// Policies returns the levers that the directory goes by.
func (a *App) Policies() claimdlq.Policies { return a.policies }

// HasTarget reports whether any target is configured.
func (a *App) HasTarget() bool { return a.routes.any() }
