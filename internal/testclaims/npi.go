package testclaims

// NPI returns a made-up national provider identifier with a right check digit:
// Luhn over 80840 and its first nine digits, of which the first is 1 or 2
// (45 CFR 162.406, ISO/IEC 7812-1).
func NPI(n uint64) string { return string(appendNPI(nil, n)) }

func appendNPI(b []byte, n uint64) []byte {
	start := len(b)
	b = appendNumber(b, 100000000+n%200000000, 9)
	// 24 is what the prefix 80840 adds to the sum: 8 + 0 + 8 + (4 doubled = 8) + 0.
	sum := 24
	for i := 8; i >= 0; i-- {
		d := int(b[start+i] - '0')
		if i%2 == 0 { // the digit next to the check digit, and each second one from it
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return append(b, byte('0'+(10-sum%10)%10))
}

// appendNumber appends v in decimal, zero-padded to width.
func appendNumber(b []byte, v uint64, width int) []byte {
	var tmp [20]byte
	i := len(tmp)
	for v > 0 || width > 0 || i == len(tmp) {
		i--
		tmp[i] = byte('0' + v%10)
		v /= 10
		width--
	}
	return append(b, tmp[i:]...)
}

// random is a small generator (SplitMix64): claim n of a seed is the same claim
// whatever came before it.
type random uint64

func newRandom(seed, n uint64) random { return random(seed*0x9e3779b97f4a7c15 ^ n*0xd1b54a32d192ed03) }

func (r *random) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	x := uint64(*r)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// below returns a number from 0 to n-1.
func (r *random) below(n int) int { return int(r.next() >> 33 % uint64(n)) }
