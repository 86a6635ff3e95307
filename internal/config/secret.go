package config

import (
	"fmt"
	"io"
	"log/slog"
)

// hidden keeps a value where no way of printing reaches it: fmt prints what a
// struct's unexported fields hold, but not what a function would return.
type hidden[T any] struct{ f func() T }

func hide[T any](v T) hidden[T] { return hidden[T]{func() T { return v }} }

func (h hidden[T]) get() (v T) {
	if h.f == nil {
		return v
	}
	return h.f()
}

const masked = "[secret]"

// Secret is a password, token or key. It prints as [secret] everywhere. The zero
// Secret is none.
type Secret struct{ v hidden[[]byte] }

// IsSet reports whether there is one.
func (s Secret) IsSet() bool { return len(s.v.get()) > 0 }

// Reveal returns the secret itself, which must not be changed, logged or shown.
func (s Secret) Reveal() []byte { return s.v.get() }

// String implements fmt.Stringer.
func (s Secret) String() string { return masked }

// Format implements fmt.Formatter, for every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, masked) }

// LogValue implements slog.LogValuer.
func (s Secret) LogValue() slog.Value { return slog.StringValue(masked) }

// MarshalText implements encoding.TextMarshaler, and so JSON.
func (s Secret) MarshalText() ([]byte, error) { return []byte(masked), nil }
