package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"time"

	"claimdlq"
)

// The headers of a signed post.
const (
	// HeaderTime is when the post was signed, in Unix seconds.
	HeaderTime = "X-Claimdlq-Timestamp"
	// HeaderSignature is "sha256=" and the hex HMAC-SHA-256, under the secret, of the
	// value of HeaderTime, a dot and the body.
	HeaderSignature = "X-Claimdlq-Signature"
)

// sign returns the value of HeaderSignature.
func sign(secret []byte, at string, body []byte) string {
	h := hmac.New(sha256.New, secret)
	h.Write([]byte(at + "."))
	h.Write(body)
	return "sha256=" + hex.EncodeToString(h.Sum(nil))
}

// Verify is for receivers: it reports whether a post with this header and body was
// signed with the secret at most age before or after now, so that an old one cannot
// be played again later. Errors: Refused.
func Verify(secret []byte, h http.Header, body []byte, now time.Time, age time.Duration) error {
	refused := func(hint string) error {
		return &claimdlq.Error{Code: claimdlq.Refused, Op: "verify alarm", Hint: hint}
	}
	at := h.Get(HeaderTime)
	if len(secret) < minSecret || !hmac.Equal([]byte(sign(secret, at, body)), []byte(h.Get(HeaderSignature))) {
		return refused("the signature is not of this secret, time and body")
	}
	s, err := strconv.ParseInt(at, 10, 64)
	if err != nil || now.Sub(time.Unix(s, 0)).Abs() > age {
		return refused("it was signed too long ago, or the clocks disagree")
	}
	return nil
}
