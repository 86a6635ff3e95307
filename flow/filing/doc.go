// Package filing says by when a claim must have reached its payer: what is sealed of it
// at intake, and which part of the payer's window has gone.
//
// The window begins on a day that derives from the date of service, which is PHI: it is
// sealed as an attribute of the claim's unit and is in no record. What is sealed is the
// day and not the deadline, so that a window that changes holds for what is there already.
//
// The day is, as Medicare counts (Medicare Claims Processing Manual, chapter 1, section
// 70.4), the through date of the statement for an institutional claim (DTP 434), the
// first day of the earliest line otherwise (DTP 472), and 401-D1 for a pharmacy claim.
package filing
