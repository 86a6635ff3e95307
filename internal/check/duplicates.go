package check

import (
	"hash/maphash"

	"claimdlq/wire/x12"
)

// maxCompared is how many claims of a file are compared with the later ones; it
// bounds memory. What comes in by intake is compared by the store, with no bound.
const maxCompared = 1 << 20

// duplicates finds a claim that a file holds twice: same patient control number
// and same fingerprint, between the same sender and receiver.
//
// A set that comes again in another interchange under its old group and set
// numbers is not a second claim but a redelivery; the numbers of the interchange
// decide about that (X12.5 section 5.1.2).
type duplicates struct {
	seed   maphash.Seed
	seen   map[uint64]place
	parts  maphash.Hash
	lane   string
	names  string // GS02, GS03 and GS06
	count  uint32 // interchanges so far
	claims []seenClaim
}

// place is where a claim was seen first: its interchange, and a hash of its group,
// its set and its ordinal.
type place struct {
	interchange uint32
	where       uint32
}

type seenClaim struct {
	key     uint64
	ordinal int
	pos     int
	off     int64
}

func newDuplicates() *duplicates {
	d := &duplicates{seed: maphash.MakeSeed(), seen: map[uint64]place{}}
	d.parts.SetSeed(d.seed)
	return d
}

func (d *duplicates) interchange(e *x12.InterchangeStart) {
	d.count++
	d.lane = e.Envelope.Lane()
}

func (d *duplicates) group(e *x12.GroupStart) {
	d.names = e.Sender + "\x00" + e.Receiver + "\x00" + e.Control
}

// claim takes a claim of the set that is being read.
func (d *duplicates) claim(c *x12.Claim) {
	if c.Fingerprint == nil || len(c.CLM01) == 0 {
		return
	}
	d.parts.Reset()
	put := func(b []byte) {
		_, _ = d.parts.Write(b)
		_ = d.parts.WriteByte(0x1d)
	}
	_, _ = d.parts.WriteString(d.lane)
	put(c.CLM01)
	for _, p := range c.Fingerprint {
		put(p)
	}
	d.claims = append(d.claims, seenClaim{d.parts.Sum64(), c.Ordinal, c.Position, c.Offset})
}

// set compares the claims of the set that has ended with those before, and returns
// a fault for each that was there already.
func (d *duplicates) set(e *x12.Set) (faults []x12.Fault) {
	for _, c := range d.claims {
		var h maphash.Hash
		h.SetSeed(d.seed)
		_, _ = h.WriteString(d.names)
		_, _ = h.WriteString("\x00" + e.ST02)
		here := place{d.count, uint32(h.Sum64()) + uint32(c.ordinal)}
		first, again := d.seen[c.key]
		switch {
		case !again:
			if len(d.seen) < maxCompared {
				d.seen[c.key] = here
			}
		case first.interchange != here.interchange && first.where == here.where:
		default:
			faults = append(faults, x12.Fault{
				Segment: "CLM", Position: c.pos, Loop: "2300", Rule: "DUPLICATE_CLAIM", STC: "A3:54",
				Severity: x12.Business, ClaimOrd: c.ordinal, Offset: c.off,
			})
		}
	}
	d.claims = d.claims[:0]
	return faults
}
