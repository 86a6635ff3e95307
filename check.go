package claimdlq

// Check tells a store whether next may follow prev: the move is legal, what
// identifies the record is unchanged, counts and the first failure are monotonic,
// and deliveries and replays are counted exactly: one attempt when the record is
// leased, one replay when it is released from quarantine after a delivery. Only
// where a lease ends in the queue may its delivery be given back (Record.Free). prev
// is the zero Record for a first step.
func Check(prev, next Record) error {
	if !CanMove(prev.State, next.State) {
		return prev.refuse("check step of", prev.State.String()+" to "+next.State.String())
	}
	if prev.ID == 0 {
		return nil
	}
	switch {
	case next.ID != prev.ID, next.Key != prev.Key, next.Digest != prev.Digest, next.Scope != prev.Scope,
		next.Parent != prev.Parent, !next.CreatedAt.Equal(prev.CreatedAt):
		return prev.refuse("check step of", "identity")
	case next.Unparked < prev.Unparked, next.PayloadRevision < prev.PayloadRevision, next.RefusedRevision < prev.RefusedRevision:
		return prev.refuse("check step of", "count")
	case !prev.FirstFailedAt.IsZero() && !next.FirstFailedAt.Equal(prev.FirstFailedAt):
		return prev.refuse("check step of", "first_failed_at")
	}
	return checkCounts(prev, next)
}

func checkCounts(prev, next Record) error {
	var delivery uint32 // 1 where this step begins one
	if next.State == StateLeased {
		delivery = 1
	}
	released := prev.State == StateQuarantined && next.State == StateQueued
	replayed := released && next.ReplayCount == prev.ReplayCount+1
	receives := prev.ReceiveCount + delivery
	if replayed {
		receives = 0
	}
	switch {
	case next.AttemptCount != prev.AttemptCount+delivery:
		return prev.refuse("check step of", "attempt_count")
	case next.ReplayCount != prev.ReplayCount && !replayed, released && !replayed && prev.AttemptCount > 0:
		return prev.refuse("check step of", "replay_count")
	case prev.State == StateLeased && next.State == StateQueued && receives > 0 && next.ReceiveCount == receives-1:
	case next.ReceiveCount != receives:
		return prev.refuse("check step of", "receive_count")
	}
	return nil
}
