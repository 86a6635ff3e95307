package intake

import (
	"time"

	"claimdlq"
	"claimdlq/phi"
	"claimdlq/wire/x12"
)

// kept gathers bytes that are in no transaction set.
type kept struct {
	unit    unit
	digests digests
	detail  claimdlq.Detail
	offset  int64
}

func (k *kept) add(f *file, b []byte) error {
	k.digests.add(b)
	return k.unit.add(f.o.Vault, b)
}

func (f *file) addJunk(e *x12.Junk) error {
	if e.Harmless && f.junk == nil {
		return nil
	}
	if f.junk == nil {
		f.junk = &kept{digests: newDigests(f.ids), offset: e.Offset, detail: junkDetail(e)}
	}
	return f.junk.add(f, e.Raw)
}

func junkDetail(e *x12.Junk) claimdlq.Detail {
	switch {
	case e.TA1 != "":
		return claimdlq.NewDetail("TA1:" + e.TA1)
	case e.Poison:
		return claimdlq.NewDetail("NO_INTERCHANGE")
	}
	return claimdlq.NewDetail("OUTSIDE_INTERCHANGE")
}

// endJunk keeps the run of junk that has ended.
func (f *file) endJunk() error {
	j := f.junk
	if j == nil {
		return nil
	}
	f.junk = nil
	f.fault("no readable interchange at byte %d: %s", j.offset, j.detail)
	return f.keepUnreadable(j)
}

// keepUnreadable seals bytes that no envelope identifies. Their key is a keyed
// digest of what they are: the same bytes again are a redelivery.
func (f *file) keepUnreadable(k *kept) error {
	sums := k.digests.sums()
	id := identity{digests: sums}
	for n, i := range f.ids {
		id.keys = append(id.keys, i.Key("x12/bytes", sums[n][:]))
	}
	r := f.blank(claimdlq.ScopeFile, claimdlq.FormatUnreadable)
	r.Claims = 1
	return f.keep(&k.unit, r, id, claimdlq.Fault{Reason: claimdlq.FatalSyntax, Class: claimdlq.Poison, Detail: k.detail})
}

// keep seals the unit and quarantines the record that stands for it, unless it
// was kept before.
func (f *file) keep(u *unit, r claimdlq.Record, id identity, why claimdlq.Fault) error {
	old, err := f.known(id)
	if err != nil {
		return err
	}
	if old.status != fresh {
		u.abort()
		f.result.Claims += int64(r.Claims)
		f.result.Duplicates += int64(r.Claims)
		f.result.repeat(&old.record)
		return f.note(old.record)
	}
	if r.Payload, err = u.stage(f.o.Vault, phi.Bytes{}); err != nil {
		return err
	}
	r.Key, r.Digest = id.keys[0], id.digests[0]
	f.batch.add(pending{record: dead(r, why, f.now()), action: claimdlq.ActEnqueue}, u.size)
	return f.flush()
}

// blank returns a record with what every record of this file has.
func (f *file) blank(s claimdlq.Scope, format claimdlq.Format) claimdlq.Record {
	now := f.now()
	return claimdlq.Record{
		KeyTerm: f.ids[0].Term, Scope: s, Format: format, Stream: "837", RuleVersion: f.o.Rules.Version(),
		PayloadRevision: 1, CreatedAt: now, UpdatedAt: now,
	}
}

// dead returns the new record as quarantined at first sight.
func dead(r claimdlq.Record, why claimdlq.Fault, now time.Time) claimdlq.Record {
	r.State, r.Hold = claimdlq.StateQuarantined, claimdlq.HoldNone
	r.Reason, r.Class, r.Detail = why.Reason, why.Class, why.Detail
	r.FirstFailedAt, r.RefusedRevision = now, r.PayloadRevision
	return r
}
