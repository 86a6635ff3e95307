package app

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"claimdlq"
	"claimdlq/flow/attempt"
	"claimdlq/flow/audited"
	"claimdlq/internal/atomicfile"
)

// fileSwitches holds what people have stopped, so that it stays stopped.
const fileSwitches = "switches.json"

// Switch stops or starts the deliveries of a stream, or of one partner of it; partner
// "" is the whole stream. Stopping works at once: what is not with the payer yet stays
// here and spends no budget. It is durable and audited on return. Errors: Refused
// without a name and a reason, Unavailable (it is stopped all the same, but not for the
// next process).
func (a *App) Switch(ctx context.Context, by claimdlq.By, stream, partner string, stop bool) error {
	if err := audited.Named(by, "switch stream "+stream); err != nil {
		return err
	}
	if stop {
		a.Flow.Attempt.Stop(stream, partner) // at once, whatever the disk says
	}
	if err := a.keepSwitch(ctx, by, stream, partner, stop); err != nil {
		e := &claimdlq.Error{Code: claimdlq.Unavailable, Op: "keep switches", On: "nothing was started", Hint: "see to the disk, and try again", Err: err}
		if stop {
			e.On = "it is stopped, but not for the next start of the program"
		}
		return e
	}
	action := "stop"
	if !stop {
		a.Flow.Attempt.Start(stream, partner)
		action = "start"
	}
	a.log.LogAttrs(ctx, slog.LevelWarn, "Switch", slog.String("action", action), slog.String("stream", stream), slog.String("partner", partner))
	return nil
}

// keepSwitch makes a change durable: the audit entry, then the file.
func (a *App) keepSwitch(ctx context.Context, by claimdlq.By, stream, partner string, stop bool) error {
	code := "START:"
	if stop {
		code = "STOP:"
	}
	code = strings.ToUpper(code + stream + ":" + partner)
	if err := a.note(ctx, by, claimdlq.Entry{Action: claimdlq.ActSetting, Detail: claimdlq.NewDetail(code)}); err != nil {
		return err
	}
	left := slices.DeleteFunc(a.Flow.Attempt.Stopped(), func(s attempt.Switch) bool {
		turned := s.Stream == stream && s.Partner == partner
		return turned && !stop || !turned && a.configured(s)
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
