package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
)

// Secret is a password, code or token. It prints as [secret] everywhere; the zero
// Secret is empty.
type Secret struct{ f func() string }

// NewSecret returns the secret with the given text.
func NewSecret(s string) Secret { return Secret{func() string { return s }} }

// Reveal returns the text, which must not be logged or kept.
func (s Secret) Reveal() string {
	if s.f == nil {
		return ""
	}
	return s.f()
}

const masked = "[secret]"

// String implements fmt.Stringer.
func (s Secret) String() string { return masked }

// Format implements fmt.Formatter, for every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, masked) }

// LogValue implements slog.LogValuer.
func (s Secret) LogValue() slog.Value { return slog.StringValue(masked) }

// MarshalText implements encoding.TextMarshaler, and so JSON.
func (s Secret) MarshalText() ([]byte, error) { return []byte(masked), nil }

// UnmarshalText implements encoding.TextUnmarshaler, for a body that brings one.
func (s *Secret) UnmarshalText(b []byte) error {
	*s = NewSecret(string(b))
	return nil
}

// digest is what is kept of a session's id or a token. Both are 256 random bits, so
// that nobody can choose a digest: looking it up in a map tells a guesser nothing.
type digest [sha256.Size]byte

// secretBytes is the length of ids and tokens before they are written as text, and
// secretText after.
const (
	secretBytes = 32
	secretText  = 43
)

// random returns 256 random bits as text.
func random() string {
	var b [secretBytes]byte
	_, _ = rand.Read(b[:]) // never fails: the program ends first
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// digestOf returns the digest of an id as random made it; ok is false for any other
// text, and for the same bits spelled otherwise.
func digestOf(s string) (d digest, ok bool) {
	if len(s) != secretText {
		return d, false
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil || len(b) != secretBytes {
		return d, false
	}
	return sha256.Sum256(b), true
}
