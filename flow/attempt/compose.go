package attempt

import (
	"bytes"
	"errors"
	"slices"

	"claimdlq"
	"claimdlq/flow/dlqlog"
	"claimdlq/flow/envelope"
	"claimdlq/store"
)

// composedDigest is what the exact bytes digest to under each term.
type composedDigest struct {
	sums []claimdlq.Digest
	size int64
}

// compose makes the exact bytes once, to digest them and to hold them if they are
// small. Members whose payload cannot be opened are quarantined, and the rest
// goes on.
func (r *run) compose() (composedDigest, error) {
	for len(r.parts) > 0 {
		w := newDigester(r.ids, r.a.o.Buffer)
		_, err := envelope.Write(r.ctx, w, r.a.o.Vault, r.job.proof, r.job.sub, r.parts)
		var part *envelope.PartError
		switch {
		case err == nil:
			r.held = w.held()
			return composedDigest{w.sums(), w.size}, nil
		case !errors.As(err, &part):
			return composedDigest{}, err
		case r.ctx.Err() != nil || errors.Is(err, claimdlq.Unavailable):
			return composedDigest{}, err
		}
		if err := r.dropBroken(part.Index); err != nil {
			return composedDigest{}, err
		}
	}
	return composedDigest{}, nil
}

// dropBroken quarantines the part with the given index and every later one that
// cannot be composed alone either.
func (r *run) dropBroken(from int) error {
	now := r.a.now()
	b := store.Batch{}
	var keep []envelope.Part
	var dead []claimdlq.Record
	for i, p := range r.parts {
		var err error
		if i >= from {
			_, err = envelope.Write(r.ctx, discard{}, r.a.o.Vault, r.job.proof, r.job.sub, []envelope.Part{p})
		}
		if err == nil && i != from {
			keep = append(keep, p)
			continue
		}
		n, err := p.Record.Quarantine(claimdlq.Fault{Reason: claimdlq.FatalSyntax, Class: claimdlq.Terminal, Detail: payloadDetail(err)}, now)
		if err != nil {
			return err
		}
		dead = append(dead, n)
		b.Update = append(b.Update, n)
		b.Entries = append(b.Entries, entry(claimdlq.ActEnqueue, r.job.sub.ID, &p.Record, &n, now))
		dlqlog.Alarm(r.ctx, r.a.log(), dlqlog.AlarmPayload, n)
	}
	if _, err := r.a.o.Store.Commit(r.ctx, b); err != nil {
		return err
	}
	r.a.spent(r.ctx, dead)
	r.parts, r.job.members = keep, r.job.members[:0]
	for _, p := range keep {
		r.job.members = append(r.job.members, p.Record)
	}
	return nil
}

func payloadDetail(err error) claimdlq.Detail {
	switch {
	case errors.Is(err, claimdlq.NotFound):
		return claimdlq.NewDetail("PAYLOAD:NOT_FOUND")
	case errors.Is(err, claimdlq.Corrupt):
		return claimdlq.NewDetail("PAYLOAD:CORRUPT")
	}
	return claimdlq.NewDetail("PAYLOAD:INVALID")
}

// identical compares with the digest of the intent, under whichever term it was made.
func (r *run) identical(d composedDigest) bool {
	return slices.Contains(d.sums, r.job.sub.Digest)
}

// discard reads nothing and keeps nothing.
type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }

// digester digests what is written under every term, and holds it while it is
// small.
type digester struct {
	digests []*claimdlq.DigestWriter
	buf     bytes.Buffer
	limit   int
	size    int64
}

func newDigester(ids []*claimdlq.Identity, limit int) *digester {
	d := &digester{limit: limit}
	for _, id := range ids {
		d.digests = append(d.digests, id.NewDigest())
	}
	return d
}

func (d *digester) Write(b []byte) (int, error) {
	for _, w := range d.digests {
		_, _ = w.Write(b)
	}
	d.size += int64(len(b))
	if d.size <= int64(d.limit) {
		_, _ = d.buf.Write(b)
	} else {
		d.buf = bytes.Buffer{}
	}
	return len(b), nil
}

func (d *digester) held() []byte {
	if d.size > int64(d.limit) {
		return nil
	}
	return d.buf.Bytes()
}

func (d *digester) sums() []claimdlq.Digest {
	out := make([]claimdlq.Digest, len(d.digests))
	for i, w := range d.digests {
		out[i] = w.Sum()
	}
	return out
}
