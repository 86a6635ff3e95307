package app

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"claimdlq"
	"claimdlq/flow/attempt"
	"claimdlq/flow/audited"
	"claimdlq/internal/atomicfile"
	"claimdlq/store"
)

// fileSwitches holds what people have stopped, so that it stays stopped.
const fileSwitches = "switches.json"

// Turn is one turn of a switch: to stop a stream, or one partner of it, or to let it go
// on; partner "" is the whole stream.
type Turn struct {
	attempt.Switch

	Stop bool
	// Unseen stops a partner too who is not known here yet.
	Unseen bool
}

// Switch stops or starts the deliveries of a stream, or of one partner of it. Stopping
// works at once: what is not with the payer yet stays here and spends no budget. It is
// durable and audited on return. Errors: Refused without a name and a reason, or a
// partner of whom nothing is known, for that is a slip of the pen while the one who was
// meant goes on; Unavailable (it is stopped all the same, but not for the next process).
func (a *App) Switch(ctx context.Context, by claimdlq.By, t Turn) error {
	if err := audited.Named(by, "switch stream "+t.Stream); err != nil {
		return err
	}
	if t.Stop && !t.Unseen && !a.knows(ctx, t.Switch) {
		return &claimdlq.Error{
			Code: claimdlq.Refused, Op: "stop partner", On: "who is not known here: nothing was stopped",
			Hint: "look at the names: GET /v1/partners, or claimdlq list; unseen (--unseen) stops one of whom no claim has come yet",
		}
	}
	if t.Stop {
		a.Flow.Attempt.Stop(t.Stream, t.Partner) // at once, whatever the disk says
	}
	if err := a.keepSwitch(ctx, by, t); err != nil {
		e := &claimdlq.Error{Code: claimdlq.Unavailable, Op: "keep switches", On: "nothing was started", Hint: "see to the disk, and try again", Err: err}
		if t.Stop {
			e.On = "it is stopped, but not for the next start of the program"
		}
		return e
	}
	action := "stop"
	if !t.Stop {
		a.Flow.Attempt.Start(t.Stream, t.Partner)
		action = "start"
	}
	a.log.LogAttrs(ctx, slog.LevelWarn, "Switch", slog.String("action", action), slog.String("stream", t.Stream), slog.String("partner", t.Partner))
	return nil
}

// lookBack is how many of the latest records are asked for a partner who has nothing
// unresolved.
const lookBack = 10_000

// knows reports whether there is such a partner: in the configuration, among what is
// unresolved or came in last, among those who were delivered to, or stopped already.
// Where the store cannot say it he is taken to be: a stop is never held up by a fault.
func (a *App) knows(ctx context.Context, x attempt.Switch) bool {
	is := func(partner string) bool { return partner == x.Partner || attempt.Part(x.Stream, partner) == x.Partner }
	if x.Partner == "" || slices.Contains(a.Flow.Attempt.Stopped(), x) || a.routes.names(x.Stream, x.Partner) {
		return true
	}
	gs, err := a.Store.Groups(ctx, store.Filter{Stream: x.Stream}, math.MaxInt32)
	if err != nil || slices.ContainsFunc(gs, func(g store.Group) bool { return is(g.Partner) }) {
		return true
	}
	if slices.ContainsFunc(a.Flow.Attempt.Breakers(), func(b attempt.BreakerFigure) bool { return b.Stream == x.Stream && is(b.Partner) }) {
		return true
	}
	rs, err := a.Store.List(ctx, store.Filter{Stream: x.Stream}, 0, lookBack)
	return err != nil || slices.ContainsFunc(rs, func(r claimdlq.Record) bool { return is(r.Partner) })
}

// keepSwitch makes a change durable: the audit entry, then the file.
func (a *App) keepSwitch(ctx context.Context, by claimdlq.By, t Turn) error {
	code := "START:"
	if t.Stop {
		code = "STOP:"
	}
	code = strings.ToUpper(code + t.Stream + ":" + t.Partner)
	if err := a.note(ctx, by, claimdlq.Entry{Action: claimdlq.ActSetting, Detail: claimdlq.NewDetail(code)}); err != nil {
		return err
	}
	left := slices.DeleteFunc(a.Flow.Attempt.Stopped(), func(s attempt.Switch) bool {
		turned := s == t.Switch
		return turned && !t.Stop || !turned && a.configured(s)
	})
	b, err := json.Marshal(left)
	if err != nil {
		return &claimdlq.Error{Code: claimdlq.Internal, Op: "keep switches", Err: err}
	}
	if err := atomicfile.WriteFile(filepath.Join(a.dir, fileSwitches), b, 0o600); err != nil {
		return fsError("keep switches", err)
	}
	return nil
}

// configured reports whether only the configuration stops it: that is said there, and
// ends when it is taken out there.
func (a *App) configured(s attempt.Switch) bool {
	return slices.Contains(a.stopped, s) && !slices.Contains(a.kept, s)
}

// restoreSwitches stops what was stopped when the directory was closed, and what the
// configuration says.
func (a *App) restoreSwitches(also []attempt.Switch) error {
	b, err := os.ReadFile(filepath.Join(a.dir, fileSwitches))
	var kept []attempt.Switch
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fsError("read switches", err)
	case json.Unmarshal(b, &kept) != nil:
		return &claimdlq.Error{Code: claimdlq.Corrupt, Op: "read switches", On: fileSwitches, Hint: "remove the file, and stop again what must not be delivered"}
	}
	a.kept, a.stopped = kept, also
	for _, s := range slices.Concat(kept, also) {
		a.Flow.Attempt.Stop(s.Stream, s.Partner)
		a.log.LogAttrs(context.Background(), slog.LevelWarn, "Stopped since before", slog.String("stream", s.Stream), slog.String("partner", s.Partner))
	}
	return nil
}
