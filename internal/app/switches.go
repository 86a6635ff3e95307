package app

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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
	code := "START:"
	if stop {
		code = "STOP:"
		a.Flow.Attempt.Stop(stream, partner)
	}
	if err := a.note(ctx, by, claimdlq.Entry{Action: claimdlq.ActSetting, Detail: claimdlq.NewDetail(strings.ToUpper(code + stream + ":" + partner))}); err != nil {
		return err
	}
	if !stop {
		a.Flow.Attempt.Start(stream, partner)
	}
	b, err := json.Marshal(a.Flow.Attempt.Stopped())
	if err != nil {
		return &claimdlq.Error{Code: claimdlq.Internal, Op: "keep switches", Err: err}
	}
	if err := atomicfile.WriteFile(filepath.Join(a.dir, fileSwitches), b, 0o600); err != nil {
		return fsError("keep switches", err)
	}
	return nil
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
	for _, s := range append(kept, also...) {
		a.Flow.Attempt.Stop(s.Stream, s.Partner)
	}
	return nil
}
