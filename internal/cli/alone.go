package cli

import (
	"context"

	"github.com/spf13/cobra"

	"claimdlq"
	"claimdlq/internal/app"
	"claimdlq/internal/auth"
	"claimdlq/store"
)

// weight is how much something is about.
type weight struct{ claims, cents int64 }

// addAlone gives a verb that needs a second person the flag that does without.
func addAlone(c *cobra.Command, alone *bool) {
	c.Flags().BoolVar(alone, "alone", false, "without the second person that the console and API ask for: for an emergency, and in the audit log")
}

// secondHelp says in the help of such verbs what the rule is.
const secondHelp = `Where an account can approve it, a
second person has to: ask in the console; --alone does it without, which the audit log says.`

// second keeps the rule of two persons: where there is somebody who could approve, what
// needs him is not done at the command line, unless it is said that one acts alone. That
// is in the audit log before anything happens.
func (s *session) second(ctx context.Context, a *app.App, perm auth.Permission, w weight, alone bool, reason string) error {
	if !a.Desk.NeedsApproval(perm, w.claims, w.cents) || !a.Desk.HasSecond(perm) {
		return nil
	}
	if alone {
		_, err := a.Desk.Alone(s.local(reason), perm).Do(ctx, a.Note)
		return err
	}
	return &claimdlq.Error{
		Code: claimdlq.Refused, Op: string(perm), On: "without a second person", Err: auth.ErrApproval,
		Hint: "ask one in the console or over the API (POST " + asked[perm] + "); in an emergency --alone does without, and the audit log says so",
	}
}

// asked is where a second person is asked for it.
var asked = map[auth.Permission]string{
	auth.RecordUnpark:   "/v1/records/{id}/unpark:ask",
	auth.RecordWithdraw: "/v1/records/{id}/withdraw:ask",
	auth.ReplayRun:      "/v1/replays/{id}/run:ask",
}

// weighIDs adds up the records that are named; what is none weighs nothing.
func (s *session) weighIDs(ctx context.Context, a *app.App, args []string) (w weight) {
	for _, arg := range args {
		if r, err := s.resolve(ctx, a.Store, arg); err == nil {
			w.claims += int64(r.Claims)
			w.cents += r.AmountCents
		}
	}
	return w
}

// weighAll adds up what is selected, until it is enough to need a second person.
func weighAll(ctx context.Context, a *app.App, f store.Filter) (w weight, err error) {
	for before := claimdlq.ID(0); ; {
		page, err := a.Store.List(ctx, f, before, unparkPage)
		if err != nil || len(page) == 0 {
			return w, err
		}
		for i := range page {
			w.claims += int64(page[i].Claims)
			w.cents += page[i].AmountCents
		}
		if a.Desk.NeedsApproval(auth.ReplayRun, w.claims, w.cents) {
			return w, nil
		}
		before = page[len(page)-1].ID
	}
}
