package ncpdp

import "bytes"

// Header sizes, in bytes.
const (
	RequestHeader  = 56
	ResponseHeader = 31
)

// span is a place in a header: offset and width; a width of 0 is none.
type span struct{ at, n int }

// headerField is where a field stands in the header of a request and of a response.
type headerField struct{ request, response span }

// The header of a request is A1 A2 A3 A4 A9 B2 B1 D1 AK, that of a response A2 A3
// A9 F1 B2 B1 D1. F1, F2 and F3 transactions have other things in the place of
// B2, B1 and D1.
var (
	hA1 = headerField{request: span{0, 6}}
	hA2 = headerField{span{6, 2}, span{0, 2}}
	hA3 = headerField{span{8, 2}, span{2, 2}}
	hA4 = headerField{request: span{10, 10}}
	hA9 = headerField{span{20, 1}, span{4, 1}}
	hF1 = headerField{response: span{5, 1}}
	hB2 = headerField{span{21, 2}, span{6, 2}}
	hB1 = headerField{span{23, 15}, span{8, 15}}
	hD1 = headerField{span{38, 8}, span{23, 8}}
	hAK = headerField{request: span{46, 10}}
)

var headerFields = map[string]headerField{
	"A1": hA1, "A2": hA2, "A3": hA3, "A4": hA4, "A9": hA9, "F1": hF1, "B2": hB2, "B1": hB1, "D1": hD1, "AK": hAK,
}

// span returns where the field stands in this message.
func (m *Message) span(h headerField) span {
	s := h.request
	if m.kind == KindResponse {
		s = h.response
	}
	s.at += m.start
	if m.kind == KindUnknown || m.version == VersionF6 || s.at+s.n > m.body {
		return span{}
	}
	return s
}

func (m *Message) at(h headerField) []byte {
	s := m.span(h)
	if s.n == 0 {
		return nil
	}
	return m.raw[s.at : s.at+s.n : s.at+s.n]
}

// BIN returns 101-A1, which routes the claim; nil in a response.
func (m *Message) BIN() []byte { return m.at(hA1) }

// PCN returns 104-A4, trimmed; empty in a response.
func (m *Message) PCN() []byte { return trim(m.at(hA4)) }

// TransactionCode returns 103-A3, such as B1.
func (m *Message) TransactionCode() []byte { return m.at(hA3) }

// Provider returns 201-B1, the pharmacy, trimmed.
func (m *Message) Provider() []byte { return trim(m.at(hB1)) }

// ProviderQualifier returns 202-B2, trimmed.
func (m *Message) ProviderQualifier() []byte { return trim(m.at(hB2)) }

// ServiceDate returns 401-D1.
func (m *Message) ServiceDate() []byte { return m.at(hD1) }

// Vendor returns 110-AK, trimmed; empty in a response.
func (m *Message) Vendor() []byte { return trim(m.at(hAK)) }

// HeaderStatus returns 501-F1, A or R; 0 in a request.
func (m *Message) HeaderStatus() byte {
	if b := m.at(hF1); len(b) == 1 {
		return b[0]
	}
	return 0
}

// Count returns 109-A9 as a number; 0 if it is not a digit.
func (m *Message) Count() int {
	if b := m.at(hA9); len(b) == 1 && isDigit(b[0]) {
		return int(b[0] - '0')
	}
	return 0
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func allDigits(b []byte) bool {
	for _, c := range b {
		if !isDigit(c) {
			return false
		}
	}
	return len(b) > 0
}

// codes are the transaction codes of 103-A3, in pairs of two bytes.
const codes = "B1B2B3C1C2C3D1E1F1F2F3N1N2N3P1P2P3P4S1S2S3"

// KnownTransaction reports whether code is a transaction code of the standard.
func KnownTransaction(code []byte) bool {
	if len(code) != 2 {
		return false
	}
	for i := 0; i < len(codes); i += 2 {
		if codes[i] == code[0] && codes[i+1] == code[1] {
			return true
		}
	}
	return false
}

func versionOf(b []byte) Version {
	if len(b) < 2 {
		return VersionUnknown
	}
	switch {
	case b[0] == 'D' && b[1] == '0':
		return VersionD0
	case b[0] == '5' && b[1] == '1':
		return Version51
	case b[0] == 'F' && b[1] == '6':
		return VersionF6
	}
	return VersionUnknown
}

// sense finds out what the bytes are by their version stamp: at offset 6 in a
// request (at 8 in an F6 request, whose issuer number has eight digits), at 0 in
// a response. No BIN begins with a letter; one may begin with 51.
func sense(b []byte) (Kind, Version) {
	at := func(i int) Version {
		if i+2 > len(b) {
			return VersionUnknown
		}
		return versionOf(b[i : i+2])
	}
	first, sixth := at(0), at(6)
	switch {
	case first == VersionD0 || first == VersionF6:
		return KindResponse, first
	case len(b) >= 10 && allDigits(b[:8]) && at(8) == VersionF6:
		return KindRequest, VersionF6
	case first == Version51 && (sixth == VersionUnknown || len(b) > 5 && (b[5] == 'A' || b[5] == 'R')) && len(b) > 3 && KnownTransaction(b[2:4]):
		return KindResponse, first
	case sixth != VersionUnknown:
		return KindRequest, sixth
	}
	return KindUnknown, VersionUnknown
}

// Sense says what the first bytes of a file or body are: a request, a response,
// or neither. Batch files are seen by IsBatch.
func Sense(head []byte) (Kind, Version) {
	for len(head) > 0 && head[0] == stx {
		head = head[1:]
	}
	return sense(head)
}

// Begins reports whether the bytes begin a transmission: a version stamp, and a
// transaction code beside it, so that a text that has D0 or 51 in the right place by
// chance is no claim.
func Begins(head []byte) bool {
	head = bytes.TrimLeft(head, "\x02")
	if k, _ := sense(head); k == KindUnknown {
		return false
	}
	for _, at := range []int{2, 8, 10} { // of a response, a request, one of F6
		if len(head) >= at+2 && KnownTransaction(head[at:at+2]) {
			return true
		}
	}
	return false
}

// Several reports whether more than one transmission begins in b: at its start, and
// behind each STX. What stands between frames is nothing, and an STX that strayed into a
// transmission begins none.
func Several(b []byte) bool {
	n := 0
	for b = bytes.TrimLeft(b, "\x02"+Filling); n < 2; b = bytes.TrimLeft(b, "\x02") {
		if Begins(b) {
			n++
		}
		i := bytes.IndexByte(b, stx)
		if i < 0 {
			break
		}
		b = b[i:]
	}
	return n > 1
}

// Filling is what may stand between frames: repeated ETX, line breaks, blanks and other
// ends of files.
const Filling = "\x03\r\n \x1a\x00"
