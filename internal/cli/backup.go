package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"claimdlq/internal/app"
	"claimdlq/internal/backup"
)

func newBackup(s *session) *cobra.Command {
	var to, keys, reason string
	c := &cobra.Command{
		Use:   "backup --to DIR --keys-to DIR",
		Short: "Copy the data directory as it is at one moment",
		Long: `Backup copies the data directory while everything goes on, also while it is served: as
it is at one moment, whatever is taken in or delivered meanwhile. Under --to goes everything
but keys and accounts, which go under --keys-to: a place that whoever gets the first must
not reach. Each backup is a directory named by its time, with a signed manifest; files that
have not changed since the one before are hard links to it. One that ends early leaves
nothing behind.

Restoring it is claimdlq restore; what that means is in docs/operations.md.`,
		Example: `  claimdlq backup --to /mnt/backup/claimdlq --keys-to /mnt/keys/claimdlq`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if to == "" || keys == "" {
				return usagef("say where to with --to, and where the keys go with --keys-to")
			}
			if len(reason) > 200 {
				return usagef("--reason is at most 200 bytes")
			}
			return s.with(c.Context(), func(a *app.App) error {
				bar := s.bar("back up", -1, true)
				sum, err := a.Backup(c.Context(), s.by(reason), app.BackupTo{
					Dir: s.path(to), Keys: s.path(keys), Program: thisVersion().Version,
					Progress: func(n int64) { _ = bar.Add64(n) },
				})
				_ = bar.Finish()
				if err != nil {
					return err
				}
				return s.printBackup(sum)
			})
		},
	}
	c.Flags().StringVar(&to, "to", "", "`directory` that keeps the backups (required)")
	c.Flags().StringVar(&keys, "keys-to", "", "`directory` that keeps their keys, on another volume (required)")
	c.Flags().StringVar(&reason, "reason", "", "why, in `words` for the audit log that name no patient")
	return c
}

func (s *session) printBackup(b backup.Summary) error {
	if s.json {
		return s.printJSON(b)
	}
	_, err := fmt.Fprintf(s.env.Stdout, "backup %s: %s, %d bytes, %d of them new, up to audit entry %d\n",
		b.Name, plural(int64(b.Files), "file"), b.Bytes, b.Copied, b.Entry)
	return err
}
