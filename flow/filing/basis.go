package filing

import (
	"encoding/binary"

	"claimdlq"
	"claimdlq/phi"
	"claimdlq/vault"
)

// Basis is on which days the windows of the claims in one unit begin. A claim has a place
// in its unit: the ordinal of its CLM for a set, the offset of its transmission for
// pharmacy claims. The zero Basis is that of no claim.
type Basis struct{ runs []run }

// run is a day that holds from a place on, up to the next run.
type run struct {
	at  uint64
	day Day
}

// Add says the day of the claim at a place, which is behind those before.
func (b *Basis) Add(at uint64, d Day) {
	if n := len(b.runs); n > 0 && b.runs[n-1].day == d {
		return
	}
	b.runs = append(b.runs, run{at, d})
}

// Clear forgets everything and wipes the memory, which is used again.
func (b *Basis) Clear() {
	clear(b.runs)
	b.runs = b.runs[:0]
}

// version is the first byte of what is sealed.
const version = 1

// Seal returns what is sealed, nothing where no day is known: the version, then for each
// run how far it is from the last and how many days later, as varints. A set of claims
// whose days are all different takes some 3 bytes a claim; where that is more than a vault
// takes, the earliest day stands for all.
func (b *Basis) Seal() phi.Bytes {
	earliest := b.earliest()
	if earliest.IsZero() {
		return phi.Bytes{}
	}
	out := encode(b.runs)
	if len(out) > vault.MaxAttributes {
		clear(out)
		out = encode([]run{{b.runs[0].at, earliest}})
	}
	return phi.Wrap(out)
}

func encode(runs []run) []byte {
	out := append(make([]byte, 0, 8+4*len(runs)), version)
	var last run
	for _, r := range runs {
		out = binary.AppendUvarint(out, r.at-last.at)
		out = binary.AppendVarint(out, int64(r.day.n)-int64(last.day.n))
		last = r
	}
	return out
}

// Open reads what Seal returned; nothing is the zero Basis. Errors: Corrupt.
func Open(p phi.Bytes) (Basis, error) {
	var b Basis
	in := p.Reveal()
	if len(in) == 0 {
		return b, nil
	}
	bad := &claimdlq.Error{Code: claimdlq.Corrupt, Op: "read attributes", Hint: "they were written by another version of this program"}
	if in[0] != version {
		return b, bad
	}
	var last run
	for in = in[1:]; len(in) > 0; {
		at, n := binary.Uvarint(in)
		if n <= 0 {
			return Basis{}, bad
		}
		days, m := binary.Varint(in[n:])
		day := int64(last.day.n) + days
		if m <= 0 || day < 0 || day > 1<<16-1 {
			return Basis{}, bad
		}
		last = run{last.at + at, Day{uint16(day)}}
		b.runs, in = append(b.runs, last), in[n+m:]
	}
	return b, nil
}

func (b *Basis) earliest() (d Day) {
	for _, r := range b.runs {
		d = earlier(d, r.day)
	}
	return d
}

func earlier(a, b Day) Day {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// at returns the day of the claim at a place; the zero Day where none is known.
func (b *Basis) at(place uint64) (d Day) {
	for _, r := range b.runs {
		if r.at > place {
			break
		}
		d = r.day
	}
	return d
}

// Of returns the earliest day of the claims that the record answers for, out of the Basis
// of its payload's unit; the zero Day where none is known. settled, which may be nil,
// reports whether the claim with an ordinal of a set is answered for elsewhere, or
// answered.
func (b *Basis) Of(r claimdlq.Record, settled func(ordinal uint32) bool) Day {
	switch {
	case r.Format == claimdlq.FormatNCPDP:
		return b.at(uint64(r.Payload.Offset))
	case r.Scope == claimdlq.ScopeClaim:
		return b.at(uint64(r.Ordinal))
	case settled == nil:
		return b.earliest()
	}
	var d Day
	for i, run := range b.runs {
		if run.day.IsZero() || !d.IsZero() && !run.day.Before(d) {
			continue
		}
		end := uint64(r.Claims+r.Parted) + 1
		if i+1 < len(b.runs) {
			end = b.runs[i+1].at
		}
		for at := run.at; at < end; at++ {
			if !settled(uint32(at)) {
				d = run.day
				break
			}
		}
	}
	return d
}
