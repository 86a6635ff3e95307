// Package attempt delivers what is queued.
//
// What enters: submissions that are ready and due. What leaves: submissions that
// were sent, wait for their back-off, are in doubt or dead, and their records
// likewise.
//
// # What is durable when
//
//	lease    every member's count, before anything else: no crash adds a delivery
//	intent   the digest of the exact bytes, before the first of them leaves
//	outcome  what the target said, with every member's new state, in one commit
//
// A crash before the intent is a lease that nothing came of: the members are
// queued again. A crash after it is doubt, never a blind re-send, unless the
// target may be sent the identical bytes again (see target.Route).
//
// A target that is down does not burn budgets: after a run of failures its
// partner's breaker opens and holds what is due, but for one probe at a time.
package attempt
