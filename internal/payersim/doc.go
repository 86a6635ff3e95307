// Package payersim is a payer of 837 claims for tests, demonstrations and
// benchmarks. It takes interchanges over HTTP or from a folder, judges them with
// the same scanner as everything else, answers with TA1, 999 and 277CA, and
// remembers every claim that it accepted, so that a claim accepted twice is seen.
//
// A script makes it misbehave in chosen places: see ParseScript. By default it
// accepts a claim that it has already (and counts it): what is tested is the
// sender's guard, not the payer's.
//
// It holds claims in clear, as payers do, and is for synthetic claims only.
package payersim
