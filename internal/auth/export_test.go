package auth

import (
	"crypto/sha1"
	"hash"
	"time"
)

// CheckCode, CodeURL, Covers, ParseStored and CheckPassword are the pure
// parts that tests look at alone.
var (
	CheckCode     = checkCode
	CodeURL       = codeURL
	Covers        = covers
	CheckPatterns = checkPatterns
	CheckPassword = checkPassword
	ParseOrigin   = parseOrigin
)

// HOTP is the code of RFC 4226 and 6238.
func HOTP(h func() hash.Hash, secret []byte, counter uint64, digits int) string {
	return code(h, secret, counter, digits)
}

// CodeAt is a code as an authenticator shows it.
func CodeAt(key string, at time.Time) Secret {
	secret, err := base32Text.DecodeString(key)
	if err != nil {
		panic(err)
	}
	return NewSecret(code(sha1.New, secret, uint64(at.Unix()/30), codeDigits))
}

// ParseStored reports whether a stored hash is one.
func ParseStored(s string) bool {
	_, ok := parseStored(s)
	return ok
}

// ParseToken reports whether a text is spelled like a token.
func ParseToken(s string) bool {
	_, ok := parseToken(s)
	return ok
}

// OnDerive has a function see the parameters of every key that is derived.
func (d *Desk) OnDerive(fn func(Argon)) {
	derive := d.hasher.derive
	d.hasher.derive = func(password string, salt []byte, a Argon) []byte {
		fn(a)
		return derive(password, salt, a)
	}
}

// Watched is how many keys failures are counted under.
func (d *Desk) Watched() int {
	d.throttle.mu.Lock()
	defer d.throttle.mu.Unlock()
	return len(d.throttle.m)
}

// Sessions is how many sessions are in memory.
func (d *Desk) Sessions() int {
	d.sessions.mu.Lock()
	defer d.sessions.mu.Unlock()
	return len(d.sessions.m)
}

// MaxWatched and MaxOfOne are bounds.
const (
	MaxWatched = maxWatched
	MaxOfOne   = maxOfOne
)

// Throttle is a throttle by itself.
type Throttle struct{ t throttle }

// NewThrottle returns one that has seen nothing.
func NewThrottle() *Throttle { return &Throttle{throttle{m: map[string]watched{}}} }

// Enter counts an attempt under one name.
func (t *Throttle) Enter(now time.Time, name string, free int, leak time.Duration) (time.Duration, bool) {
	return t.t.enter(now, key{name, free, leak})
}

// Len is how many names it watches.
func (t *Throttle) Len() int { return len(t.t.m) }

// Unseal reports whether the desk takes a text for a sign-in under way.
func (d *Desk) Unseal(text string) bool {
	_, ok := unseal(d.flowKey, text, d.o.Now())
	return ok
}
