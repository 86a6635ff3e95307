package cli

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"claimdlq/internal/app"
)

type keyJSON struct {
	Use     string `json:"use"` // payload, identity
	Term    uint32 `json:"term"`
	State   string `json:"state"`
	Primary bool   `json:"primary"`
	Created string `json:"created"`
}

type keysJSON struct {
	Keys []keyJSON `json:"keys"`
}

func newKeys(s *session) *cobra.Command {
	c := &cobra.Command{
		Use:   "keys",
		Short: "List, rotate and shred keys",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return usagef("say keys list, keys rotate or keys shred (claimdlq help keys)")
		},
	}
	c.AddCommand(newKeysList(s), newKeysRotate(s), newKeysShred(s))
	return c
}

func newKeysList(s *session) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the key terms, never a key",
		RunE: func(c *cobra.Command, _ []string) error {
			return s.with(c.Context(), s.printKeys)
		},
	}
}

func (s *session) printKeys(a *app.App) error {
	out := keysJSON{Keys: []keyJSON{}}
	for _, t := range a.KeyTerms() {
		out.Keys = append(out.Keys, keyJSON{t.Use, t.Term, t.State, t.Primary, stamp(t.Created)})
	}
	if s.json {
		return s.printJSON(out)
	}
	rows := make([][]string, len(out.Keys))
	for i, k := range out.Keys {
		primary := "-"
		if k.Primary {
			primary = "primary"
		}
		rows[i] = []string{k.Use, strconv.FormatUint(uint64(k.Term), 10), k.State, primary, k.Created}
	}
	return s.table("USE TERM STATE PRIMARY CREATED", rows)
}

func newKeysRotate(s *session) *cobra.Command {
	var identity bool
	var reason string
	c := &cobra.Command{
		Use:   "rotate",
		Short: "Make a new key, and re-wrap every payload's data key under it",
		Long: `Rotate makes a new key-encryption key and re-wraps the data key of every payload under
it; payloads themselves are not touched. The old term is retired.

With --identity it rotates the key that identities and digests are made with instead.
Look-ups try the current and the earlier terms.`,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := s.needReason(reason); err != nil {
				return err
			}
			return s.with(c.Context(), func(a *app.App) error {
				bar := s.bar("re-wrap", -1, false)
				err := a.RotateKeys(c.Context(), s.by(reason), identity, func(done, total int) {
					bar.ChangeMax(total)
					_ = bar.Set(done)
				})
				_ = bar.Finish()
				if err != nil {
					return err
				}
				return s.printKeys(a)
			})
		},
	}
	c.Flags().BoolVar(&identity, "identity", false, "rotate the identity key instead of the payload key")
	addReason(c, &reason)
	return c
}

type shredJSON struct {
	Records []recordJSON `json:"records"`
	DryRun  bool         `json:"dry_run"`
}

func newKeysShred(s *session) *cobra.Command {
	var reason string
	var yes bool
	c := &cobra.Command{
		Use:   "shred ID...",
		Short: "Destroy the keys of resolved records' payloads, for good",
		Long: `Shred destroys the data keys of the payloads of settled or withdrawn records: nobody can
read them again, from a backup of the ciphertext neither. The records stay. Without --yes
it only says what it would do. A payload that an unresolved record needs is refused.

` + argID,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := s.needReason(reason); err != nil {
				return err
			}
			return s.with(c.Context(), func(a *app.App) error { return s.shred(c.Context(), a, reason, args, yes) })
		},
	}
	addReason(c, &reason)
	c.Flags().BoolVar(&yes, "yes", false, "do it: this cannot be undone")
	return c
}

func (s *session) shred(ctx context.Context, a *app.App, reason string, args []string, yes bool) error {
	out := shredJSON{Records: []recordJSON{}, DryRun: !yes}
	var errs failures
	for _, arg := range args {
		rec, err := s.resolve(ctx, a.Store, arg)
		if err == nil {
			err = a.Shred(ctx, s.by(reason), rec, !yes)
		}
		if err != nil {
			errs.add(s, arg, err)
			continue
		}
		out.Records = append(out.Records, toJSON(rec))
		if !s.json {
			what := "shredded"
			if !yes {
				what = "would be shredded (--yes does it)"
			}
			_, _ = fmt.Fprintf(s.env.Stdout, "record %d  %s  %s\n", rec.ID, keyOf(rec), what)
		}
	}
	if s.json {
		if err := s.printJSON(out); err != nil {
			return err
		}
	}
	return errs.err()
}
