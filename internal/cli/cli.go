package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"claimdlq/internal/app"
)

// Env is what a command sees of the world, so that tests can give it another.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Now            func() time.Time
	Getenv         func(string) string
	Environ        []string // NAME=VALUE, of which a configuration is made
	// Dir is where relative file names begin. Default: the working directory.
	Dir string
	// User is the login name of who runs the command. Default: the system's answer.
	User string
	// Terminal says whether standard error is one. Default: what the system says.
	Terminal bool

	// shared is the data directory of the process that runs the command for another.
	shared *app.App
}

// System returns the real world.
func System() Env {
	return Env{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Now: time.Now, Getenv: os.Getenv, Environ: os.Environ()}
}

// Main runs one command line, without the program's name, and returns its exit code.
// Cancelling ctx stops it in an orderly way: everything acknowledged is durable.
func Main(ctx context.Context, args []string, env Env) int {
	s := &session{env: env}
	root := newRoot(s)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if errors.Is(err, errElsewhere) {
		return s.elsewhere(ctx, args)
	}
	if _, silent := errors.AsType[*silentError](err); err != nil && !silent {
		_, _ = fmt.Fprintln(env.Stderr, "claimdlq:", message(err))
	}
	return exitCode(err)
}

func newRoot(s *session) *cobra.Command {
	root := &cobra.Command{
		Use:   "claimdlq",
		Short: "Quarantine, correct and replay healthcare claims",
		Long: `claimdlq takes in medical, dental (X12 837) and pharmacy claims (NCPDP D.0), holds what
fails, helps to correct it, and replays it safely: nothing is lost, nothing is billed
twice, no PHI leaves the vault.

` + exitHelp,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return noCommand()
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error {
			return c.Help()
		},
	}
	root.SetIn(s.env.Stdin)
	root.SetOut(s.env.Stdout)
	root.SetErr(s.env.Stderr)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usagef("%s (claimdlq help %s)", err, c.Name())
	})
	f := root.PersistentFlags()
	f.StringVar(&s.data, "data", "", "data `directory` (environment CLAIMDLQ_DATA; default ./claimdlq-data)")
	f.BoolVar(&s.json, "json", false, "print the result as JSON (docs/cli-json.md)")
	f.StringVar(&s.actor, "actor", "", "who acts, for the audit log, which puts cli: before it (default: the login name)")
	f.StringVar(&s.log, "log", "", "log to standard error from this `level` on: debug, info, warning, error, off (default: warning; off on a terminal)")
	f.BoolVar(&s.logJS, "log-json", false, "log JSON lines instead of text")
	for _, v := range verbs() {
		c := v(s)
		c.Args = usageArgs(c.Args)
		for _, sub := range c.Commands() {
			sub.Args = usageArgs(sub.Args)
		}
		root.AddCommand(c)
	}
	root.InitDefaultHelpCmd()
	if help, _, err := root.Find([]string{"help"}); err == nil {
		help.Args = func(_ *cobra.Command, args []string) error {
			if c, _, err := root.Find(args); len(args) > 0 && (err != nil || c == root) {
				return noCommand()
			}
			return nil
		}
	}
	return root
}

func noCommand() error {
	return usagef("there is no command of that name (claimdlq help lists them)")
}

// usageArgs makes a wrong number of arguments a usage error.
func usageArgs(f cobra.PositionalArgs) cobra.PositionalArgs {
	if f == nil {
		f = cobra.NoArgs
	}
	return func(c *cobra.Command, args []string) error {
		if err := f(c, args); err != nil {
			return usagef("%s: %s (claimdlq help %s)", c.Name(), err, c.Name())
		}
		return nil
	}
}
