package attempt

import (
	"context"
	"sync"

	"claimdlq"
	"claimdlq/phi"
	"claimdlq/vault"
)

// maxSpan bounds the plaintext that is opened for several jobs together.
const maxSpan = 128 << 10

// span is a range of one unit in which the payloads of several jobs lie: transmissions
// that came in one batch. It is opened once for all of them.
type span struct {
	ref  claimdlq.PayloadRef
	used int64
	once sync.Once
	b    phi.Bytes
	err  error
}

// gather finds spans among jobs that are leased together.
func gather(jobs []*job) {
	type lone struct {
		span  *span
		first *job
	}
	at := make(map[string]lone, len(jobs))
	for _, j := range jobs {
		if j.sub.Stream != claimdlq.StreamNCPDP {
			continue
		}
		ref := j.members[0].Payload
		l, ok := at[ref.Unit]
		if !ok || !l.span.takes(ref) {
			at[ref.Unit] = lone{&span{ref: ref, used: ref.Length}, j}
			continue
		}
		l.first.span, j.span = l.span, l.span
	}
}

// takes adds the payload to the span if it lies in it, or behind it and not far off.
func (s *span) takes(ref claimdlq.PayloadRef) bool {
	length := ref.Offset + ref.Length - s.ref.Offset
	if ref.Unit != s.ref.Unit || ref.Offset < s.ref.Offset || length > maxSpan || length > 2*(s.used+ref.Length) {
		return false
	}
	s.used += ref.Length
	s.ref.Length = max(s.ref.Length, length)
	return true
}

// open returns a payload of the span; false where the span cannot be opened: then the
// payload must be opened alone, for the fault may be elsewhere.
func (s *span) open(ctx context.Context, v vault.Vault, ref claimdlq.PayloadRef, proof claimdlq.Proof) (phi.Bytes, bool) {
	if s == nil {
		return phi.Bytes{}, false
	}
	s.once.Do(func() { s.b, s.err = v.Open(ctx, s.ref, proof) })
	if s.err != nil {
		return phi.Bytes{}, false
	}
	return s.b.Slice(int(ref.Offset-s.ref.Offset), int(ref.Length))
}
