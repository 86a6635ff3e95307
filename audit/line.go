package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/mod/sumdb/tlog"

	"claimdlq"
)

const (
	// maxNote and maxName bound free text, in bytes.
	maxNote    = 200
	maxName    = 100
	chainField = `,"chain":"`
	hashText   = 44 // base64 of 32 bytes
	lineTail   = len(chainField) + hashText + len(`"}`)
)

// genesis is the chain value before the first entry.
var genesis = tlog.Hash(sha256.Sum256([]byte("claimdlq audit log 1")))

// appendLine appends the entry's line, without newline, and returns its chain value.
func appendLine(b []byte, e *claimdlq.Entry, prev tlog.Hash, c *clock) ([]byte, tlog.Hash) {
	start := len(b)
	b = strconv.AppendUint(append(b, seqField...), e.Seq, 10)
	b = append(b, `,"at":"`...)
	b = c.append(b, e.At)
	b = append(b, '"')
	b = appendText(b, "actor", clean(e.Actor, maxName))
	b = appendText(b, "action", clean(string(e.Action), maxName))
	b = appendNumber(b, "record", uint64(e.Record))
	b = appendText(b, "records", string(e.Records))
	b = appendNumber(b, "submission", uint64(e.Submission))
	b = appendNumber(b, "payload_revision", uint64(e.PayloadRevision))
	b = appendText(b, "detail", e.Detail.String())
	if e.From != 0 {
		b = appendText(b, "from", e.From.String())
	}
	if e.To != 0 {
		b = appendText(b, "to", e.To.String())
	}
	b = appendText(b, "note", clean(e.Note, maxNote))
	chain := link(prev, b[start:])
	b = append(b, chainField...)
	b = base64.StdEncoding.AppendEncode(b, chain[:])
	return append(b, `"}`...), chain
}

// clock writes times, most of which are of the second of the one before. The zero clock
// is usable.
type clock struct {
	second int64
	text   [len("2006-01-02T15:04:05")]byte
	known  bool
}

// append appends RFC 3339 in UTC with milliseconds, of fixed width.
func (c *clock) append(b []byte, t time.Time) []byte {
	if s := t.Unix(); !c.known || s != c.second {
		var room [len(time.RFC3339)]byte
		text := t.UTC().AppendFormat(room[:0], time.RFC3339) // the one layout that time has a fast way for
		if len(text) != len(c.text)+1 {                      // a year of more than four digits
			return appendMillis(append(b, text[:len(text)-1]...), t)
		}
		copy(c.text[:], text)
		c.second, c.known = s, true
	}
	return appendMillis(append(b, c.text[:]...), t)
}

func appendMillis(b []byte, t time.Time) []byte {
	ms := t.Nanosecond() / 1e6
	return append(b, '.', byte('0'+ms/100), byte('0'+ms/10%10), byte('0'+ms%10), 'Z')
}

func appendText(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	b = append(append(append(b, `,"`...), name...), `":"`...)
	if strings.IndexByte(value, '"') < 0 && strings.IndexByte(value, '\\') < 0 {
		return append(append(b, value...), '"')
	}
	for i := range len(value) {
		if c := value[i]; c == '"' || c == '\\' {
			b = append(b, '\\')
		}
		b = append(b, value[i])
	}
	return append(b, '"')
}

func appendNumber(b []byte, name string, value uint64) []byte {
	if value == 0 {
		return b
	}
	b = append(append(append(b, `,"`...), name...), `":`...)
	return strconv.AppendUint(b, value, 10)
}

// clean bounds free text to n bytes and takes out what a terminal or a log
// reader would act on: control characters and bidirectional overrides.
func clean(s string, n int) string {
	if len(s) <= n && printable(s) {
		return s // as nearly every text is
	}
	plain := func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}
	s = strings.Map(plain, s)
	for len(s) > n {
		_, size := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-size]
	}
	return s
}

// printable reports whether the text is of nothing but printable ASCII.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// link returns the chain value of a line, given up to its chain field.
func link(prev tlog.Hash, body []byte) tlog.Hash {
	var small [512]byte
	return sha256.Sum256(append(append(small[:0], prev[:]...), body...))
}

const seqField = `{"seq":`

// parsed is what verification needs of a line.
type parsed struct {
	seq   uint64
	body  []byte // up to the chain field
	chain []byte // base64
}

// parseLine takes a line apart without judging its chain value.
func parseLine(line []byte) (p parsed, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte(seqField))
	if !ok || len(line) < lineTail || !bytes.HasSuffix(line, []byte(`"}`)) {
		return p, false
	}
	tail := line[len(line)-lineTail:]
	if !bytes.HasPrefix(tail, []byte(chainField)) {
		return p, false
	}
	for i, c := range rest {
		if c == ',' && i > 0 && i < 20 {
			p.body, p.chain = line[:len(line)-lineTail], tail[len(chainField):][:hashText]
			return p, true
		}
		if c < '0' || c > '9' || (i == 0 && c == '0') {
			break
		}
		p.seq = p.seq*10 + uint64(c-'0')
	}
	return p, false
}

// linked reports whether the line follows prev, and returns its chain value.
func (p parsed) linked(prev tlog.Hash) (tlog.Hash, bool) {
	chain := link(prev, p.body)
	var text [hashText]byte
	base64.StdEncoding.Encode(text[:], chain[:])
	return chain, bytes.Equal(text[:], p.chain)
}

// stated returns the chain value that the line claims to have.
func (p parsed) stated() (h tlog.Hash) {
	var b [33]byte
	if n, err := base64.StdEncoding.Decode(b[:], p.chain); err == nil && n == len(h) {
		copy(h[:], b[:])
	}
	return h
}
