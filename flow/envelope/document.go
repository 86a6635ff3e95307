package envelope

import (
	"bytes"
	"context"
	"errors"
	"io"

	"claimdlq"
	"claimdlq/phi"
	"claimdlq/vault"
	"claimdlq/wire/x12"
)

// MaxDocument bounds a document that is held in memory for a person: 64 MiB.
const MaxDocument = 64 << 20

// Document returns what the record stands for as a complete interchange with the
// numbers it was received with: one claim cut out of its set, one set, or a
// corrected payload. The claims of a set that have parted stay in it, so that
// ordinals keep their meaning. What cannot be re-enveloped comes as it was
// received. Errors: those of the vault, and Refused above MaxDocument.
func Document(ctx context.Context, v vault.Vault, proof claimdlq.Proof, r claimdlq.Record) (phi.Bytes, error) {
	if r.Payload.Length > MaxDocument {
		return phi.Bytes{}, &claimdlq.Error{Code: claimdlq.Refused, Op: "open document", On: "record " + r.ID.String(), Hint: "it is larger than 64 MiB; ask the submitter for a new file"}
	}
	raw, err := v.Open(ctx, r.Payload, proof)
	if err != nil {
		return phi.Bytes{}, err
	}
	if r.PayloadRevision > 1 || r.Scope > claimdlq.ScopeClaim {
		return raw, nil
	}
	var out bytes.Buffer
	if r.Scope == claimdlq.ScopeClaim {
		if _, err = x12.CutClaim(&out, bytes.NewReader(raw.Reveal()), int(r.Ordinal), x12.Numbers{}); err != nil {
			return phi.Bytes{}, err
		}
		return phi.Wrap(out.Bytes()), nil
	}
	c := x12.NewComposer(&out)
	_, err = c.Add(bytes.NewReader(raw.Reveal()), x12.AddOptions{})
	if err == nil {
		_, err = c.Close()
	}
	if errors.Is(err, claimdlq.Invalid) {
		return raw, nil
	}
	return phi.Wrap(out.Bytes()), err
}

// Scan is what the current rules say about one document.
type Scan struct {
	Envelope claimdlq.Envelope
	Group    claimdlq.GroupControl
	Sets     int
	Claims   int
	Amount   int64
	// Faults are those that stand in the way of sending it, by the current rules.
	Faults []x12.Fault
	Bad    []x12.BadClaim
	Whole  bool // some fault belongs to the set, its group or its interchange
	Codes  []claimdlq.Detail
}

// Clean reports whether the rules pass the document: one set that has a claim,
// with nothing against it but claims for which except is true.
func (s Scan) Clean(except func(ordinal int) bool) bool {
	if s.Whole || s.Sets != 1 || s.Claims == 0 {
		return false
	}
	for _, b := range s.Bad {
		if except == nil || !except(b.Ordinal) {
			return false
		}
	}
	return true
}

// Judge reads a document of one interchange by the given rules and calls onClaim,
// if not nil, for each of its claims. Trailers that a sealed unit does not have
// are not missed where unit is set.
func Judge(r io.Reader, rules *x12.Rules, unit bool, onClaim func(*x12.Claim)) (Scan, error) {
	var out Scan
	sc := x12.NewScanner(r, x12.Options{Rules: rules, OnClaim: onClaim})
	starts := 0
	for {
		ev, err := sc.Next()
		if errors.Is(err, io.EOF) {
			out.Whole = out.Whole || starts != 1
			return out, nil
		}
		if err != nil {
			return out, err
		}
		switch e := ev.(type) {
		case *x12.InterchangeStart:
			starts++
			out.Envelope = e.Envelope
		case *x12.GroupStart:
			out.Group = claimdlq.GroupControl{Sender: e.Sender, Receiver: e.Receiver, Number: e.Number}
		case *x12.Set:
			out.set(e)
		case *x12.GroupEnd:
			if !unit && e.AK9 == "R" && len(e.AK905) > 0 {
				out.fault("AK9:R:" + e.AK905[0])
			}
		case *x12.InterchangeEnd:
			if !unit && e.TA1 == "R" {
				out.fault("TA1:" + e.Note)
			}
		case *x12.Junk:
			if !e.Harmless {
				out.fault("TA1:022")
			}
		case *x12.Loose:
			if e.ID != "TA1" {
				out.fault("TA1:024")
			}
		case *x12.SetPart:
		}
	}
}

func (s *Scan) fault(code string) {
	s.Whole = true
	s.Codes = append(s.Codes, claimdlq.NewDetail(code))
}

func (s *Scan) set(e *x12.Set) {
	s.Sets++
	s.Claims += e.Claims
	s.Amount += e.AmountCents
	for _, f := range e.Faults {
		if f.Severity != x12.Note {
			s.Faults = append(s.Faults, f)
		}
	}
	s.Bad = append(s.Bad, e.BadClaims...)
	switch {
	case e.ST01 != "837":
		s.fault("RULE:NOT_A_CLAIM")
	case e.Whole:
		s.Whole = true
	case e.IK5 == "R" && len(e.BadClaims) == 0:
		s.Whole = true
		if len(e.IK502) > 0 {
			s.Codes = append(s.Codes, claimdlq.NewDetail("IK5:R:"+e.IK502[0]))
		}
	}
}

// Reader returns the bytes of the record to be judged, as they are when it goes
// out, but for the claims that parted. unit says that they end without trailers.
func Reader(ctx context.Context, v vault.Vault, proof claimdlq.Proof, r claimdlq.Record) (in io.ReadCloser, unit bool, err error) {
	if Cut(r) {
		doc, err := Document(ctx, v, proof, r)
		return io.NopCloser(bytes.NewReader(doc.Reveal())), false, err
	}
	in, err = v.OpenReader(ctx, r.Payload, proof)
	return in, r.PayloadRevision <= 1, err
}
