package replay

import (
	"errors"
	"strings"

	"claimdlq"
	"claimdlq/flow/audited"
	"claimdlq/flow/dlqlog"
	"claimdlq/flow/envelope"
	"claimdlq/flow/lineage"
	"claimdlq/store"
	"claimdlq/wire/x12"
)

// look is what a look into the payload says.
type look struct {
	clean     bool // the current rules pass it
	duplicate bool // one of its claims came again since and is under way or with the payer
	doubt     bool // one of its claims was put away in doubt, or is so under other numbers
	envelope  claimdlq.Envelope
	group     claimdlq.GroupControl
	register  []store.Fingerprint
	held      []claimdlq.Key // fingerprints, until the decision is durable
}

// look opens the payload, audited, judges it and looks its claims up.
func (j *job) look(r claimdlq.Record) (look, error) {
	if r.Scope > claimdlq.ScopeClaim || r.Format == claimdlq.FormatAck {
		return look{}, nil // nothing in it can be sent
	}
	if a := j.ahead; a != nil && a.revision == r.Revision {
		l := a.look
		err := j.lineage(r, a.keys, &l)
		return l, err
	}
	proof, err := audited.Open(j.ctx, j.Store, j.by, claimdlq.ActOpen, j.Now().UTC(), r)
	if err != nil {
		return look{}, err
	}
	part, err := envelope.PartOf(j.ctx, j.Store, r)
	if err != nil {
		return look{}, err
	}
	in, unit, err := envelope.Reader(j.ctx, j.Vault, proof, r)
	if err != nil {
		return look{}, j.unreadable(r, err)
	}
	keys := make([][]claimdlq.Key, len(j.ids))
	var scratch []byte
	scan, err := envelope.Judge(in, j.Rules, unit, func(c *x12.Claim) {
		if part.Drop != nil && part.Drop(c.Ordinal) || len(c.Fingerprint) == 0 {
			return
		}
		keys, scratch = j.fingerprints(c, keys, scratch)
	})
	if err = errors.Join(err, in.Close()); err != nil {
		return look{}, j.unreadable(r, err)
	}
	l := look{clean: scan.Clean(part.Drop), envelope: scan.Envelope, group: scan.Group}
	err = j.lineage(r, keys, &l)
	return l, err
}

// unreadable returns nil for an error that trying again does not mend: the claim is none
// that can be sent, and that stops no other. What has gone, or is damaged, rings.
func (j *job) unreadable(r claimdlq.Record, err error) error {
	if !gone(err) {
		return err
	}
	if !errors.Is(err, claimdlq.Invalid) { // else no claim can be cut out of it
		dlqlog.Alarm(j.ctx, j.Log, dlqlog.AlarmPayload, r)
	}
	return nil
}

// lineage looks the claims' owners up. A claim that has come to nothing since is
// taken over.
func (j *job) lineage(r claimdlq.Record, keys [][]claimdlq.Key, l *look) error {
	if len(keys) == 0 || len(keys[0]) == 0 {
		return nil
	}
	// First hold, then look: what others commit in between is seen.
	if err := j.Guard.Hold(j.ctx, keys[0]); err != nil {
		return err
	}
	l.held = keys[0]
	owners, err := lineage.Owners(j.ctx, j.Store, j.ids, keys[0], keys[1:])
	if err != nil {
		return err
	}
	for i, fp := range keys[0] {
		next := fp
		if owners != nil && owners[i].ID != 0 {
			if err := j.besides(r, lineage.Of(i, keys[0], keys[1:]), l); err != nil {
				return err
			}
			if owners[i].ID == r.ID {
				continue
			}
			other, err := j.Store.Get(j.ctx, owners[i].ID)
			if err != nil {
				return err
			}
			j.weigh(other, l)
			next = owners[i].Next
		}
		l.register = append(l.register, store.Fingerprint{Key: next, Record: r.ID})
	}
	return nil
}

// weigh adds to l what an earlier record of the same claim says.
func (j *job) weigh(other claimdlq.Record, l *look) {
	switch {
	case lineage.WrittenOff(other) && j.o.WrittenOff:
	case lineage.PutAway(other):
		l.doubt = true
	default:
		l.duplicate = l.duplicate || lineage.Blocks(other)
	}
}

// besides adds to l what another pipeline may have sent of the claim under other numbers.
func (j *job) besides(r claimdlq.Record, fps []claimdlq.Key, l *look) error {
	others, _, err := lineage.Besides(j.ctx, j.Store, j.ids, fps)
	for _, other := range others {
		switch {
		case other.ID == r.ID || other.ID == r.Parent:
		case other.State == claimdlq.StateInDoubt:
			l.doubt = true
		default:
			j.weigh(other, l)
		}
	}
	return err
}

func upper(r claimdlq.ReplayResult) string { return strings.ToUpper(string(r)) }
