package ncpdp

import (
	"io"
	"strconv"

	"claimdlq"
)

// BatchWriter writes a batch file, version 1.2.
type BatchWriter struct {
	w       io.Writer
	number  string
	records int64
	refs    map[[batchRefSize]byte]struct{}
	buf     []byte
}

func badBatch(on, hint string) error {
	return &claimdlq.Error{Code: claimdlq.Invalid, Op: "write batch", On: on, Hint: hint}
}

// NewBatchWriter writes the header. An empty Version is 12, an empty Type T, an
// empty FileType P. Errors: Invalid, or the writer's.
func NewBatchWriter(w io.Writer, h BatchHeader) (*BatchWriter, error) {
	if h.Version == "" {
		h.Version = "12"
	}
	if h.Type == 0 {
		h.Type = 'T'
	}
	if h.FileType == 0 {
		h.FileType = 'P'
	}
	if len(h.Number) != 7 || len(h.Sender) > 24 || len(h.Receiver) > 24 {
		return nil, badBatch("header", "a number of seven digits, and names of at most 24 characters")
	}
	b := append([]byte{stx}, '0', '0', h.Type)
	b = pad(b, h.Sender, 24)
	b = append(append(append(append(b, h.Number...), h.Date...), h.Time...), h.FileType)
	b = append(pad(append(b, h.Version...), h.Receiver, 24), etx)
	if f := (&BatchReader{}).start(b, 0).Faults; len(f) > 0 {
		return nil, badBatch(f[0].String(), "see the fields of a batch header")
	}
	out := &BatchWriter{w: w, number: h.Number, records: 1, refs: make(map[[batchRefSize]byte]struct{})}
	_, err := w.Write(b)
	return out, err
}

func pad(dst []byte, s string, width int) []byte {
	dst = append(dst, s...)
	for range width - len(s) {
		dst = append(dst, ' ')
	}
	return dst
}

// Add writes one detail: a message under a reference of at most ten characters,
// by which its answer is found. The message's own frame is taken off. Errors:
// Invalid (a reference twice, or a message that would break the frame).
func (b *BatchWriter) Add(ref string, message []byte) error {
	if len(ref) == 0 || len(ref) > batchRefSize || !printable(ref) || len(trim([]byte(ref))) == 0 {
		return badBatch("reference", "one to ten printable characters")
	}
	k := keyOf(trim([]byte(ref)))
	if _, again := b.refs[k]; again {
		return badBatch("reference", "it was used before in this batch")
	}
	for len(message) > 0 && message[0] == stx {
		message = message[1:]
	}
	for len(message) > 0 && message[len(message)-1] == etx {
		message = message[:len(message)-1]
	}
	for _, c := range message {
		if c == stx || c == etx {
			return badBatch("message", "it holds an STX or ETX")
		}
	}
	b.refs[k] = struct{}{}
	b.buf = append(pad(append(b.buf[:0], stx, 'G', '1'), ref, batchRefSize), message...)
	b.records++
	_, err := b.w.Write(append(b.buf, etx))
	return err
}

// Close writes the trailer with the count of all records, itself included.
func (b *BatchWriter) Close() error {
	out := append([]byte{stx, '9', '9'}, b.number...)
	n := strconv.FormatInt(b.records+1, 10)
	for range 10 - len(n) {
		out = append(out, '0')
	}
	_, err := b.w.Write(append(pad(append(out, n...), "", 35), etx))
	return err
}
