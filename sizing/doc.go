// Package sizing answers how a stream's four levers should stand: the retry
// budget, the back-off, the retention and the depth alarm. It says what a policy
// survives, what an incident costs with and without the circuit breaker, how long
// the drain takes, what disk it needs, and which alarm rings first.
//
// Size does the arithmetic: in whole nanoseconds and claims, rounded nowhere
// before the end. Simulate plays the same incident event by event, through the
// very code that retries in production (claimdlq.Policy, package retry). Verify
// compares the two. Where there is no closed form (jitter, too few workers, a
// stream so slow that retries trip the breaker) Size takes the simulation's
// figures and says so. A Learner takes the inputs from a store's own history.
//
// # The model
//
// Claim k of a stream arrives k/rate after the incident began. A delivery that
// starts in [0, length) fails, every other succeeds. A claim's deliveries start
// when it arrives and then back-off (and the time a failing call takes) apart. So
// with o(i) the offset of delivery i, and n(x) the claims that arrive before x:
//
//	failed calls    the sum over i of n(length - o(i))
//	dead letters    n(length - o(max_receive))
//
// The package is pure: no clock, no I/O, chance only from a seed.
package sizing
