package check

import "bytes"

// sniff says what a file that holds no X12 seems to be.
func sniff(head []byte) *Problem {
	b := bytes.TrimLeft(head, " \t\r\n\x0b")
	at := int64(len(head) - len(b))
	for _, s := range []struct {
		code, text string
		is         func([]byte) bool
	}{
		{"EMPTY", "the file is empty", func([]byte) bool { return len(b) == 0 }},
		{"UTF16", "UTF-16 text; X12 is read as bytes: save it as plain ASCII", isUTF16},
		{"GZIP", "a gzip file: unpack it first", starts("\x1f\x8b")},
		{"ZIP", "a ZIP file: unpack it first", starts("PK\x03\x04", "PK\x05\x06")},
		{"PDF", "a PDF document", starts("%PDF")},
		{"PGP", "an encrypted message: decrypt it first", starts("-----BEGIN PGP", "\x85", "\xa8\x03P")},
		{"HL7_V2", "an HL7 version 2 message", starts("MSH|", "FHS|", "BHS|", "MSH^")},
		{"EDIFACT", "an EDIFACT interchange", starts("UNA", "UNB+")},
		{"XML", "an XML document", starts("<")},
		{"JSON", "a JSON document", starts("{", "[")},
		{"NOT_X12", "no ISA segment was found", func([]byte) bool { return true }},
	} {
		if s.is(b) {
			return &Problem{Code: s.code, Offset: at, Text: s.text}
		}
	}
	return nil
}

func starts(prefixes ...string) func([]byte) bool {
	return func(b []byte) bool {
		for _, p := range prefixes {
			if bytes.HasPrefix(b, []byte(p)) {
				return true
			}
		}
		return false
	}
}

// isUTF16 sees a byte order mark, or an ISA whose every other byte is zero.
func isUTF16(b []byte) bool {
	return starts("\xff\xfe", "\xfe\xff", "I\x00S\x00A\x00", "\x00I\x00S\x00A")(b)
}
