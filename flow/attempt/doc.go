// Package attempt delivers what is queued, of both streams, by one engine.
//
// What enters: submissions that are ready and due. What leaves: submissions that
// were sent, wait for their back-off, are in doubt or dead, and their records
// likewise; pharmacy claims settled by the answer that came with the delivery.
//
// # What is durable when
//
//	lease    every member's count, before anything else: no crash adds a delivery
//	intent   the digest of the exact bytes, before the first of them leaves
//	outcome  what the target said, its answer sealed, with every member's new state
//
// The bytes of a pharmacy transmission are known when it is taken in: its lease and
// its intent are one commit. Leases are taken together for as many workers as are
// free, and outcomes are made durable together, so that neither costs a flush a claim.
//
// A crash before the intent is a lease that nothing came of: the members are
// queued again. A crash after it is doubt, never a blind re-send, unless the
// target may be sent the identical bytes again (see target.Route).
//
// # Who waits for whom
//
// Queues (claimdlq.Queue) take turns, urgent ones before bulk. A queue that may not be
// delivered to is left unread in the store: its partner has no target, its breaker is
// open, or a person has stopped it. The next claims in it show why they wait; those
// behind them wait for the same reason.
//
// A target that is down does not burn budgets: after a run of failures its
// partner's breaker opens and holds what is due, but for one probe at a time. A probe
// that fails gives its delivery back: it was sent for the partner's sake. Those that
// were delivered least are asked with first, so that no claim is asked with for ever.
package attempt
