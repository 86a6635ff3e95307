package job

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"claimdlq"
	"claimdlq/flow/replay"
)

// Config joins Jobs to what they work with. Dir and Replay are required.
type Config struct {
	// Dir is where the files are. Nobody else writes there; it is made where it is not.
	Dir string
	// Replay is what package replay works with. Its Guard must be the one that intake and
	// the other replays of the process use; Store, Now and Log are used by the jobs, too.
	Replay replay.Config
	// BreakerOpen reports that a partner's breaker is not closed. Default: it never is.
	BreakerOpen func(stream, partner string) bool
	// Released is called after releases, for the delivery engine to look at once
	// (attempt.Attempt.Wake). Default: nobody is told.
	Released func()
	// Inquire asks the payer what became of a record in doubt, and says whether it knows
	// (settle.Settle.Inquire). Default: nobody can be asked.
	Inquire func(ctx context.Context, by claimdlq.By, id claimdlq.ID) (claimdlq.Record, bool, error)
	// Approvals says which plans need a second person and checks the tokens of such.
	// Default: no replay does, and no token is good.
	Approvals Approvals
	// Workers is how many releases of one job may be under way, 1 to 64. Default: 16.
	Workers int
	// Poll is how often a job looks for the ends of what it has released. Where nothing
	// changes after all is released it looks less often, at least every 30 Polls. Default: 1 s.
	Poll time.Duration
	// Fatal is called when a flush of a journal failed: nobody knows what is on the disk,
	// and the process must end. Default: it ends with status 70.
	Fatal func(error)

	// step, in tests, may end the process before the named step.
	step func(string) error
}

// Approvals checks that a second person approves.
type Approvals interface {
	// Needed reports whether the plan needs a second person.
	Needed(p Plan) bool
	// Approver returns the login of who gave the token, if it is good for this plan and
	// not used up. It must be somebody who may approve; that it is neither author nor
	// runner is checked by Jobs, which it must not call. Errors: Refused.
	Approver(ctx context.Context, token string, p Plan) (login string, err error)
}

func (c *Config) complete() {
	or(&c.Workers, 16)
	c.Workers = min(max(c.Workers, 1), 64)
	or(&c.Poll, time.Second)
	c.Poll = max(c.Poll, time.Millisecond)
	if c.Replay.Log == nil {
		c.Replay.Log = slog.New(slog.DiscardHandler)
	}
	if c.BreakerOpen == nil {
		c.BreakerOpen = func(string, string) bool { return false }
	}
	if c.Released == nil {
		c.Released = func() {}
	}
	if c.Fatal == nil {
		c.Fatal = func(err error) {
			fmt.Fprintln(os.Stderr, "claimdlq: a job stops:", err)
			os.Exit(70)
		}
	}
}

// needsApproval reports that a second person must approve the plan.
func (c *Config) needsApproval(p *Plan) bool {
	return p.Act.second() || c.Approvals != nil && c.Approvals.Needed(*p)
}
