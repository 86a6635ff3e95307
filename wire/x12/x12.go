// Package x12 reads, judges, cuts and rewrites X12 interchanges: 837 claims, and
// the envelopes of their acknowledgments.
//
// # Reading
//
// A Scanner reads a file of any size in flat memory and returns Events. Every
// byte of the input is in exactly one event's Raw, in order: writing them out
// again reproduces the file to the byte. Nothing in the input makes it panic or
// allocate without bound. Delimiters come from each ISA.
//
// # PHI
//
// Raw bytes, Claim parts and BHT03 are PHI. Faults never hold a value: segment,
// position, loop, element and code only.
package x12

import (
	"claimdlq"
)

// Delims are the delimiters of one interchange, as its ISA declares them.
type Delims struct {
	Element, Component, Segment byte
	// Repetition is 0 where the interchange has none (ISA11 "U", or a letter or digit).
	Repetition byte
	// Suffix follows the segment terminator in this file: "", "\n", "\r\n" or "\r".
	Suffix string
}

// Event is one piece of a scanned file: *Junk, *InterchangeStart, *Loose,
// *GroupStart, *SetPart, *Set, *GroupEnd or *InterchangeEnd. Its byte slices are
// valid until the next call of Scanner.Next.
type Event interface{ event() }

// Junk is input outside any readable interchange. Space between interchanges, a
// byte order mark and a DOS Ctrl-Z are Junk with Harmless set.
type Junk struct {
	Raw      []byte
	Offset   int64
	Harmless bool
	// TA1 is what the junk deserves where it began like an interchange: 022, 004,
	// 023; empty otherwise.
	TA1 string
	// Poison: the file holds nothing that could be an X12 interchange here.
	Poison bool
}

// InterchangeStart is an ISA that could be read.
type InterchangeStart struct {
	Raw       []byte // the ISA segment with its terminator and suffix
	Offset    int64
	Delims    Delims
	Envelope  claimdlq.Envelope
	ISA13     string // as written
	Number    uint32 // ISA13 as a number; 0 if it is not one
	AckWanted bool   // ISA14 is 1
}

// Loose is a segment between ISA and IEA but outside any set: a TA1, or one that
// does not belong there and earns the interchange a TA1 with note 024.
type Loose struct {
	Raw []byte
	ID  string
	// Elements are the segment's elements after its id; nil unless ID is TA1.
	Elements []string
}

// GroupStart is a GS.
type GroupStart struct {
	Raw        []byte
	GS01       string // HC claims, FA 999, HN 277CA
	Sender     string // GS02
	Receiver   string // GS03
	Date, Time string // GS04, GS05
	Control    string // GS06 as written
	Number     uint32 // GS06 as a number; 0 if it is not one
	Version    string // GS08
}

// SetPart is the next piece of a transaction set that is larger than
// Options.PartSize. The pieces of a set end with its Set event.
type SetPart struct{ Raw []byte }

// Set is a transaction set, ST to SE.
type Set struct {
	Raw      []byte // its bytes, or what followed the last SetPart
	Offset   int64  // of the ST in the file
	Size     int64  // of all its bytes, parts included
	ST01     string // 837, 999, 277
	ST02     string
	ST03     string
	Format   claimdlq.Format
	Segments int    // as counted, ST and SE included
	BHT03    []byte // PHI by suspicion: some submitters put a patient number in it
	BHT04    string // transaction set creation date, CCYYMMDD

	Claims      int
	AmountCents int64 // sum of CLM02

	// IK5 is A, E or R; IK502 up to five codes.
	IK5   string
	IK502 []string
	// Faults are all faults in order of position, at most Options.MaxFaults;
	// FaultCount counts all.
	Faults     []Fault
	FaultCount int
	// Whole reports that some fault belongs to the set itself or to its header, so
	// that it cannot be cut down to its good claims.
	Whole bool
	// BadClaims are the claims that a fault of their own, or of a loop above them,
	// makes unsendable, by ordinal. Empty when Whole.
	BadClaims []BadClaim
}

// BadClaim is one claim of a set that must be held.
type BadClaim struct {
	Ordinal     int // CLM's place in the set, from 1
	AmountCents int64
	Fault       Fault // the first
}

// Severity says how bad a fault is.
type Severity uint8

// The severities, from harmless to fatal.
const (
	Note     Severity = iota // tolerated: accepted, and said
	Business                 // well formed, refused for what it says: TERMINAL
	Error                    // FATAL_SYNTAX
)

// Fault is one finding, without any value.
type Fault struct {
	Segment  string   `json:"segment"`  // segment id
	Position int      `json:"position"` // of the segment in its set, ST is 1
	Loop     string   `json:"loop"`     // such as 2300; empty if unknown
	Element  string   `json:"element"`  // such as 01 or 05-3; empty for a segment fault
	IK304    string   `json:"ik304"`
	IK403    string   `json:"ik403"`
	Rule     string   `json:"rule,omitempty"` // our name of the rule, [A-Z0-9_.-]
	STC      string   `json:"stc,omitempty"`  // for Business: 277CA category and status it will earn, such as A7:562
	Severity Severity `json:"-"`
	ClaimOrd int      `json:"claim,omitempty"` // ordinal of the claim it lies in, 0 outside claims
	Offset   int64    `json:"offset"`          // of the segment in the file
}

// Detail returns the fault as a record's error detail, such as IK4:CLM01:1 or
// IK3:HI:3 or RULE:NPI_CHECK_DIGIT.
func (f Fault) Detail() claimdlq.Detail {
	if f.Segment == unreadableID {
		f.Segment = "UNREADABLE"
	}
	switch {
	case f.Severity == Business, f.IK304 == "" && f.Rule != "": // a fault of an acknowledgment has no 999 code
		return claimdlq.NewDetail("RULE:" + f.Rule)
	case f.IK403 != "":
		return claimdlq.NewDetail("IK4:" + f.Segment + f.Element + ":" + f.IK403)
	}
	return claimdlq.NewDetail("IK3:" + f.Segment + ":" + f.IK304)
}

// GroupEnd is a GE, or where one should have been.
type GroupEnd struct {
	Raw                []byte // empty where the GE is missing
	AK9                string // A, E, P or R
	AK905              []string
	Included           int // GE01 as written; -1 if it is not a number
	Received, Accepted int // sets
}

// InterchangeEnd is an IEA, or where one should have been.
type InterchangeEnd struct {
	Raw  []byte // empty where the IEA is missing
	TA1  string // A, E or R
	Note string // TA105, three digits
	// Notes are what was tolerated, by our rule names.
	Notes []string
}

func (*Junk) event()             {}
func (*InterchangeStart) event() {}
func (*Loose) event()            {}
func (*GroupStart) event()       {}
func (*SetPart) event()          {}
func (*Set) event()              {}
func (*GroupEnd) event()         {}
func (*InterchangeEnd) event()   {}

// Claim is one CLM of an 837 as a Scanner passes it to Options.OnClaim, clean or
// not. Its slices are PHI and valid during the call.
type Claim struct {
	Ordinal     int
	CLM01       []byte
	Frequency   byte // CLM05-3: '1' original, '7' replacement, '8' void; 0 if missing
	AmountCents int64
	// Bad reports that the claim is known to be bad by now. A fault further on, of
	// the provider's loops or of the set, is only in the Set.
	Bad bool
	// Position is that of the CLM in its set, ST is 1; Offset that in the file. Both
	// are 0 where the guides are skipped.
	Position int
	Offset   int64
	// Fingerprint are the parts that identify what is billed for whom, to be keyed
	// by claimdlq.Identity.Key: payer, billing NPI, subscriber, birth date with the
	// patient's name where it is not the subscriber, dates, frequency, sorted lines,
	// total. Nil if the claim is not readable enough, or the guides are skipped.
	Fingerprint [][]byte
	// Service is the day from which filing is counted, CCYYMMDD: the through date of an
	// institutional claim (DTP 434), the earliest first day of a line otherwise (DTP 472).
	// Nil where there is none, or the guides are skipped.
	Service []byte
}

// Options tune a Scanner. The zero value is usable.
type Options struct {
	// Rules judge the sets; nil means the latest embedded rules.
	Rules *Rules
	// EnvelopeOnly skips the guides: envelopes, counts and control numbers only.
	EnvelopeOnly bool
	// OnClaim is called for every claim, in order, before its Set is returned.
	OnClaim func(*Claim)
	// PartSize is how much of a set is held in memory. Default: 8 MiB.
	PartSize int
	// MaxSegment is how much of a segment is judged; the rest of a longer one is
	// passed through, and faulted. Default: 1 MiB.
	MaxSegment int
	// MaxFaults is how many faults a Set lists. Default: 1000.
	MaxFaults int
}
