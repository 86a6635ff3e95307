package claimdlq

// Proof stands for audit entries that are durable. A vault opens nothing without
// one: that is how every decryption is in the audit log before it happens. Only
// stores make proofs.
type Proof struct{ first, last uint64 }

// NewProof is for stores only: the audit entries first to last are durable.
func NewProof(first, last uint64) Proof { return Proof{first, last} }

// Valid reports whether the proof stands for anything.
func (p Proof) Valid() bool { return p.first > 0 && p.last >= p.first }

// Range returns the sequence numbers the proof stands for.
func (p Proof) Range() (first, last uint64) { return p.first, p.last }
