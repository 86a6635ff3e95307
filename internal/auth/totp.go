package auth

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // RFC 6238 with SHA-1 is what every authenticator knows; HMAC does not need its collision resistance
	"crypto/subtle"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"hash"
	"net/url"
	"strings"
	"time"
)

// One-time codes are RFC 6238 with SHA-1, six digits and steps of 30 s; a clock may be
// one step off either way.
const (
	codeStep    = 30 * time.Second
	codeDigits  = 6
	codeDrift   = 1
	codeSecret  = 20 // bytes, as RFC 4226 section 4 recommends
	enrolWithin = 15 * time.Minute
)

func newCodeSecret() []byte {
	b := make([]byte, codeSecret)
	_, _ = rand.Read(b)
	return b
}

// code returns the HOTP value of RFC 4226 section 5.3.
func code(h func() hash.Hash, secret []byte, counter uint64, digits int) string {
	m := hmac.New(h, secret)
	_ = binary.Write(m, binary.BigEndian, counter)
	sum := m.Sum(nil)
	n := binary.BigEndian.Uint32(sum[sum[len(sum)-1]&0xf:]) & 0x7fffffff
	mod := uint32(1)
	for range digits {
		mod *= 10
	}
	return fmt.Sprintf("%0*d", digits, n%mod)
}

// checkCode returns the step that a code is of, if it is one of the steps around now
// and later than used: a code is good once (RFC 6238 section 5.2). It looks at all
// steps whatever it finds.
func checkCode(secret []byte, used uint64, now time.Time, given string) (step uint64, ok bool) {
	at := max(now.Unix(), 0) / int64(codeStep/time.Second)
	for d := int64(-codeDrift); d <= codeDrift; d++ {
		n := uint64(max(at+d, 0))
		same := subtle.ConstantTimeCompare([]byte(code(sha1.New, secret, n, codeDigits)), []byte(given)) == 1
		if same && n > used {
			step, ok = n, true
		}
	}
	return step, ok
}

var base32Text = base32.StdEncoding.WithPadding(base32.NoPadding)

// codeURL returns what an authenticator reads from a QR code.
func codeURL(issuer, login string, secret []byte) string {
	q := url.Values{
		"secret": {base32Text.EncodeToString(secret)}, "issuer": {issuer},
		"algorithm": {"SHA1"}, "digits": {"6"}, "period": {"30"},
	}
	u := url.URL{Scheme: "otpauth", Host: "totp", Path: "/" + issuer + ":" + login, RawQuery: strings.ReplaceAll(q.Encode(), "+", "%20")} // some show a plus as it is
	return u.String()
}
