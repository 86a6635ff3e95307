package testclaims

import "strings"

// InTransmission is the scope of a fault in what all claims of a transmission share.
const InTransmission Scope = "transmission"

// RxExpect is what a validator must say about a fault. Empty fields are not expected.
type RxExpect struct {
	// Code is that of the first error, or of a note where the verdict is OK.
	Code    string `json:"code,omitempty"`
	Segment string `json:"segment,omitempty"`
	Field   string `json:"field,omitempty"`
	Hint    string `json:"hint,omitempty"`
	// Verdict is POISON, OK (tolerated, and said) or ROUTE_F6.
	Verdict string `json:"verdict"`
}

// RxKind describes one fault that can be made in a pharmacy file.
type RxKind struct {
	Name   string   `json:"name"`
	Scope  Scope    `json:"scope"`
	What   string   `json:"what"`
	Expect RxExpect `json:"expect"`

	id    rxFault
	codes string // transaction codes that have it; empty: all
	batch bool   // only batches have it
}

type rxFault uint8

const (
	rxHeaderShort rxFault = iota
	rxBIN
	rxVersion
	rxF6
	rxCode
	rxCountAlpha
	rxCountHigh
	rxProvider
	rxServiceDate
	rxNoSeparators
	rxPictures
	rxLowerCase
	rxLineBreak
	rxNUL
	rxNonASCII
	rxNoInsurance
	rxNoCardholder
	rxPatientLate
	rxBirthDate
	rxReferenceTwice
	rxReferenceBlank
	rxNoClaim
	rxNoRx
	rxNoFill
	rxNoNDC
	rxNoQualifier
	rxNoQuantity
	rxNoPricing
	rxMoney
	rxQuantity
	rxAlpha
	rxLongNDC
	rxWrittenDate
	rxFieldTwice
	rxSegmentTwice
	rxLostRS
	rxLostGS
	rxShortField
	rxStray
	rxGroupCount
	rxUnsigned
	rxEmptyField
	rxBatchHeader
	rxBatchCount
	rxBatchNumber
	rxNoTrailer
	rxAfterTrailer
	rxBatchJunk
	rxTruncated
	rxFaults
)

const (
	billing = "B1 B3"
	fills   = "B1 B2 B3"
	people  = "B1 B3 E1"
)

func poison(code, segment, field string) RxExpect {
	return RxExpect{Code: code, Segment: segment, Field: field, Verdict: "POISON"}
}

func poisonHint(code, hint string) RxExpect {
	return RxExpect{Code: code, Hint: hint, Verdict: "POISON"}
}

func tolerated(code, segment, field string) RxExpect {
	return RxExpect{Code: code, Segment: segment, Field: field, Verdict: "OK"}
}

var rxCatalog = [rxFaults]RxKind{
	rxHeaderShort:    {Name: "header-short", Scope: InTransmission, What: "the header ends ten bytes early", Expect: poison("header_short", "", "")},
	rxBIN:            {Name: "bin-alpha", Scope: InTransmission, What: "a letter in 101-A1", Expect: poison("bin", "", "A1")},
	rxVersion:        {Name: "version-unknown", Scope: InTransmission, What: "102-A2 is D9", Expect: poison("version", "", "")},
	rxF6:             {Name: "version-f6", Scope: InTransmission, What: "an eight-digit issuer and version F6: to be routed, not decoded", Expect: RxExpect{Verdict: "ROUTE_F6"}},
	rxCode:           {Name: "code-unknown", Scope: InTransmission, What: "103-A3 is ZZ", Expect: poison("transaction_code", "", "A3")},
	rxCountAlpha:     {Name: "count-alpha", Scope: InTransmission, What: "109-A9 is a letter", Expect: poison("transaction_count", "", "A9")},
	rxCountHigh:      {Name: "count-high", Scope: InTransmission, What: "109-A9 one too high", codes: fills, Expect: poison("transaction_count", "", "A9")},
	rxProvider:       {Name: "provider-blank", Scope: InTransmission, What: "201-B1 is blank", Expect: poison("service_provider", "", "B1")},
	rxServiceDate:    {Name: "service-date", Scope: InTransmission, What: "31 February in 401-D1", Expect: poison("date", "", "D1")},
	rxNoSeparators:   {Name: "no-separators", Scope: InTransmission, What: "every separator is lost", Expect: poison("no_separators", "", "")},
	rxPictures:       {Name: "picture-separators", Scope: InTransmission, What: "pictures of separators in their place", Expect: poisonHint("no_separators", "picture_separators")},
	rxLowerCase:      {Name: "lower-case", Scope: InTransmission, What: "all of it in small letters", Expect: poisonHint("version", "lower_case")},
	rxLineBreak:      {Name: "line-break", Scope: InTransmission, What: "a line feed in the patient's name", codes: people, Expect: poisonHint("control_char", "line_break")},
	rxNUL:            {Name: "nul", Scope: InTransmission, What: "a NUL in the patient's name", codes: people, Expect: poisonHint("control_char", "nul")},
	rxNonASCII:       {Name: "non-ascii", Scope: InTransmission, What: "a letter outside ASCII in the patient's name", codes: people, Expect: poisonHint("control_char", "non_ascii")},
	rxNoInsurance:    {Name: "missing-insurance", Scope: InTransmission, What: "no segment 04", codes: people, Expect: poison("segment_missing", "04", "")},
	rxNoCardholder:   {Name: "missing-cardholder", Scope: InTransmission, What: "no 302-C2", codes: people, Expect: poison("field_missing", "04", "C2")},
	rxPatientLate:    {Name: "patient-late", Scope: InTransmission, What: "segment 01 in the first transaction", codes: billing, Expect: poison("segment_level", "01", "")},
	rxBirthDate:      {Name: "birth-date", Scope: InTransmission, What: "31 February in 304-C4", codes: people, Expect: poison("date", "01", "C4")},
	rxReferenceTwice: {Name: "reference-twice", Scope: InTransmission, What: "880-K5 of the detail before it", batch: true, Expect: poison("duplicate_reference", "", "K5")},
	rxReferenceBlank: {Name: "reference-blank", Scope: InTransmission, What: "880-K5 is blank", batch: true, Expect: poison("reference", "", "K5")},

	rxNoClaim:      {Name: "missing-claim", Scope: InClaim, What: "no segment 07", codes: fills, Expect: poison("segment_missing", "07", "")},
	rxNoRx:         {Name: "missing-rx", Scope: InClaim, What: "no 402-D2", codes: fills, Expect: poison("field_missing", "07", "D2")},
	rxNoFill:       {Name: "missing-fill", Scope: InClaim, What: "no 403-D3", codes: billing, Expect: poison("field_missing", "07", "D3")},
	rxNoNDC:        {Name: "missing-ndc", Scope: InClaim, What: "no 407-D7", codes: fills, Expect: poison("field_missing", "07", "D7")},
	rxNoQualifier:  {Name: "missing-rx-qualifier", Scope: InClaim, What: "no 455-EM", codes: fills, Expect: poison("field_missing", "07", "EM")},
	rxNoQuantity:   {Name: "missing-quantity", Scope: InClaim, What: "no 442-E7", codes: billing, Expect: poison("field_missing", "07", "E7")},
	rxNoPricing:    {Name: "missing-pricing", Scope: InClaim, What: "no segment 11", codes: billing, Expect: poison("segment_missing", "11", "")},
	rxMoney:        {Name: "bad-money", Scope: InClaim, What: "a decimal point in 409-D9", codes: billing, Expect: poison("money", "11", "D9")},
	rxQuantity:     {Name: "bad-quantity", Scope: InClaim, What: "a decimal point in 442-E7", codes: billing, Expect: poison("quantity", "07", "E7")},
	rxAlpha:        {Name: "rx-alpha", Scope: InClaim, What: "a letter in 402-D2", codes: fills, Expect: poison("numeric", "07", "D2")},
	rxLongNDC:      {Name: "ndc-long", Scope: InClaim, What: "407-D7 of twenty characters", codes: fills, Expect: poison("field_length", "07", "D7")},
	rxWrittenDate:  {Name: "written-date", Scope: InClaim, What: "31 February in 414-DE", codes: billing, Expect: poison("date", "07", "DE")},
	rxFieldTwice:   {Name: "field-twice", Scope: InClaim, What: "407-D7 twice", codes: fills, Expect: poison("duplicate_field", "07", "D7")},
	rxSegmentTwice: {Name: "segment-twice", Scope: InClaim, What: "segment 11 twice", codes: billing, Expect: poison("duplicate_segment", "11", "")},
	rxLostRS:       {Name: "rs-lost", Scope: InClaim, What: "no 0x1E before segment 11", codes: billing, Expect: poison("am_inside_segment", "", "")},
	rxLostGS:       {Name: "gs-lost", Scope: InClaim, What: "no 0x1D before the transaction", codes: fills, Expect: poison("transaction_count", "", "A9")},
	rxShortField:   {Name: "short-field", Scope: InClaim, What: "a field of one byte", codes: fills, Expect: poison("short_field", "", "")},
	rxStray:        {Name: "stray-bytes", Scope: InClaim, What: "bytes between 0x1E and 0x1C", codes: fills, Expect: poison("stray_bytes", "", "")},
	rxGroupCount:   {Name: "group-count", Scope: InClaim, What: "354-NX counts one too many", codes: billing, Expect: poison("group_count", "07", "NX")},
	rxUnsigned:     {Name: "unsigned-money", Scope: InClaim, What: "412-DC without its sign: tolerated", codes: billing, Expect: tolerated("unsigned_money", "11", "DC")},
	rxEmptyField:   {Name: "empty-field", Scope: InClaim, What: "an id without a value: tolerated", codes: fills, Expect: tolerated("empty_value", "07", "DT")},

	rxBatchHeader:  {Name: "batch-header", Scope: InFile, What: "880-K6 is X", batch: true, Expect: poison("batch_header", "", "K6")},
	rxBatchCount:   {Name: "batch-count", Scope: InFile, What: "751 one too high", batch: true, Expect: poison("record_count", "", "")},
	rxBatchNumber:  {Name: "batch-number", Scope: InFile, What: "the trailer's 806-5C is not the header's", batch: true, Expect: poison("batch_number", "", "5C")},
	rxNoTrailer:    {Name: "no-trailer", Scope: InFile, What: "no trailer", batch: true, Expect: poison("no_trailer", "", "")},
	rxAfterTrailer: {Name: "after-trailer", Scope: InFile, What: "the last detail again after the trailer", batch: true, Expect: poison("after_trailer", "", "")},
	rxBatchJunk:    {Name: "batch-junk", Scope: InFile, What: "bytes outside any record", batch: true, Expect: poison("batch_framing", "", "")},
	rxTruncated:    {Name: "truncated", Scope: InFile, What: "the file ends inside the last detail", batch: true, Expect: poison("batch_framing", "", "")},
}

var rxByName = func() map[string]*RxKind {
	m := make(map[string]*RxKind, len(rxCatalog))
	for i := range rxCatalog {
		rxCatalog[i].id = rxFault(i)
		m[rxCatalog[i].Name] = &rxCatalog[i]
	}
	return m
}()

// RxCatalog lists every fault that can be made in a pharmacy file.
func RxCatalog() []RxKind { return append([]RxKind(nil), rxCatalog[:]...) }

// AppliesTo reports whether the fault can be made in a file with these options.
func (k RxKind) AppliesTo(o RxOptions) bool {
	o = DefaultRxOptions(o)
	return (!k.batch || o.Batch) && (k.codes == "" || strings.Contains(k.codes, o.Code))
}

// ParseRxFault reads the name and the places of a fault in a pharmacy file, as
// ParseFault does for X12. Errors: Invalid.
func ParseRxFault(s string) (Fault, error) {
	return parseFault(s, func(name string) bool { return rxByName[name] != nil })
}
