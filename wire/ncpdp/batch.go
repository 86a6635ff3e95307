package ncpdp

import (
	"bufio"
	"errors"
	"io"
)

// BatchHeader is the header of a batch file, Batch standard 1.2 (or 1.1).
type BatchHeader struct {
	Type     byte   // 880-K6: T requests, R responses, E the refusal of a file
	Sender   string // 880-K1, trimmed
	Number   string // 806-5C, seven digits; a batch that is sent again needs a new one
	Date     string // 880-K2, CCYYMMDD
	Time     string // 880-K3, HHMM
	FileType byte   // 702-MC: P production, T test
	Version  string // 102-A2: 12 or 11
	Receiver string // 880-K7, trimmed
}

// Batch record sizes, frame included.
const (
	batchHeaderSize  = 75
	batchTrailerSize = 56
	batchRefSize     = 10
)

// BatchOptions tune a BatchReader. The zero value is usable.
type BatchOptions struct {
	// MaxRecord is the greatest record that is held. Default: MaxMessage.
	MaxRecord int
	// MaxDetails is how many details are read. The references of all are kept to
	// find duplicates, some 40 bytes for each. Default: 5,000,000.
	MaxDetails int
	// Several reads one batch after the other: a header behind a trailer begins the
	// next, with a count and references of its own. Default: it is a fault.
	Several bool
}

// BatchRecord is one record of a batch: *BatchStart, *BatchDetail, *BatchEnd or
// *BatchJunk. Its byte slices are valid until the next call of Next.
type BatchRecord interface{ batchRecord() }

// BatchStart is the header.
type BatchStart struct {
	Raw    []byte
	Offset int64
	Header BatchHeader
	Faults []Fault
}

// BatchDetail is one message with its reference.
type BatchDetail struct {
	Raw    []byte // the frame included
	Offset int64
	Number int    // from 1, through the file
	Ref    []byte // 880-K5, trimmed: PHI, for senders put prescription numbers in it
	// Message is the transmission inside. It is used again for the next detail.
	Message *Message
	Faults  []Fault // of the record; those of the message are its own
}

// BatchEnd is the trailer, or where one should have been.
type BatchEnd struct {
	Raw    []byte // empty where the trailer is missing
	Offset int64
	Number string // 806-5C
	Count  int64  // 751: records, header and trailer included; -1 if unreadable
	// Details is how many the batch has.
	Details int
	Faults  []Fault
}

// BatchJunk is what stands outside any record, or is one of no known type.
// Harmless is a line break, an extra ETX or filling between records.
type BatchJunk struct {
	Raw      []byte
	Offset   int64
	Harmless bool
	Faults   []Fault
}

func (*BatchStart) batchRecord()  {}
func (*BatchDetail) batchRecord() {}
func (*BatchEnd) batchRecord()    {}
func (*BatchJunk) batchRecord()   {}

// IsBatch reports whether the first bytes of a file are those of a batch header:
// STX, 00 and a letter, where a claim has a BIN of six digits.
func IsBatch(head []byte) bool {
	return len(head) >= 4 && head[0] == stx && head[1] == '0' && head[2] == '0' && head[3] >= 'A' && head[3] <= 'Z'
}

// BatchReader reads a batch file of any size, a record at a time. Every byte of
// the file is in the Raw of exactly one record, in order.
type BatchReader struct {
	o       BatchOptions
	r       *bufio.Reader
	buf     []byte
	off     int64
	header  *BatchHeader
	started bool
	ended   bool
	told    bool // the missing trailer was told
	records int64
	details int
	before  int // details of the batches before this one
	refs    map[[batchRefSize]byte]struct{}
	msg     *Message
}

// NewBatchReader returns a reader of the file.
func NewBatchReader(r io.Reader, o BatchOptions) *BatchReader {
	if o.MaxRecord <= 0 {
		o.MaxRecord = MaxMessage
	}
	if o.MaxDetails <= 0 {
		o.MaxDetails = 5_000_000
	}
	return &BatchReader{o: o, r: bufio.NewReaderSize(r, 64<<10), refs: make(map[[batchRefSize]byte]struct{}), msg: Parse(nil)}
}

// Next returns the next record. After the last, which is a *BatchEnd unless the
// file held nothing after its trailer but filling, it returns io.EOF; any other
// error is the reader's. A file without a trailer ends with a *BatchEnd that says so.
func (b *BatchReader) Next() (BatchRecord, error) {
	at := b.off
	raw, whole, err := b.record()
	b.off += int64(len(raw))
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return nil, err
	case len(raw) == 0 && (b.ended || b.told):
		return nil, io.EOF
	case len(raw) == 0:
		b.told = true
		return b.missing(at), nil
	case raw[0] != stx:
		return b.junk(raw, at), nil
	case !whole:
		return b.broken(raw, at, Fault{Code: CodeBatchFraming}), nil
	}
	b.records++
	switch body := raw[1 : len(raw)-1]; {
	case b.o.Several && b.ended && IsBatch(raw):
		b.again()
		return b.start(raw, at), nil
	case len(body) >= 2 && string(body[:2]) == "00" && !b.started:
		return b.start(raw, at), nil
	case len(body) >= 2 && string(body[:2]) == "G1":
		return b.detail(raw, at), nil
	case len(body) >= 2 && string(body[:2]) == "99" && !b.ended:
		return b.end(raw, at), nil
	}
	return b.broken(raw, at, Fault{Code: CodeBatchFraming, Offset: 1}), nil
}

// again begins the next batch with the record at hand.
func (b *BatchReader) again() {
	b.started, b.ended, b.header = false, false, nil
	b.records, b.before = 1, b.details
	clear(b.refs)
}

// record reads up to and including the next ETX, or what stands before the next
// STX. whole is false where the record never ends or is too long.
func (b *BatchReader) record() (raw []byte, whole bool, err error) {
	b.buf = b.buf[:0]
	framed := false
	for len(b.buf) < b.o.MaxRecord {
		c, err := b.r.ReadByte()
		if err != nil {
			return b.buf, false, err
		}
		switch {
		case len(b.buf) == 0:
			framed = c == stx
		case c == stx: // the next record begins, whether or not this one ended
			return b.buf, false, b.r.UnreadByte()
		}
		b.buf = append(b.buf, c)
		if framed && c == etx {
			return b.buf, true, nil
		}
	}
	return b.buf, false, nil
}

// missing is the end of a file without a trailer.
func (b *BatchReader) missing(at int64) *BatchEnd {
	e := &BatchEnd{Offset: at, Count: -1, Details: b.details - b.before}
	if !b.started && e.Details == 0 {
		e.Faults = append(e.Faults, Fault{Code: CodeBatchHeader})
	}
	e.Faults = append(e.Faults, Fault{Code: CodeNoTrailer})
	return e
}

func (b *BatchReader) junk(raw []byte, at int64) *BatchJunk {
	j := &BatchJunk{Raw: raw, Offset: at, Harmless: true}
	for i, c := range raw {
		if c != etx && c != '\r' && c != '\n' && c != ' ' && c != 0x1a && c != 0 {
			j.Harmless = false
			j.Faults = []Fault{{Code: CodeBatchFraming, Offset: i}}
			break
		}
	}
	return j
}

func (b *BatchReader) broken(raw []byte, at int64, f Fault) *BatchJunk {
	return &BatchJunk{Raw: raw, Offset: at, Faults: []Fault{f}}
}
