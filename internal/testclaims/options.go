package testclaims

import (
	"time"

	"claimdlq"
	"claimdlq/wire/x12"
)

// Options say what to write. The zero value writes one interchange of one clean
// professional claim.
type Options struct {
	// Seed decides every random choice. Faults do not change the choices: a faulty
	// file differs from the clean one of its seed only where the faults are.
	Seed uint64
	// Format is claimdlq.Format837P, Format837I or Format837D. Default: 837P.
	Format claimdlq.Format

	// Claims and Bytes end the file: after so many claims, or with the first claim
	// that ends at or after so many bytes, whichever comes first. Default: 1 claim
	// where both are 0.
	Claims int
	Bytes  int64
	// ClaimsPerSet is the number of claims from ST to SE. Default: 50.
	ClaimsPerSet int
	// SetsPerGroup is the number of sets from GS to GE. Default: 200.
	SetsPerGroup int
	// GroupsPerInterchange is the number of groups from ISA to IEA. Default: 1.
	GroupsPerInterchange int
	// ClaimsPerPatient is the number of claims in one subscriber or patient loop.
	// Default: 1. More than 100 breaks the guide's limit of loop 2300.
	ClaimsPerPatient int
	// DependentEvery puts each nth patient in a loop of its own (HL03 23) under the
	// subscriber. Default: 10. Negative: none.
	DependentEvery int

	// SenderQualifier, Sender, ReceiverQualifier and Receiver are ISA05 to ISA08.
	// Sender and Receiver are GS02 and GS03 too. Defaults: ZZ, TESTSENDER, ZZ, TESTPAYER.
	SenderQualifier, Sender, ReceiverQualifier, Receiver string
	// Usage is ISA15. Default: T.
	Usage byte
	// NoAckWanted writes 0 into ISA14 instead of 1.
	NoAckWanted bool

	// ISA13, GS06 and ST02 are the first control numbers. ISA13 and GS06 rise by one
	// through the file; ST02 starts again in each group. Defaults: 1.
	ISA13, GS06, ST02 uint32
	// FirstClaim is the number in the first CLM01; it rises by one. Default: 1.
	FirstClaim int

	// Date is the date and time of every envelope; service dates lie in the sixty
	// days before it. Default: 2026-07-17 12:00.
	Date time.Time
	// Delims are the delimiters and, as Suffix, the newline after each segment.
	// Default: * : ~ ^ and no newline.
	Delims x12.Delims

	// Canary marks every field that could hold protected health information.
	Canary bool
	// Faults are made in the file; see Catalog for their names.
	Faults []Fault

	// OnClaim, if not nil, is called for each claim after it was written.
	OnClaim func(Claim)
}

// Fault asks for one kind of fault. It is made at each place that At or Every
// names: places are claims, sets, groups or interchanges as the fault's scope
// says, counted through the file from 1.
type Fault struct {
	Name  string
	At    []int
	Every int // each nth place; 0: only At
}

// Place says where in a file something is. Numbers that do not apply are 0.
type Place struct {
	Interchange int    `json:"interchange"` // from 1
	ISA13       uint32 `json:"isa13"`
	GS06        uint32 `json:"gs06,omitempty"`
	ST02        string `json:"st02,omitempty"`
	Set         int    `json:"set,omitempty"`     // from 1, through the file
	Ordinal     int    `json:"ordinal,omitempty"` // the claim's place in its set, from 1
	Claim       int    `json:"claim,omitempty"`   // from 1, through the file
}

// Claim is one claim that was written.
type Claim struct {
	Place
	CLM01       string
	AmountCents int64
	// Faults names the faults made in this claim; those of its set or envelope are
	// not among them.
	Faults []string
}

// Made is one fault that was made.
type Made struct {
	Place
	Fault  string `json:"fault"`
	Scope  Scope  `json:"scope"`
	Expect Expect `json:"expect"`
}

// Stats say what was written.
type Stats struct {
	Bytes        int64 `json:"bytes"`
	Segments     int64 `json:"segments"`
	Interchanges int   `json:"interchanges"`
	Groups       int   `json:"groups"`
	Sets         int   `json:"transaction_sets"`
	Claims       int   `json:"claims"`
	AmountCents  int64 `json:"amount_cents"` // sum of CLM02 as it should be
	// BadClaims counts claims with a fault of their own.
	BadClaims int `json:"bad_claims"`
	// Made lists the faults in file order. It grows with them.
	Made []Made `json:"faults,omitempty"`
}
