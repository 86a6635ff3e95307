// Package alert decides when an alarm rings. It takes the figures of the program
// every few seconds (a Sample), compares them with Rules, and returns what began to
// ring and what stopped (Events). WriteRules prints the same rules for Prometheus,
// so that an installation may have either or both.
//
//	figures ─► Sample ─► Evaluator.Observe ─► []Event ─► alert/webhook ─► receiver
//
// A static depth cannot tell residue from a surge, and a queue without a counter of
// its retries is late by the whole retry budget: so there are alarms on depth, on its
// increase in a minute, on age, by reason, on failed calls and on the circuit breaker.
//
// The package is pure: no clock, no I/O. It holds counts, times and the names of
// streams and partners; nothing of a claim.
package alert
