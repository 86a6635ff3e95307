// Package settle decides by acknowledgments what became of what was sent.
//
// What enters: files of TA1, 999 and 277CA, from any source; doubts; deadlines.
// What leaves: records settled, quarantined, queued again under new numbers, or
// freed from doubt; and one record per acknowledgment file, settled when every
// answer in it was matched and quarantined, with an alarm, when one was not.
//
// # Matching
//
// A TA1 finds its submission by addressing and ISA13, a 999 by application codes
// and GS06 and then ST02, a 277CA by BHT03 and then CLM01 in the opened payload,
// which is audited. Numbers compare as numbers. What fits nothing, or more than
// one thing, is an orphan: kept, alarmed about, never guessed.
//
// # What an answer may do
//
// Any answer proves that the interchange arrived. TA1 and 999 accept nothing but
// the form; a 277CA accepts or rejects claims one by one, and a claim whose fate
// differs from its set's parts from it. An answer to an older sending of a record
// that has been released again since can only settle it as accepted. The same
// answer again changes nothing.
//
// The payload of an acknowledgment names patients: it is sealed before anything
// follows from it.
package settle
