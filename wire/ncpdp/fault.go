package ncpdp

import (
	"fmt"
	"strings"

	"claimdlq"
)

// Code names what is wrong with a message, from a closed list.
type Code string

// The codes of a single message.
const (
	CodeEmpty            Code = "empty"             // no bytes at all
	CodeVersion          Code = "version"           // no version stamp that is known where one must be
	CodeHeaderShort      Code = "header_short"      // fewer than 56 or 31 bytes before the first separator
	CodeBIN              Code = "bin"               // 101-A1 is not six digits
	CodeTransactionCode  Code = "transaction_code"  // 103-A3 is not in the standard
	CodeTransactionCount Code = "transaction_count" // 109-A9 is not 1 to 4, or not the number of transactions
	CodeProvider         Code = "service_provider"  // 201-B1 or 202-B2 is blank
	CodeNoSeparators     Code = "no_separators"     // no 0x1E after the header
	CodeControlChar      Code = "control_char"      // a byte that is neither printable ASCII nor a separator
	CodeStray            Code = "stray_bytes"       // bytes between separators where a field must begin
	CodeShortField       Code = "short_field"       // a field of fewer than two bytes
	CodeSegmentID        Code = "segment_id"        // a segment that does not begin with AM and its id
	CodeAMInside         Code = "am_inside_segment" // an AM that is not a segment's first field: a 0x1E was lost
	CodeSegmentLevel     Code = "segment_level"     // a segment on the wrong side of the first 0x1D
	CodeSegmentTwice     Code = "duplicate_segment" // a segment twice in one transaction
	CodeSegmentMissing   Code = "segment_missing"   // a segment that the transaction needs
	CodeFieldMissing     Code = "field_missing"     // a field that the transaction needs, missing or blank
	CodeFieldTwice       Code = "duplicate_field"   // a field twice that may not repeat
	CodeFieldLength      Code = "field_length"      // longer than the standard allows
	CodeNumeric          Code = "numeric"           // not digits
	CodeDate             Code = "date"              // not a date CCYYMMDD
	CodeMoney            Code = "money"             // not a signed amount with its overpunched last digit
	CodeQuantity         Code = "quantity"          // not digits with three implied decimals
	CodeGroupCount       Code = "group_count"       // a count that is not the number of its repeats
	CodeTooLarge         Code = "too_large"         // longer than MaxMessage
	CodeEmptyValue       Code = "empty_value"       // an id without a value; tolerated
	CodeUnsignedMoney    Code = "unsigned_money"    // an amount without a sign; tolerated
	CodeLowerCase        Code = "lower_case"        // small letters in a value; tolerated
	CodeTrailing         Code = "trailing_bytes"    // something after the ETX; tolerated
)

// The codes of a batch.
const (
	CodeBatchFraming  Code = "batch_framing"       // bytes outside STX and ETX, or a record of no known type
	CodeBatchHeader   Code = "batch_header"        // no header where one must be, or one that cannot be read
	CodeBatchTrailer  Code = "batch_trailer"       // a trailer that cannot be read
	CodeBatchNumber   Code = "batch_number"        // header and trailer differ
	CodeRecordCount   Code = "record_count"        // the trailer's count is not that of the records
	CodeNoTrailer     Code = "no_trailer"          // the file ends without one
	CodeAfterTrailer  Code = "after_trailer"       // records after the trailer
	CodeDuplicateRef  Code = "duplicate_reference" // 880-K5 twice in one batch
	CodeReference     Code = "reference"           // 880-K5 is blank or cut off
	CodeTooManyDetail Code = "too_many_details"    // more than BatchOptions.MaxDetails
)

// Hint says how a message probably came to be broken, from a closed list.
type Hint string

// The hints.
const (
	HintNone       Hint = ""
	HintPictures   Hint = "picture_separators" // U+241E and its kin in place of 0x1E
	HintNotation   Hint = "separator_notation" // <1E> and its kin in place of 0x1E
	HintLineBreak  Hint = "line_break"         // CR or LF: an editor or a text-mode transfer
	HintNUL        Hint = "nul"                // NUL bytes: a fixed-size buffer was sent
	HintLowerCase  Hint = "lower_case"         // the whole message in small letters
	HintNonASCII   Hint = "non_ascii"          // letters outside ASCII, such as a slashed zero
	HintUnpadded   Hint = "header_unpadded"    // the header's fields were not filled with blanks
	HintHTML       Hint = "html_page"          // a proxy or a web server answered, not the payer
	HintEcho       Hint = "request_echoed"     // the request came back as its own answer
	HintOldVersion Hint = "old_version"        // a version before 5.1
	HintNoGroup    Hint = "no_group_separator" // a claim without a 0x1D before it
)

var hintTexts = map[Hint]string{
	HintPictures:   "pictures of separators (U+241C to U+241E) stand where the bytes 1C, 1D and 1E belong: the message was copied from a screen",
	HintNotation:   "separators are spelled out, such as <1E>, where the bytes belong: the message was copied from a document",
	HintLineBreak:  "line breaks are inside the message: transfer and store it as binary",
	HintNUL:        "NUL bytes are inside the message: send only the bytes in use, not the whole buffer",
	HintLowerCase:  "the standard wants capital letters",
	HintNonASCII:   "a letter outside ASCII is inside the message; a slashed zero is not a 0",
	HintUnpadded:   "the header's fields must be filled with blanks to their full width: 56 bytes in a request, 31 in a response",
	HintHTML:       "a web page came in place of an answer: a proxy or web server answered, not the payer",
	HintEcho:       "the request came back as its own answer",
	HintOldVersion: "the version is older than 5.1: upgrade the sender",
	HintNoGroup:    "a group separator (1D) must come before the claim segment",
}

// Text returns the hint in a sentence for the operator.
func (h Hint) Text() string { return hintTexts[h] }

// Severity says how bad a fault is.
type Severity uint8

// The severities.
const (
	Error Severity = iota // it cannot be sent or believed
	Note                  // tolerated, and said
)

// Fault is one finding. It holds no byte of the message: Segment and Field are
// ids that the standard knows, or "??" for any other.
type Fault struct {
	Code        Code
	Hint        Hint
	Severity    Severity
	Offset      int    // of the byte in the message, from 0
	Transaction int    // from 1; 0 before the first
	Segment     string // such as 07; empty outside a segment
	Field       string // such as D7; empty where no field is to blame
}

// Detail returns the fault as a record's error detail, such as
// NCPDP:11-D9:MONEY.
func (f Fault) Detail() claimdlq.Detail {
	parts := []string{"NCPDP"}
	if f.Segment != "" || f.Field != "" {
		parts = append(parts, strings.Trim(strings.ReplaceAll(f.Segment+"-"+f.Field, "?", "_"), "-"))
	}
	return claimdlq.NewDetail(strings.Join(append(parts, strings.ToUpper(string(f.Code))), ":"))
}

// String returns the fault for people: code and place.
func (f Fault) String() string {
	var b strings.Builder
	b.WriteString(string(f.Code))
	if f.Transaction > 0 {
		fmt.Fprintf(&b, " in transaction %d", f.Transaction)
	}
	if f.Segment != "" {
		b.WriteString(", segment " + f.Segment)
	}
	if f.Field != "" {
		b.WriteString(", field " + f.Field)
	}
	fmt.Fprintf(&b, " at byte %d", f.Offset)
	return b.String()
}

// Err returns the fault as an error with code Invalid.
func (f Fault) Err() error {
	return &claimdlq.Error{Code: claimdlq.Invalid, Op: "read ncpdp message", On: f.String(), Hint: f.Hint.Text()}
}
