package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"claimdlq/internal/app"
)

type restoreFlags struct {
	from, keys, key, kept, reason string
	skip                          uint32
	check, quick                  bool
}

func newRestore(s *session) *cobra.Command {
	var f restoreFlags
	c := &cobra.Command{
		Use:   "restore --from DIR --keys-from DIR --data NEW",
		Short: "Make a data directory of a backup, with everything in it held",
		Long: `Restore compares a backup with its signed manifest, puts it into a new or empty data
directory, and checks all of it. --from and --keys-from name its two halves, or the places
that keep them: then it is the newest.

Claims that were delivered after the backup was made would be billed twice if the copy went
on where it stands. So whatever could go out is held until an answer or a person has said
what became of it: what waited or was with the payer is in doubt, what was in quarantine is
parked, both streams are stopped, and control numbers that may have been used are passed
over. The audit log says RESTORED, from where on, and, with --checkpoint, what is missing.

With --check it only compares the backup with its manifest.`,
		Example: `  claimdlq restore --from /mnt/backup/claimdlq --keys-from /mnt/keys/claimdlq --check
  claimdlq restore --from /mnt/backup/claimdlq --keys-from /mnt/keys/claimdlq --data new --reason "disk failed"`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if f.from == "" || f.keys == "" {
				return usagef("name the backup with --from, and its keys with --keys-from")
			}
			if f.check {
				return s.checkBackup(c.Context(), f)
			}
			if err := s.needReason(f.reason); err != nil {
				return err
			}
			return s.restore(c.Context(), f)
		},
	}
	c.Flags().StringVar(&f.from, "from", "", "`directory` of the backup, or that keeps them (required)")
	c.Flags().StringVar(&f.keys, "keys-from", "", "`directory` of its keys, or that keeps them (required)")
	c.Flags().StringVar(&f.key, "key", "", "the audit log's `verifier` key, as claimdlq audit key printed it (default: that of the restored keys)")
	c.Flags().StringVar(&f.kept, "checkpoint", "", "`file` with the newest checkpoint of the audit log that was kept elsewhere")
	c.Flags().Uint32Var(&f.skip, "skip-numbers", 1_000_000, "pass over this `many` control numbers of each lane")
	c.Flags().BoolVar(&f.check, "check", false, "compare the backup with its manifest, and restore nothing")
	c.Flags().BoolVar(&f.quick, "quick", false, "do not check the seals of the payloads")
	addReason(c, &f.reason)
	return c
}

type backupJSON struct {
	Name  string    `json:"name"`
	Began time.Time `json:"began"`
	Entry uint64    `json:"entry"`
	Files int       `json:"files"`
	Bytes int64     `json:"bytes"`
}

func (s *session) checkBackup(ctx context.Context, f restoreFlags) error {
	bar := s.bar("check", -1, true)
	m, err := app.CheckBackup(ctx, s.path(f.from), s.path(f.keys), f.key, func(n int64) { _ = bar.Add64(n) })
	_ = bar.Finish()
	if err != nil {
		return err
	}
	if s.json {
		return s.printJSON(backupJSON{m.Name, m.Began, m.LastEntry, len(m.Files), m.Bytes()})
	}
	_, err = fmt.Fprintf(s.env.Stdout, "backup %s is whole: %s, %d bytes, up to audit entry %d\n", m.Name, plural(int64(len(m.Files)), "file"), m.Bytes(), m.LastEntry)
	return err
}

func (s *session) restore(ctx context.Context, f restoreFlags) error {
	log, err := s.logger()
	if err != nil {
		return err
	}
	from := app.RestoreFrom{
		From: s.path(f.from), Keys: s.path(f.keys), Dir: s.dataDir(), Verifier: f.key, Skip: int(f.skip), Quick: f.quick, Log: log, Now: s.env.Now,
	}
	if f.kept != "" {
		if from.Kept, err = s.readInput(f.kept); err != nil {
			return err
		}
	}
	bar := s.bar("restore", -1, true)
	from.Progress = func(n int64) { _ = bar.Add64(n) }
	r, err := app.Restore(ctx, s.by(f.reason), from)
	_ = bar.Finish()
	if err != nil {
		if !r.Fsck.OK() {
			_ = s.printReport(r.Fsck)
		}
		return err
	}
	return s.printRestored(r)
}

func (s *session) printRestored(r app.Restored) error {
	if s.json {
		return s.printJSON(r)
	}
	gap := "what came after it is not in it, and nobody knows how much that is"
	if r.MissingTo > 0 {
		gap = fmt.Sprintf("audit entries %d to %d are missing", r.Entry+1, r.MissingTo)
	}
	_, err := fmt.Fprintf(s.env.Stdout, `restored backup %s, up to audit entry %d: %s
%s in doubt, %d parked, control numbers of %s moved on
deliveries are stopped. Give the answers that came since (claimdlq acks), ask about the rest
(claimdlq inquire, resolve, unpark), then: claimdlq switches start 837, and ncpdp
`, r.Name, r.Entry, gap, plural(int64(r.InDoubt), "record"), r.Parked, plural(int64(r.Lanes), "lane"))
	if err != nil {
		return err
	}
	return s.printReport(r.Fsck)
}
