// Package settle decides by acknowledgments what became of what was sent.
//
// What enters: files of TA1, 999 and 277CA and of pharmacy responses, from any
// source; doubts; deadlines. What leaves: records settled, quarantined, queued again
// under new numbers, or freed from doubt; and one record per acknowledgment file,
// settled when every answer in it was matched and quarantined, with an alarm, when
// one was not.
//
// # Matching
//
// A TA1 finds its submission by addressing and ISA13, a 999 by application codes
// and GS06 and then ST02, a 277CA by BHT03 and then CLM01 in the opened payload,
// which is audited. Numbers compare as numbers. A pharmacy response that did not come
// with its delivery has no number: it finds records by the keyed look-up value of its
// fill, and then by comparing with what was sent, opened and audited. It does not say
// which payer it comes from, so that two payers' claims of one fill are never told
// apart by it. What fits nothing, or more than one thing, is an orphan: kept, alarmed
// about, never guessed.
//
// # What an answer may do
//
// Any answer proves that the interchange arrived. TA1 and 999 accept nothing but
// the form; a 277CA accepts or rejects claims one by one, and a claim whose fate
// differs from its set's parts from it. An answer to an older sending of a record
// that has been released again since can only settle it as accepted, and then no answer to
// the later sending undoes that: the record names the sending that was accepted. From a
// set that is in doubt or being delivered no claims part for it. The same answer again
// changes nothing.
//
// A pharmacy response decides each transaction that waits for it: paid, rejected for
// good, refused for its form, or captured until another comes. What is held back is
// settled by a late payment, and by nothing else; a payment is never undone. "Not
// now" decides nothing, and neither does a late refusal of what went out more than once. What it says against what was settled is an orphan.
//
// # Inquiry
//
// A pharmacy payer is asked what became of a transmission by its identical bytes: it
// answers D where it has the claim, and takes the claim where it has not. That is
// certain only where Route.IdempotentResend says so. An inquiry is on a person's or a
// timer's word, audited before it is sent, and no delivery of the budget. That a target
// cannot be reached is an error, and no answer.
//
// The bytes bill where the payer has nothing. So an inquiry sends only what is in doubt,
// nothing that a later claim of its fill has undone or an earlier one may yet, and while
// it is under way no other answer decides the record: it is kept back until then.
//
// The payload of an acknowledgment names patients: it is sealed before anything
// follows from it.
package settle
