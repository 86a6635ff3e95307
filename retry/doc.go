// Package retry decides when a delivery may be tried again: the wait of a claim
// after a failure, and the circuit breaker of a partner. It is pure: time and
// chance are arguments, nothing is locked, nothing waits.
//
// # Who spends what
//
//	failure                      budget         the claim waits        the partner
//	transient                    one delivery   back-off, <= Cap       one failure in the breaker's window
//	transient with Retry-After   one delivery   back-off, <= Cap       open until then, <= HoldMax
//	outage window (93, 96)       nothing        <= HoldMax             open until then, <= HoldMax
//	a probe that fails           nothing        back-off, <= Cap       open again, twice as long
//	breaker open                 nothing        until the breaker asks not called
//
// The back-off bounds how long a claim waits for its own sake, so that recovery
// is never further away than Cap. What another side asks for concerns every claim
// that goes there: it is the breaker that honours it, and it spends no budget.
package retry
