package cli

import (
	"context"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"claimdlq/internal/app"
	"claimdlq/internal/logging"
)

// with opens the data directory, calls f and closes it. Where this process serves
// the directory, it is open already; where another does, the command runs there.
func (s *session) with(ctx context.Context, f func(*app.App) error) error {
	if s.env.shared != nil {
		return f(s.env.shared)
	}
	a, err := s.open(ctx)
	if err != nil {
		return err
	}
	err = f(a)
	if cerr := a.Close(); err == nil {
		err = cerr
	}
	return err
}

// open opens the data directory.
func (s *session) open(ctx context.Context) (*app.App, error) {
	log, err := s.logger()
	if err != nil {
		return nil, err
	}
	a, err := app.Open(ctx, app.Options{
		Dir: s.dataDir(), Create: s.create, Now: s.env.Now,
		Targets: s.orEnv(s.targets, "CLAIMDLQ_TARGET"), Status: s.orEnv(s.status, "CLAIMDLQ_STATUS"),
		Authorization: s.env.Getenv("CLAIMDLQ_AUTHORIZATION"),
		Log:           log,
	})
	if err != nil && served(err, s.dataDir()) {
		return nil, errElsewhere
	}
	return a, err
}

// logger returns where the log goes. People at a terminal get the results of
// their command instead, unless they ask.
func (s *session) logger() (*slog.Logger, error) {
	levels := map[string]slog.Level{
		"": slog.LevelWarn, "debug": slog.LevelDebug, "info": slog.LevelInfo, "warning": slog.LevelWarn, "error": slog.LevelError,
	}
	level, ok := levels[s.log]
	switch {
	case s.log == "off", s.log == "" && s.onTerminal():
		return slog.New(slog.DiscardHandler), nil
	case !ok:
		return nil, usagef("--log is one of debug, info, warning, error, off")
	}
	return slog.New(logging.New(s.env.Stderr, logging.Options{Level: level, JSON: s.logJS})), nil
}

// orEnv returns the values of a flag, or those of the environment, which has
// them separated by spaces.
func (s *session) orEnv(flag []string, name string) []string {
	if len(flag) > 0 {
		return flag
	}
	return strings.Fields(s.env.Getenv(name))
}

// addTargets gives a verb that delivers the flags that say where to.
func (s *session) addTargets(c *cobra.Command) {
	c.Flags().StringArrayVar(&s.targets, "target", nil,
		"deliver to this `URL or folder`; STREAM=URL for one stream (837, ncpdp), PARTNER=URL for one partner (ISA08, ISA07:ISA08, BIN, BIN:PCN); repeatable (environment CLAIMDLQ_TARGET, separated by spaces; CLAIMDLQ_AUTHORIZATION is sent along)")
	c.Flags().StringArrayVar(&s.status, "status", nil,
		"ask here what became of a delivery: `URL` with {isa13}, {sender}, {receiver} or {name}, or the folder of taken files; STREAM= and PARTNER= as above (environment CLAIMDLQ_STATUS)")
}
