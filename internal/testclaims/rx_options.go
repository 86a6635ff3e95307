package testclaims

import (
	"math"
	"strings"
	"time"
)

// RxOptions say which pharmacy transmissions to write (NCPDP Telecommunication
// D.0). The zero value is one clean billing (B1) of one prescription.
type RxOptions struct {
	// Seed decides every random choice. Faults do not change the choices.
	Seed uint64
	// Code is 103-A3: B1, B2, B3 or E1. Claim n of a seed is the same fill whatever
	// the code: its B2 takes back its B1, its B3 bills it again. Default: B1.
	Code string

	// Claims and Bytes end the file: after so many claims, or with the first
	// transmission that ends at or after so many bytes, whichever comes first.
	// Default: 1 claim where both are 0.
	Claims int
	Bytes  int64
	// TransactionsPer is how many claims, of one patient, one transmission carries: 1
	// to 4. A B2 and an E1 travel alone whatever it says. Default: 1.
	TransactionsPer int
	// CompoundEvery, COBEvery and PartialEvery make each nth claim a compound of
	// several ingredients, one that other payers have seen, and a partial fill; the
	// claim after a partial fill is its completion. Compounds are made only where
	// claims travel alone. Defaults: 10, 15, 20. Negative: none.
	CompoundEvery, COBEvery, PartialEvery int
	// FirstClaim is the number of the first claim, and its 402-D2; it rises by one.
	// Default: 1.
	FirstClaim int

	// BIN and PCN are 101-A1 and 104-A4, Vendor is 110-AK. Defaults: 999999, TESTPCN,
	// TESTCERT.
	BIN, PCN, Vendor string
	// Pharmacies is how many pharmacies (201-B1) take turns. Default: 1.
	Pharmacies int
	// Date is the day of the file; services lie in the sixty days before it.
	// Default: 2026-07-17.
	Date time.Time

	// Framed puts STX and ETX around a transmission that stands alone. In a file
	// of several, which is not a batch, each has them.
	Framed bool
	// Batch writes a file of the Batch standard 1.2 with the given number (806-5C),
	// sender (880-K1), receiver (880-K7) and type of file (702-MC, P or T).
	// Defaults: 1, TESTSENDER, TESTPAYER, T.
	Batch            bool
	BatchNumber      int
	Sender, Receiver string
	FileType         byte

	// Canary marks every field that could hold protected health information.
	Canary bool
	// Faults are made in the file; see RxCatalog for their names.
	Faults []Fault

	// OnClaim, if not nil, is called for each claim after it was written.
	OnClaim func(RxClaim)
}

// RxPlace says where in a file something is. Numbers that do not apply are 0.
type RxPlace struct {
	Transmission int `json:"transmission,omitempty"` // from 1
	Transaction  int `json:"transaction,omitempty"`  // from 1, in its transmission
	Claim        int `json:"claim,omitempty"`        // from 1, through the file
}

// RxClaim is one claim that was written.
type RxClaim struct {
	RxPlace
	Rx          string // 402-D2
	AmountCents int64  // 430-DU
	// Faults names the faults made in this claim; those of its transmission or file
	// are not among them.
	Faults []string
}

// RxMade is one fault that was made.
type RxMade struct {
	RxPlace
	Fault  string   `json:"fault"`
	Scope  Scope    `json:"scope"`
	Expect RxExpect `json:"expect"`
}

// RxStats say what was written.
type RxStats struct {
	Bytes         int64 `json:"bytes"`
	Transmissions int   `json:"transmissions"`
	Claims        int   `json:"claims"`
	AmountCents   int64 `json:"amount_cents"` // sum of 430-DU as it should be
	// BadClaims counts claims that must be refused: for a fault of their own, or one
	// of their transmission.
	BadClaims int `json:"bad_claims"`
	// Made lists the faults in file order. It grows with them.
	Made []RxMade `json:"faults,omitempty"`
}

// DefaultRxOptions returns o with every zero field set to its default.
func DefaultRxOptions(o RxOptions) RxOptions {
	number := func(p *int, v int) {
		if *p == 0 {
			*p = v
		}
	}
	text := func(p *string, v string) {
		if *p == "" {
			*p = v
		}
	}
	if o.Claims == 0 && o.Bytes == 0 {
		o.Claims = 1
	}
	number(&o.Claims, math.MaxInt)
	if o.Bytes == 0 {
		o.Bytes = math.MaxInt64
	}
	text(&o.Code, "B1")
	number(&o.TransactionsPer, 1)
	if o.Code == "B2" || o.Code == "E1" {
		o.TransactionsPer = 1
	}
	number(&o.CompoundEvery, 10)
	number(&o.COBEvery, 15)
	number(&o.PartialEvery, 20)
	number(&o.FirstClaim, 1)
	text(&o.BIN, "999999")
	text(&o.PCN, "TESTPCN")
	text(&o.Vendor, "TESTCERT")
	number(&o.Pharmacies, 1)
	if o.Date.IsZero() {
		o.Date = time.Date(2026, 7, 17, 12, 0, 0, 0, time.UTC)
	}
	number(&o.BatchNumber, 1)
	text(&o.Sender, "TESTSENDER")
	text(&o.Receiver, "TESTPAYER")
	if o.FileType == 0 {
		o.FileType = 'T'
	}
	return o
}

// Validate reports the first option that cannot be met. Errors: Invalid.
func (o RxOptions) Validate() error {
	const op = "check options of the generator"
	o = DefaultRxOptions(o)
	switch {
	case !strings.Contains("B1 B2 B3 E1", o.Code) || len(o.Code) != 2:
		return invalid(op, "the transaction code must be B1, B2, B3 or E1")
	case o.Claims < 0, o.Bytes < 0, o.FirstClaim < 0, o.Pharmacies < 0:
		return invalid(op, "counts must not be negative")
	case o.TransactionsPer < 1 || o.TransactionsPer > 4:
		return invalid(op, "a transmission carries one to four transactions")
	case o.PartialEvery == 1:
		return invalid(op, "a partial fill needs a claim after it: each second at most")
	case len(o.BIN) != 6 || !onlyDigits(o.BIN):
		return invalid(op, "the BIN has six digits")
	case len(o.PCN) > 10, len(o.Vendor) > 10:
		return invalid(op, "PCN and vendor have at most ten characters")
	case len(o.Sender) > 24, len(o.Receiver) > 24:
		return invalid(op, "sender and receiver of a batch have at most 24 characters")
	case o.BatchNumber < 0 || o.BatchNumber > 9_999_999:
		return invalid(op, "the batch number has at most seven digits")
	case o.FileType != 'P' && o.FileType != 'T':
		return invalid(op, "the type of a batch is P or T")
	case o.Date.Year() < 2000 || o.Date.Year() > 2098:
		return invalid(op, "the date must lie in the years 2000 to 2098")
	}
	for _, b := range []byte(o.PCN + o.Vendor + o.Sender + o.Receiver) {
		if !plain(b) {
			return invalid(op, "names are capital letters, digits, '-' or '.'")
		}
	}
	for _, f := range o.Faults {
		k := rxByName[f.Name]
		if k == nil {
			return invalid("find a fault", "generate --format ncpdp --list-faults shows the names")
		}
		if !k.AppliesTo(o) {
			return invalid("make fault "+k.Name, "there is no such fault in files of this kind")
		}
	}
	return nil
}

func onlyDigits(s string) bool { return strings.Trim(s, "0123456789") == "" && s != "" }
