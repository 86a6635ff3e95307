// Package webhook posts alarms to a receiver over HTTP: one POST for each event, in
// order, in the shape of Alertmanager's webhook (version 4), so that what receives
// from Alertmanager receives from here.
//
//	Evaluator ─► Sender.Send ─► bounded queue ─► Sender.Run ─► POST, again until taken
//
// Send never waits. While the receiver is down events queue; what does not fit, what
// the receiver refuses and what is too old is dropped, counted and logged. Nothing is
// durable here: who calls Send remembers what was told.
//
// Neither the address nor the secret is in any error, log line or event: both may be
// credentials. What is posted holds counts, times and names of streams and partners,
// nothing of a claim.
package webhook
