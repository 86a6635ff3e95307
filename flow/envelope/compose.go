package envelope

import (
	"context"
	"errors"
	"io"

	"claimdlq"
	"claimdlq/store"
	"claimdlq/vault"
	"claimdlq/wire/x12"
)

// Part is one member of a submission: its record, and the claims to leave out
// because they have records of their own. Drop nil keeps all.
type Part struct {
	Record claimdlq.Record
	Drop   func(ordinal int) bool
}

// PartError says which part could not be composed.
type PartError struct {
	Index int
	Err   error
}

// Error implements error.
func (e *PartError) Error() string { return "compose part: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *PartError) Unwrap() error { return e.Err }

// PartOf returns the record with the claims that parted from it to leave out.
func PartOf(ctx context.Context, s store.Store, r claimdlq.Record) (Part, error) {
	if r.Parted == 0 {
		return Part{Record: r}, nil
	}
	children, err := s.Lookup(ctx, claimdlq.ParentRef(r.ID), int(r.Parted)+1)
	if err != nil {
		return Part{}, err
	}
	parted := make(map[int]bool, len(children))
	for _, c := range children {
		if c.Parent == r.ID {
			parted[int(c.Ordinal)] = true
		}
	}
	return Part{Record: r, Drop: func(n int) bool { return parted[n] }}, nil
}

// Cut reports whether the record is a claim whose document is still inside its
// set's unit.
func Cut(r claimdlq.Record) bool {
	return r.Scope == claimdlq.ScopeClaim && r.PayloadRevision <= 1
}

// Renumbered reports whether the record goes out in s under other numbers than it
// was received with.
func Renumbered(s claimdlq.Submission, r claimdlq.Record) bool {
	n, ok := Number(r.InterchangeID)
	return s.Replay || !ok || n != s.ISA13
}

// SentST02 returns the ST02 under which the record goes out in s.
func SentST02(s claimdlq.Submission, r claimdlq.Record) string {
	if s.Replay {
		return replayST02
	}
	return r.TransactionID
}

const replayST02 = "0001"

// numbers returns what to write on the outside of the record. The zero Numbers
// keep what was received, to the byte.
func numbers(s claimdlq.Submission, r claimdlq.Record) x12.Numbers {
	if !Renumbered(s, r) {
		return x12.Numbers{}
	}
	n := x12.Numbers{ISA13: s.ISA13, Date: "20" + s.Envelope.Date, Time: s.Envelope.Time}
	if len(s.Groups) > 0 {
		n.GS06 = s.Groups[0].Number
	}
	if s.Replay {
		n.ST02, n.BHT03 = replayST02, ReplayBatch(s.ISA13)
	}
	return n
}

// Write composes the submission out of its parts, in order, in flat memory. The
// same parts give the same bytes. A part that cannot be opened or read is a
// *PartError; what was written by then is of no use.
func Write(ctx context.Context, w io.Writer, v vault.Vault, proof claimdlq.Proof, s claimdlq.Submission, parts []Part) (x12.Totals, error) {
	if len(parts) == 1 && Cut(parts[0].Record) {
		return x12.Totals{Sets: 1, Groups: 1}, writeClaim(ctx, w, v, proof, s, parts[0])
	}
	c := x12.NewComposer(w)
	for i, p := range parts {
		if err := add(ctx, c, v, proof, s, p); err != nil {
			return x12.Totals{}, &PartError{i, err}
		}
	}
	return c.Close()
}

func writeClaim(ctx context.Context, w io.Writer, v vault.Vault, proof claimdlq.Proof, s claimdlq.Submission, p Part) error {
	unit, err := v.OpenReader(ctx, p.Record.Payload, proof)
	if err != nil {
		return &PartError{0, err}
	}
	_, err = x12.CutClaim(w, unit, int(p.Record.Ordinal), numbers(s, p.Record))
	if err = errors.Join(err, unit.Close()); err != nil {
		return &PartError{0, err}
	}
	return nil
}

func add(ctx context.Context, c *x12.Composer, v vault.Vault, proof claimdlq.Proof, s claimdlq.Submission, p Part) error {
	unit, err := v.OpenReader(ctx, p.Record.Payload, proof)
	if err != nil {
		return err
	}
	_, err = c.Add(unit, x12.AddOptions{Drop: p.Drop, Numbers: numbers(s, p.Record)})
	return errors.Join(err, unit.Close())
}
