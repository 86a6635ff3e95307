package app

import (
	"context"
	"time"

	"claimdlq/flow/attempt"
)

// Deliver delivers everything that is due, and stays for what will be due within
// patience. It tells progress the totals so far after each round. Cancelling ctx
// ends it between two deliveries.
func (a *App) Deliver(ctx context.Context, patience time.Duration, progress func(attempt.Summary)) (attempt.Summary, error) {
	until := a.now().Add(patience)
	var total attempt.Summary
	for {
		sum, err := a.Flow.Attempt.Drain(ctx)
		total = add(total, sum)
		progress(total)
		if err != nil {
			return total, err
		}
		due, ok := a.Flow.Attempt.NextDue(ctx)
		now := a.now()
		if !ok || due.After(until) || (sum == attempt.Summary{} && !due.After(now)) {
			return total, nil // nothing waits, or what is due cannot be delivered
		}
		if err := sleep(ctx, due.Sub(now)); err != nil {
			return total, err
		}
	}
}

func add(a, b attempt.Summary) attempt.Summary {
	return attempt.Summary{
		Sent: a.Sent + b.Sent, Requeued: a.Requeued + b.Requeued, InDoubt: a.InDoubt + b.InDoubt,
		Dead: a.Dead + b.Dead, Held: b.Held,
	}
}

// sleep waits for d or for ctx.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
