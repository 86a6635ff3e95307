package claimdlq

// Reason says why a record was dead-lettered. It is an enumeration, never free
// text, so that a spike of one can be told from a spike of another.
type Reason uint8

// The reasons; the first two are spelled as the field spells them.
const (
	ReasonNone Reason = iota
	// FatalSyntax: a validation fault, a TA1 or a 999 reject.
	FatalSyntax
	// RetriesExhausted: the budget of deliveries is spent on transient failures.
	RetriesExhausted
	// SemanticReject: well formed, refused for what it says (277CA, 511-FB, our
	// own business rules).
	SemanticReject
	// OutcomeUnknown: sent, and the answer never came.
	OutcomeUnknown
	// Overflow: taken in while intake was overloaded; replayable unchanged.
	Overflow
	// Expired: past its retention without a disposition.
	Expired
)

// Reasons lists every reason a record can carry, in metric order.
var Reasons = []Reason{FatalSyntax, RetriesExhausted, SemanticReject, OutcomeUnknown, Overflow, Expired}

var reasonNames = [...]string{
	ReasonNone: "", FatalSyntax: "FATAL_SYNTAX", RetriesExhausted: "RETRIES_EXHAUSTED", SemanticReject: "SEMANTIC_REJECT",
	OutcomeUnknown: "OUTCOME_UNKNOWN", Overflow: "OVERFLOW", Expired: "EXPIRED",
}

// String returns the reason as it is spelled in logs, JSON and metrics.
func (r Reason) String() string { return nameOf(reasonNames[:], int(r), "reason") }

// MarshalText implements encoding.TextMarshaler.
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// ParseReason returns the reason spelled s, or an error with code Invalid.
func ParseReason(s string) (Reason, error) {
	i, err := indexOf(reasonNames[:], s, "reason")
	return Reason(i), err
}

// Class says what a failure means for the next delivery.
type Class uint8

// The classes.
const (
	ClassNone Class = iota
	// Transient may succeed if tried again; the only class that spends budget.
	Transient
	// Terminal is a deterministic refusal: trying again cannot help.
	Terminal
	// Poison cannot be read or breaks the structure: dead-lettered at first sight.
	Poison
)

var classNames = [...]string{ClassNone: "", Transient: "TRANSIENT", Terminal: "TERMINAL", Poison: "POISON"}

// String returns the class as it is spelled in logs and JSON.
func (c Class) String() string { return nameOf(classNames[:], int(c), "class") }

// MarshalText implements encoding.TextMarshaler.
func (c Class) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// Detail is the de-identified cause of a fault: segment, position and code,
// such as IK4:SV102. Its grammar is [A-Z0-9_:.-]{1,64}; it never holds a value
// of the claim. The zero Detail is empty and means "none".
type Detail struct{ s string }

// NewDetail returns s as a Detail. What does not obey the grammar becomes
// DETAIL_INVALID: a fault must never be lost, nor a value leak, because of how
// its cause was spelled.
func NewDetail(s string) Detail {
	if s == "" {
		return Detail{}
	}
	if len(s) > 64 {
		return Detail{"DETAIL_INVALID"}
	}
	for i := range len(s) {
		c := s[i]
		if (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != ':' && c != '.' && c != '-' {
			return Detail{"DETAIL_INVALID"}
		}
	}
	return Detail{s}
}

// String returns the detail's text.
func (d Detail) String() string { return d.s }

// IsZero reports whether there is no detail.
func (d Detail) IsZero() bool { return d.s == "" }

// MarshalText implements encoding.TextMarshaler.
func (d Detail) MarshalText() ([]byte, error) { return []byte(d.s), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Detail) UnmarshalText(b []byte) error { *d = NewDetail(string(b)); return nil }
