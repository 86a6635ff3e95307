// Package x12ack reads and writes the acknowledgments of X12 claims: TA1 (an
// interchange was received), 999 (005010X231A1: its sets are well formed or not)
// and 277CA (005010X214: its claims entered adjudication or not).
//
// # PHI
//
// A 999 may repeat bad values (IK404) and patient control numbers (CTX), and a
// 277CA names patients. Nothing of that leaves this package, except CLM01, BHT03
// and the payer's claim number, which matching needs, as phi.Bytes. Codes hold
// segment, position, element and code only.
package x12ack

import (
	"fmt"

	"claimdlq"
	"claimdlq/classify"
	"claimdlq/phi"
	"claimdlq/wire/x12"
)

// Kind is what an answer is about.
type Kind uint8

// The kinds, from the outermost in.
const (
	KindTA1      Kind = iota + 1 // a whole interchange
	KindGroup                    // every set of a group that has no answer of its own in the same 999
	KindSet                      // one transaction set
	KindBatch                    // every claim of a batch (277CA 2200B) that has no answer of its own in the same 277CA
	KindProvider                 // every claim of one billing provider of a batch (2200C), as above
	KindClaim                    // one claim (2200D)
)

// Answer is one verdict about something that was sent.
type Answer struct {
	Kind Kind
	// Envelope is that of the original: the acknowledgment's sender and receiver
	// swapped back. Date and Time are set by a TA1 only (TA102, TA103).
	Envelope claimdlq.Envelope
	ISA13    uint32 // TA1: TA101 as a number

	// Of the original, for a 999: GS02 and GS03, AK102 as a number and AK202. For a
	// 277CA only GroupSender and GroupReceiver are known.
	GroupSender, GroupReceiver string
	GS06                       uint32
	ST02                       string

	BHT03        phi.Bytes // 277CA: of the batch it belongs to
	CLM01        phi.Bytes // claim: as the payer returned it, often cut to 20 characters
	PayerControl phi.Bytes // claim: REF*1K, kept for a later REF*F8
	Provider     phi.Bytes // provider: NM109
	Ordinal      int       // of the answer among those of its kind in its set, from 1
	// Claims says how many claim answers the batch or provider has.
	Claims int

	classify.Ack
	// Codes are the causes in order, at most MaxCodes: TA1:006, IK5:R:5,
	// IK3:CLM:18:2300:8, IK4:CLM:18:01:5, AK9:R:5, STC:A7:562:85.
	Codes []claimdlq.Detail
}

// MaxCodes is how many codes an Answer lists.
const MaxCodes = 100

// For names what the answer is about, without PHI: ISA13 000000101, GS06 201,
// GS06 201 ST02 0001, batch, provider 1 or claim 1. With reveal a claim is named
// by its CLM01 instead.
func (a Answer) For(reveal bool) string {
	switch a.Kind {
	case KindTA1:
		return fmt.Sprintf("ISA13 %09d", a.ISA13)
	case KindGroup:
		return fmt.Sprintf("GS06 %d", a.GS06)
	case KindSet:
		return fmt.Sprintf("GS06 %d ST02 %s", a.GS06, a.ST02)
	case KindBatch:
		return "batch"
	case KindProvider:
		return fmt.Sprintf("provider %d", a.Ordinal)
	case KindClaim:
	}
	if reveal {
		return string(a.CLM01.Reveal())
	}
	return fmt.Sprintf("claim %d", a.Ordinal)
}

// Detail returns the code a record keeps: the cause without its position, so that
// records group by it.
func (a Answer) Detail() claimdlq.Detail { return a.Outcome.Code }

// Acks is what an acknowledgment file says.
type Acks struct {
	Interchanges []Interchange
	// Faults are what could not be understood. Where there is one, some answer may
	// be missing: the file must be kept and somebody told.
	Faults []x12.Fault
	// Notes are what was tolerated, by our rule names.
	Notes []string
}

// Interchange is one interchange of acknowledgments.
type Interchange struct {
	Envelope claimdlq.Envelope // as it came: the payer is the sender
	ISA13    string
	Number   uint32
	Answers  []Answer
}

// Answers returns the answers of all interchanges in order.
func (a *Acks) Answers() []Answer {
	var all []Answer
	for i := range a.Interchanges {
		all = append(all, a.Interchanges[i].Answers...)
	}
	return all
}

// Verdict returns the class of the file in the vocabulary of validation: that of
// its worst answer, TOLERATE where something was tolerated, POISON where nothing
// could be read.
func (a *Acks) Verdict() string {
	worst, all := "OK", a.Answers()
	if len(a.Notes) > 0 {
		worst = "TOLERATE"
	}
	if len(a.Faults) > 0 {
		worst = "FATAL_SYNTAX"
	}
	if len(all) == 0 {
		return "POISON"
	}
	for i := range all {
		if v := all[i].Ack.Verdict(); severity(v) > severity(worst) {
			worst = v
		}
	}
	return worst
}

func severity(verdict string) int {
	switch verdict {
	case "TOLERATE":
		return 1
	case "TRANSIENT":
		return 2
	case "TERMINAL":
		return 3
	case "FATAL_SYNTAX":
		return 4
	}
	return 0
}
