// Package recipe corrects many quarantined records by one recipe, as a durable job.
//
// What enters: a selection of records, a recipe (flow/correct) and a person's name and
// reason. What leaves: each record with a payload revision more, or why it has none.
//
//	Preview ─► previewed ─► Apply ─► running ─► done
//	                                   └─ Cancel ─► cancelled
//
// Nothing is sent: the records stay quarantined until somebody replays them, and that is
// where a second person is asked above the threshold.
//
// # What is frozen
//
// A preview names each record with its revision, and what the recipe made of it then.
// Applied is only what was clean in the preview, has that revision still, and is clean
// again; the store's compare-and-set holds until the commit. So one recipe corrects one
// record at most once, whatever crashes and whoever else is at work.
//
// # What is durable when
//
//	ID.recipe   the preview   written whole before Preview returns
//	ID.journal  progress      appended and flushed: before the commits of a turn, which
//	                          unit each record is about to have; after them, what became
//	                          of each
//
// After a crash between the two a record says by its payload's unit whether it has been
// corrected by the recipe: a unit is no other record's and no other correction's.
//
// # PHI
//
// What the rules set may be PHI. It is sealed under the keyring, is in no answer, and is
// removed once the recipe is done or cancelled. The rest of the files is ids, codes,
// counts, places and the form of values (letters as A, digits as 9). Reasons are in the
// audit log only.
package recipe
