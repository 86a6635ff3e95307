// Package payersim is a payer of 837 and of pharmacy claims for tests,
// demonstrations and benchmarks. It takes interchanges over HTTP or from a folder,
// judges them with the same scanner as everything else, answers with TA1, 999 and
// 277CA, and remembers every claim that it accepted, so that a claim accepted twice
// is seen. Pharmacy claims (NCPDP Telecommunication D.0) it adjudicates at once,
// over HTTP or called directly: it pays, rejects, captures, takes reversals, and
// remembers which payments stand.
//
// A script makes it misbehave in chosen places: see ParseScript. By default it
// accepts an 837 claim that it has already (and counts it): what is tested is the
// sender's guard, not the payer's. A pharmacy claim that it has already it answers
// as such (status D), as payers do; for senders that is how a doubt ends.
//
// It holds claims in clear, as payers do, and is for synthetic claims only.
package payersim
