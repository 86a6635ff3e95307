package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"claimdlq"
	"claimdlq/audit"
	"claimdlq/internal/app"
)

func newAudit(s *session) *cobra.Command {
	c := &cobra.Command{
		Use:   "audit",
		Short: "Verify, export and sign the audit log",
		RunE: func(*cobra.Command, []string) error {
			return usagef("say audit verify, export, checkpoint or key (claimdlq help audit)")
		},
	}
	c.AddCommand(newAuditVerify(s), newAuditExport(s), newAuditCheckpoint(s), newAuditKey(s))
	return c
}

type verifyFlags struct{ key, kept, export string }

func newAuditVerify(s *session) *cobra.Command {
	var f verifyFlags
	c := &cobra.Command{
		Use:   "verify [AUDIT_DIRECTORY]",
		Short: "Find any change to the audit log",
		Long: `Verify recomputes the audit log and finds any change, insertion, removal, reordering and
truncation. With a checkpoint that was kept elsewhere (claimdlq audit checkpoint) it finds
a rollback of the whole directory too. It needs no other part of the data directory where
the verifier key is given (claimdlq audit key prints it), and may run beside other commands.

With --export it checks a file that audit export --proofs wrote instead. Exit code 8:
something was changed.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			dir := app.AuditDir(s.dataDir())
			if len(args) > 0 {
				dir = args[0]
			}
			return s.auditVerify(c.Context(), dir, f)
		},
	}
	c.Flags().StringVar(&f.key, "key", "", "the `verifier key` (default: from the data directory)")
	c.Flags().StringVar(&f.kept, "checkpoint", "", "a checkpoint `file` that was kept elsewhere")
	c.Flags().StringVar(&f.export, "export", "", "check this `file`, which audit export --proofs wrote")
	return c
}

func (s *session) auditVerify(ctx context.Context, dir string, f verifyFlags) error {
	v, err := app.Verifier(s.dataDir(), f.key)
	if err != nil {
		return err
	}
	if f.export != "" {
		file, err := s.openInput(f.export, 1)
		if err != nil {
			return err
		}
		defer file.Close()
		n, err := audit.VerifyExport(file, v)
		if err != nil {
			return err
		}
		if s.json {
			return s.printJSON(map[string]int{"entries": n})
		}
		_, err = fmt.Fprintf(s.env.Stdout, "whole: %d entries are in the log that the checkpoint signs\n", n)
		return err
	}
	var kept []byte
	if f.kept != "" {
		if kept, err = s.readInput(f.kept); err != nil {
			return err
		}
	}
	rep, err := audit.Verify(ctx, dir, v, kept)
	if err != nil {
		return err
	}
	if err := s.printVerified(&rep); err != nil {
		return err
	}
	if !rep.OK() {
		return &silentError{exitCorrupt}
	}
	return nil
}

func (s *session) printVerified(r *audit.Report) error {
	if s.json {
		if r.Problems == nil {
			r.Problems = []audit.Problem{}
		}
		return s.printJSON(r)
	}
	for _, p := range r.Problems {
		_, _ = fmt.Fprintln(s.env.Stdout, p)
	}
	verdict := "whole"
	if !r.OK() {
		verdict = "changed"
	}
	_, err := fmt.Fprintf(s.env.Stdout, "%s: %d entries in %s, %s, signed up to entry %d\n", verdict, r.Entries,
		plural(int64(r.Files), "file"), plural(int64(r.Checkpoints), "checkpoint"), r.Signed)
	return err
}

func newAuditExport(s *session) *cobra.Command {
	var f audit.Filter
	var from, to, action, record, out string
	c := &cobra.Command{
		Use:   "export",
		Short: "Write audit entries as JSON lines, with the checkpoint that signs them",
		Long: `Export writes the entries that match, one a line exactly as logged, and then the newest
signed checkpoint. With --proofs each entry comes with the proof that it is in the log, so
that one who does not have the log can check it (audit verify --export).`,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			if f.From, err = parseTime("--from", from); err != nil {
				return err
			}
			if f.To, err = parseTime("--to", to); err != nil {
				return err
			}
			f.Action = claimdlq.Action(action)
			return s.with(c.Context(), func(a *app.App) error {
				if record != "" {
					rec, err := s.resolve(c.Context(), a.Store, record)
					if err != nil {
						return err
					}
					f.Record = rec.ID
				}
				n, err := s.auditExport(c.Context(), a, f, out)
				if err == nil {
					s.say("%d entries", n)
				}
				return err
			})
		},
	}
	c.Flags().StringVar(&from, "from", "", "entries since this `time`, such as 2026-07-01T00:00:00Z")
	c.Flags().StringVar(&to, "to", "", "entries before this `time`")
	c.Flags().StringVar(&record, "record", "", "entries about this record, by `ID`")
	c.Flags().StringVar(&f.Actor, "by", "", "entries of this `actor`, with its prefix: ana, cli:ana, oidc:ana, system:attempt")
	c.Flags().StringVar(&action, "action", "", "entries of this `action`, such as reveal")
	c.Flags().BoolVar(&f.Proofs, "proofs", false, "with inclusion proofs")
	c.Flags().StringVar(&out, "out", "", "write to this new `file`")
	return c
}

func parseTime(flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, usagef("%s takes a time such as 2026-07-01T00:00:00Z", flag)
	}
	return t, nil
}

func (s *session) auditExport(ctx context.Context, a *app.App, f audit.Filter, out string) (n int, err error) {
	w := s.env.Stdout
	if out != "" {
		file, ferr := s.createNew(out)
		if ferr != nil {
			return 0, ferr
		}
		defer func() {
			if cerr := file.Close(); err == nil && cerr != nil {
				err = inputError("write file", "of --out", cerr)
			}
		}()
		w = file
	}
	return a.Export(ctx, s.by(""), w, f)
}

type checkpointJSON struct {
	Checkpoint string `json:"checkpoint"`
	Key        string `json:"key"` // what verifies it; no secret
}

func newAuditCheckpoint(s *session) *cobra.Command {
	return &cobra.Command{
		Use:   "checkpoint",
		Short: "Sign the audit log and print the checkpoint, to be kept elsewhere",
		RunE: func(c *cobra.Command, _ []string) error {
			return s.with(c.Context(), func(a *app.App) error {
				msg, err := a.Checkpoint(c.Context())
				if err != nil {
					return err
				}
				if !s.json {
					_, err = s.env.Stdout.Write(msg)
					return err
				}
				key, err := a.Keys.VerifierKey()
				if err != nil {
					return err
				}
				return s.printJSON(checkpointJSON{string(msg), key})
			})
		},
	}
}

func newAuditKey(s *session) *cobra.Command {
	return &cobra.Command{
		Use:   "key",
		Short: "Print the key that verifies the audit log; it is no secret",
		RunE: func(c *cobra.Command, _ []string) error {
			return s.with(c.Context(), func(a *app.App) error {
				key, err := a.Keys.VerifierKey()
				if err != nil {
					return err
				}
				if s.json {
					return s.printJSON(map[string]string{"key": key})
				}
				_, err = fmt.Fprintln(s.env.Stdout, key)
				return err
			})
		},
	}
}
