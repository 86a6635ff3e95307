package intake

import "claimdlq"

// digests digests the same bytes under every term of the key, so that what was
// taken in before a rotation is recognised after it.
type digests []*claimdlq.DigestWriter

func newDigests(ids []*claimdlq.Identity) digests {
	d := make(digests, len(ids))
	for i, id := range ids {
		d[i] = id.NewDigest()
	}
	return d
}

func (d digests) add(b []byte) {
	for _, w := range d {
		_, _ = w.Write(b)
	}
}

// reset begins anew, and keeps nothing of what was digested.
func (d digests) reset() {
	for _, w := range d {
		w.Reset()
	}
}

func (d digests) sums() []claimdlq.Digest {
	out := make([]claimdlq.Digest, len(d))
	for i, w := range d {
		out[i] = w.Sum()
	}
	return out
}

// identity is what a thing is recognised by, under every term: current first.
type identity struct {
	keys    []claimdlq.Key
	digests []claimdlq.Digest
}

func (f *file) identify(domain string, digests []claimdlq.Digest, parts ...[]byte) identity {
	i := identity{digests: digests}
	for _, id := range f.ids {
		i.keys = append(i.keys, id.Key(domain, parts...))
	}
	return i
}

// apart returns the identity of bytes that came under the numbers of others: its
// key is that of the numbers and the digest together.
func (f *file) apart(of identity) identity {
	i := identity{digests: of.digests}
	for n, id := range f.ids {
		i.keys = append(i.keys, id.Key("x12/conflict", of.keys[n][:], of.digests[n][:]))
	}
	return i
}
