package lineage

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"

	"claimdlq"
	"claimdlq/store"
	"claimdlq/wire/ncpdp"
)

// MaxMates is how many records of one fill are looked at: a billing, its tries,
// its reversals and those of other payers are a handful.
const MaxMates = 100

// Rx is one pharmacy claim that asks for its place among the records of its fill.
type Rx struct {
	Claim   *ncpdp.Claim
	Partner string // as a record has it: only records of the same partner count
	// Digest returns the keyed digest of the transaction alone under a term of the
	// secret.
	Digest func(term uint32) claimdlq.Digest
	// WrittenOff lets Replay pass what was written off in doubt: a named person says that
	// the payer does not have it.
	WrittenOff bool
	// Sent says that another pipeline may have sent the claim: a record that certainly was
	// not does not stand for it, or the doubt would be forgotten.
	Sent bool
	// Open returns the claim that a record stands for, as it is now. It is called
	// only where keys cannot tell which claim a record is about, and audits.
	Open func(context.Context, claimdlq.Record) (ncpdp.Claim, error)
}

// Standing is how a claim stands to the records that are there.
type Standing uint8

// The standings.
const (
	// Fresh: nobody has brought this claim before.
	Fresh Standing = iota
	// Successor: it came before, and nothing came of it. It goes, under a key of its own.
	Successor
	// Duplicate: it is there already, and this is the same again.
	Duplicate
	// Conflict: it is under way or with the payer already, with other content; or it may
	// be, and nobody waits for an answer (Place.InDoubt).
	Conflict
	// Crowded: the fill has more records than are looked at. A person must look.
	Crowded
)

// Place says what becomes of a claim.
type Place struct {
	Standing Standing
	// Key is that of its record; zero for a duplicate.
	Key claimdlq.Key
	// Batch is the look-up value under which it joins the others of its fill.
	Batch claimdlq.Ref
	// Root is the first record of the same claim; 0 if there is none. See GroupID.
	Root claimdlq.ID
	// Generation counts the reversals (and rebills) that came before it.
	Generation uint32
	// Earlier is the record that it repeats; the zero Record for a fresh one.
	Earlier claimdlq.Record
	// Blocked: it repeats a record that waits for a person, and another of the same claim
	// is under way or with the payer.
	Blocked bool
	// InDoubt: what a conflicting copy repeats was put away in doubt (PutAway).
	InDoubt bool
	// Waits: a reversal before it, or what it reverses, is not decided yet. It is held.
	Waits bool
}

// Mates returns the records of the claim's fill, oldest first, and the look-up
// value under which a new record joins them: that of the latest of them, so that
// a fill stays together when the secret key rotates. ref is the claim's lineage
// under the current term. At most MaxMates are returned under each term.
func Mates(ctx context.Context, s store.Store, ids []*claimdlq.Identity, c *ncpdp.Claim, ref claimdlq.Ref) ([]claimdlq.Record, claimdlq.Ref, error) {
	mates, err := s.Lookup(ctx, ref, MaxMates)
	if err != nil || len(ids) == 1 {
		return mates, ref, err
	}
	for _, id := range ids[1:] {
		older, err := s.Lookup(ctx, c.Lineage(id), MaxMates)
		if err != nil {
			return nil, ref, err
		}
		mates = append(mates, older...)
	}
	if len(mates) > 0 {
		slices.SortFunc(mates, func(a, b claimdlq.Record) int { return cmp.Compare(a.ID, b.ID) })
		ref = mates[len(mates)-1].Batch
	}
	return mates, ref, nil
}

// Place decides where the claim belongs among its mates, which Mates returned. The
// caller holds the fill in the Guard. Errors: those of Open.
func (x Rx) Place(ctx context.Context, ids []*claimdlq.Identity, mates []claimdlq.Record, batch claimdlq.Ref) (Place, error) {
	if len(mates) >= MaxMates {
		return Place{Standing: Crowded, Key: crowdKey(ids[0], x), Batch: batch}, nil
	}
	k, err := x.kin(ctx, ids, mates, 0)
	if err != nil {
		return Place{}, err
	}
	if len(k.list) == 0 {
		return Place{Key: x.Claim.Key(ids[0], 0), Batch: batch}, nil
	}
	t := k.timeline(k.list)
	p := k.stand(t)
	p.Batch, p.Root = batch, k.root
	return p, nil
}

// stand compares the claim with the earlier records of the same one.
func (k *kin) stand(t timeline) Place {
	g := k.place(t)
	e := k.earlier(g, t.since)
	p := Place{Generation: g, Waits: k.waits(t), Earlier: e.last}
	key := k.x.Claim.Key(k.ids[0], g)
	switch {
	case e.same != nil:
		return Place{Standing: Duplicate, Generation: e.same.generation, Earlier: e.same.record}
	case e.kept != nil:
		p.Standing, p.Earlier, p.Blocked = Duplicate, e.kept.record, e.blocked != nil
	case e.blocked != nil:
		p.Standing, p.Earlier, p.InDoubt = Conflict, e.blocked.record, PutAway(e.blocked.record)
		p.Key = copyKey(k.ids[0], key, k.x.Digest(k.ids[0].Term), e.copies)
	case e.tries > 0:
		p.Standing, p.Key = Successor, again(k.ids[0], key, e.tries)
	default:
		p.Key = key
	}
	return p
}

// earlier is what the earlier records of the same claim say.
type earlier struct {
	same    *mate           // with the same content, under way or with the payer
	blocked *mate           // with other content, under way or with the payer; or written off in doubt
	kept    *mate           // with the same content, waiting for a person
	tries   uint32          // under the claim's own generation
	copies  uint32          // with the same content, kept as conflicts of them
	last    claimdlq.Record // of the tries
}

// earlier looks through the records of the same claim. What came before the last
// reversal that counts, which ends before the index since, is no billing of now: to take
// it up again would put it behind that reversal, whatever generation it counted when it
// came. Of reversals the generation tells, for one said twice is one act. A generation
// ahead of g counted a reversal that came to nothing after all.
func (k *kin) earlier(g uint32, since int) (e earlier) {
	for i := range k.list {
		m := &k.list[i]
		if !m.own {
			continue
		}
		if m.generation == g {
			switch {
			case !m.copied:
				e.tries++
				e.last = m.record
			case k.sameBytes(m.record):
				e.copies++
			}
		}
		past := i < since
		if k.reversal {
			past = m.generation < g
		}
		switch {
		case past, k.x.Sent && certain(m.record):
		case blocks(m.record) && !WrittenOff(m.record) && k.sameBytes(m.record):
			e.same = cmp.Or(e.same, m)
		case m.generation < g: // an accepted rebill came between
		case blocks(m.record):
			e.blocked = m
		case waitsForPerson(m.record) && k.sameBytes(m.record):
			e.kept = m
		}
	}
	return e
}

// The domains of keys that are made out of a claim's.
const (
	domainAgain    = "ncpdp/again"
	domainConflict = "ncpdp/conflict"
	domainCrowd    = "ncpdp/crowd"
)

// again is the key of the nth try after the first.
func again(id *claimdlq.Identity, key claimdlq.Key, n uint32) claimdlq.Key {
	var b [4]byte
	binary.LittleEndian.PutUint32(b[:], n)
	return id.Key(domainAgain, key[:], b[:])
}

// copyKey is the key of the nth conflicting copy with the given content, from 0: one that
// was written off, or went and came to nothing, may come again and is kept again.
func copyKey(id *claimdlq.Identity, key claimdlq.Key, d claimdlq.Digest, n uint32) claimdlq.Key {
	if n == 0 {
		return id.Key(domainConflict, key[:], d[:])
	}
	var b [4]byte
	binary.LittleEndian.PutUint32(b[:], n)
	return id.Key(domainConflict, key[:], d[:], b[:])
}

func crowdKey(id *claimdlq.Identity, x Rx) claimdlq.Key {
	key, d := x.Claim.Key(id, 0), x.Digest(id.Term)
	return id.Key(domainCrowd, key[:], d[:])
}

// blocks is Blocks for pharmacy records: an accepted reversal is not to be sent
// again, where an accepted billing that was reversed may be.
func blocks(r claimdlq.Record) bool {
	return Blocks(r) || r.State == claimdlq.StateSettled && r.Disposition == claimdlq.Reversed && reverses(r)
}

// Stands reports whether a pharmacy record is under way, in doubt or with the payer.
func Stands(r claimdlq.Record) bool { return blocks(r) }

// PaidBesides reports whether, of the records of its fill in the order of their ids, a
// payment of another record of the same claim stands.
func PaidBesides(mates []claimdlq.Record, r claimdlq.Record) (stands bool) {
	for i := range mates {
		m := &mates[i]
		if m.ID == r.ID || Root(*m) != Root(r) || m.State != claimdlq.StateSettled {
			continue
		}
		switch {
		case m.Disposition == claimdlq.Reversed:
			stands = false
		case accepted(*m):
			stands = stands || !reverses(*m)
		}
	}
	return stands
}

// ReversedBefore reports whether a payer that says "already reversed" of the reversal r,
// which it has never been sent before, may mean an earlier one: one of the same claim
// was accepted, and what was paid since stands. Then nobody knows whether that was
// taken back, and billing it anew could bill it twice.
func ReversedBefore(mates []claimdlq.Record, r claimdlq.Record) bool {
	return PaidBesides(mates, r) && slices.ContainsFunc(mates, func(m claimdlq.Record) bool {
		return m.ID < r.ID && Root(m) == Root(r) && reverses(m) && m.State == claimdlq.StateSettled && m.Disposition == claimdlq.Reversed
	})
}

// Outdated reports whether a yes of the payer to the record r, which was not asked for now,
// may be older than what an earlier record of the same claim has done since, or may yet
// do: a billing that was paid, and taken back by a reversal that came here before it; or a
// reversal of what was billed before the last one. That can be where another pipeline has
// sent r (given), at some time, and where an answer to an earlier try may still come.
// mates are in the order of their ids.
func Outdated(mates []claimdlq.Record, r claimdlq.Record, given bool) bool {
	if !given && !Unanswered(mates, r) {
		return false
	}
	back := reverses(r)
	return back && ReversedBefore(mates, r) || slices.ContainsFunc(mates, func(m claimdlq.Record) bool {
		if m.ID >= r.ID || Root(m) != Root(r) || reverses(m) == back {
			return false
		}
		done := m.State == claimdlq.StateSettled && m.Disposition == claimdlq.Reversed || accepted(m) && given || WrittenOff(m)
		return underWay(m) || done
	})
}

// Unanswered reports whether an earlier record of the same transaction as r has gone out
// and not every answer to it came: one that comes now may be that.
func Unanswered(mates []claimdlq.Record, r claimdlq.Record) bool {
	return slices.ContainsFunc(mates, func(m claimdlq.Record) bool {
		if m.ID >= r.ID || Root(m) != Root(r) || m.TransactionID != r.TransactionID {
			return false
		}
		once := m.AttemptCount == 1 && !m.Response.IsZero() && m.FirstFailedAt.IsZero()
		return (m.AttemptCount > 0 || m.FateUnknown || m.Submission != 0) && !once
	})
}

// waitsForPerson reports that the record is certainly not with the payer and that
// a person may still send it.
func waitsForPerson(r claimdlq.Record) bool {
	return (r.State == claimdlq.StateQuarantined || r.State == claimdlq.StateParked) && !r.FateUnknown
}

// certain reports that nobody doubts where the record is: it was not sent, or not taken.
func certain(r claimdlq.Record) bool { return r.State.Unresolved() && !r.FateUnknown }

// underWay reports that the record may reach the payer without a person's doing,
// or has and its fate is open.
func underWay(r claimdlq.Record) bool { return r.State.Unresolved() && !waitsForPerson(r) }

func accepted(r claimdlq.Record) bool {
	if r.State != claimdlq.StateSettled {
		return false
	}
	switch r.Disposition {
	case claimdlq.Paid, claimdlq.Accepted, claimdlq.DuplicateOfPaid:
		return true
	case claimdlq.Reversed, claimdlq.Rejected, claimdlq.Processed, claimdlq.DispositionNone:
	}
	return false
}

func reverses(r claimdlq.Record) bool { return ncpdp.IsReversal([]byte(r.TransactionID)) }

// rebills reports whether the record takes back and bills in one.
func rebills(r claimdlq.Record) bool {
	return ncpdp.RaisesGeneration([]byte(r.TransactionID)) && !reverses(r)
}
