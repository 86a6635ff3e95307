package sortedrun

import (
	"encoding/binary"
	"math/bits"
)

// filter is a Bloom filter whose bits for one key lie in one cache line of 512
// bits, so that a look-up costs one memory access whatever the filter's size.
type filter []uint64

// lineWords is a line's size: 8 words of 64 bits.
const lineWords = 8

// probes is how many bits a key sets, near the best for 10 to 12 bits per key.
// Each takes 9 bits of a hash.
const probes = 7

func newFilter(n, bitsPerKey int) filter {
	lines := (n*bitsPerKey + 511) / 512
	return make(filter, max(1, lines)*lineWords)
}

// hashOf spreads a key over 64 bits: keys may be counters.
func hashOf(k Key) uint64 {
	return mix(mix(binary.LittleEndian.Uint64(k[:8])) + binary.LittleEndian.Uint64(k[8:]))
}

// hashOfPrefix spreads the first half of a key.
func hashOfPrefix(prefix uint64) uint64 { return mix(mix(prefix)) }

// filterHash is what the filter of a run knows a key by.
func filterHash(k Key, prefix bool) uint64 {
	if prefix {
		return hashOfPrefix(binary.BigEndian.Uint64(k[:8]))
	}
	return hashOf(k)
}

func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// line picks the line by the hash's high bits; the bits within by its low ones.
func (f filter) line(h uint64) []uint64 {
	i, _ := bits.Mul64(h, uint64(len(f)/lineWords))
	return f[i*lineWords : i*lineWords+lineWords : i*lineWords+lineWords]
}

func (f filter) add(h uint64) {
	line, p := f.line(h), mix(h)
	for range probes {
		line[p>>6&7] |= 1 << (p & 63)
		p >>= 9
	}
}

// has reports whether a key with the hash may have been added; false is certain.
func (f filter) has(h uint64) bool {
	line, p := f.line(h), mix(h)
	for range probes {
		if line[p>>6&7]>>(p&63)&1 == 0 {
			return false
		}
		p >>= 9
	}
	return true
}

func (f filter) encode() []byte {
	b := make([]byte, 0, len(f)*8)
	for _, w := range f {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

func decodeFilter(b []byte) filter {
	f := make(filter, len(b)/8)
	for i := range f {
		f[i] = binary.LittleEndian.Uint64(b[i*8:])
	}
	return f
}
