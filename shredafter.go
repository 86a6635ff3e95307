package claimdlq

import "time"

// ShredAfter says how long after its claim is final a payload is destroyed, by how the
// claim ended (minimum necessary, 45 CFR 164.502(b)). 0 keeps it: nothing is destroyed
// unless it is asked for. What is unresolved keeps its payload whatever is said here.
type ShredAfter struct {
	Paid      time.Duration // PAID and DUPLICATE_OF_PAID
	Accepted  time.Duration // ACCEPTED: the payer may still refuse it in a later 277CA
	Reversed  time.Duration // REVERSED
	Rejected  time.Duration // REJECTED
	Withdrawn time.Duration // written off by a person
	// Answers is for acknowledgment files that were matched in full (PROCESSED); it is
	// said with the stream 837. An answer that came with a delivery goes with its claim.
	Answers time.Duration
}

// of returns what is said about the record; 0 where it is kept.
func (s ShredAfter) of(r Record) time.Duration {
	if r.State == StateWithdrawn {
		return s.Withdrawn
	}
	switch r.Disposition {
	case Paid, DuplicateOfPaid:
		return s.Paid
	case Accepted:
		return s.Accepted
	case Reversed:
		return s.Reversed
	case Rejected:
		return s.Rejected
	case Processed:
		return s.Answers
	case DispositionNone:
	}
	return 0
}

// ShredAt returns when the record's payload and answer are no longer kept for its sake;
// the zero Time where they are for good, as are those of everything unresolved. Others
// may need them longer.
func (p Policies) ShredAt(r Record) time.Time {
	stream := r.Stream
	if stream == StreamAcks {
		stream = StreamX12
	}
	d := p.For(stream).ShredAfter.of(r)
	if d == 0 || r.State.Unresolved() {
		return time.Time{}
	}
	return r.UpdatedAt.Add(d)
}

// ShredsAny reports whether anything is ever destroyed.
func (p Policies) ShredsAny() bool {
	for _, one := range p {
		if one.ShredAfter != (ShredAfter{}) {
			return true
		}
	}
	return false
}
