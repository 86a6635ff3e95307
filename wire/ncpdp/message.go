package ncpdp

// MaxMessage is the greatest message that is read: 1 MiB. The largest legal ones,
// four transactions with every segment, have some 20 kB.
const MaxMessage = 1 << 20

// MaxTransactions is how many transactions a transmission may carry.
const MaxTransactions = 4

// The separators and the frame.
const (
	stx              = 0x02
	etx              = 0x03
	fieldSeparator   = 0x1c
	groupSeparator   = 0x1d
	segmentSeparator = 0x1e
)

// Kind says what a message is.
type Kind uint8

// The kinds.
const (
	KindUnknown Kind = iota
	KindRequest
	KindResponse
)

// String returns request, response or unknown.
func (k Kind) String() string {
	switch k {
	case KindRequest:
		return "request"
	case KindResponse:
		return "response"
	case KindUnknown:
	}
	return "unknown"
}

// ID is a field's or a segment's two-byte id.
type ID [2]byte

// String returns the id if the standard's dictionary has it, and "??" if not: what
// stands where an id belongs may be part of a value.
func (id ID) String() string {
	if slot := slotOf(id); slot >= 0 && dictionaryIndex[slot] != 0 {
		return idNames[slot]
	}
	return "??"
}

// IDOf returns the id spelled s; the zero ID where s is not two bytes.
func IDOf(s string) (id ID) {
	if len(s) == 2 {
		id = ID{s[0], s[1]}
	}
	return id
}

// Field is one field of a message, by offsets into its bytes: from the separator
// at Start to before End. Its id and its value follow the separator.
type Field struct {
	ID         ID
	Start, End int32
}

// Segment is one segment of a message. It begins at the separator at Start and
// ends before End; its fields after the AM are First to Last, exclusive.
type Segment struct {
	ID          ID
	Transaction uint8 // from 1; 0 before the first group separator
	Start, End  int32
	First, Last int32
}

// String returns the segment's id if it is one of the standard, and "??" if not.
func (s Segment) String() string { return segmentName(s.ID) }

// Message is one transmission, cut into segments and fields. It keeps the bytes
// it was given and points into them. A Message may be used again through Reset;
// it is not safe for concurrent use.
type Message struct {
	raw      []byte
	start    int // of the header
	end      int // of the body: at the ETX, or the end
	body     int // first byte after the header
	kind     Kind
	version  Version
	groups   int
	fields   []Field
	segments []Segment

	fault   Fault // the first of the structure
	faulted bool
	notes   []Fault
}

// Version is a version stamp, field 102-A2.
type Version uint8

// The versions.
const (
	VersionUnknown Version = iota
	VersionD0
	Version51 // reading only
	VersionF6 // recognised, never decoded
)

// String returns the stamp; empty if unknown.
func (v Version) String() string {
	switch v {
	case VersionD0:
		return "D0"
	case Version51:
		return "51"
	case VersionF6:
		return "F6"
	case VersionUnknown:
	}
	return ""
}

// Raw returns the bytes as received, frame and trailing bytes included.
func (m *Message) Raw() []byte { return m.raw }

// Kind returns whether it is a request or a response.
func (m *Message) Kind() Kind { return m.kind }

// Version returns its version.
func (m *Message) Version() Version { return m.version }

// Transactions returns how many transactions it carries: the group separators of
// a request, and where a response has none, 109-A9.
func (m *Message) Transactions() int {
	if n := m.Count(); m.groups == 0 && m.kind == KindResponse && n > 0 {
		return n
	}
	return m.groups
}

// Groups returns how many group separators it has.
func (m *Message) Groups() int { return m.groups }

// Segments returns its segments in order.
func (m *Message) Segments() []Segment { return m.segments }

// Fields returns the fields of a segment after its AM, in order.
func (m *Message) Fields(s Segment) []Field { return m.fields[s.First:s.Last] }

// Value returns the value of a field as received.
func (m *Message) Value(f Field) []byte { return m.raw[min(f.Start+3, f.End):f.End] }

// Segment returns the first segment with the given id in a transaction, 0 for
// those before the first.
func (m *Message) Segment(transaction int, id ID) (Segment, bool) {
	for _, s := range m.segments {
		if int(s.Transaction) == transaction && s.ID == id {
			return s, true
		}
	}
	return Segment{}, false
}

// Get returns the first field with the given id in the given segment of a
// transaction, and whether there is one. The value is trimmed of padding.
func (m *Message) Get(transaction int, segment, field ID) ([]byte, bool) {
	s, ok := m.Segment(transaction, segment)
	if !ok {
		return nil, false
	}
	return m.In(s, field)
}

// In returns the first field with the given id in a segment, trimmed of padding.
func (m *Message) In(s Segment, field ID) ([]byte, bool) {
	for _, f := range m.fields[s.First:s.Last] {
		if f.ID == field {
			return trim(m.Value(f)), true
		}
	}
	return nil, false
}

// trim takes blanks off both ends.
func trim(b []byte) []byte {
	for len(b) > 0 && b[0] == ' ' {
		b = b[1:]
	}
	for len(b) > 0 && b[len(b)-1] == ' ' {
		b = b[:len(b)-1]
	}
	return b
}

// Fault returns the first fault of the structure, and whether there is one.
// Validate finds the others.
func (m *Message) Fault() (Fault, bool) { return m.fault, m.faulted }

// Err returns the first fault of the structure as an error; nil if there is none.
func (m *Message) Err() error {
	if !m.faulted {
		return nil
	}
	return m.fault.Err()
}
