//go:build !linux

package control

import (
	"context"
	"errors"
	"net"

	"claimdlq"
)

// Listen is not supported on this system: it cannot say who connects.
func Listen(string) (*Listener, error) {
	return nil, &claimdlq.Error{Code: claimdlq.Unavailable, Op: "open control socket", Err: errors.ErrUnsupported}
}

func dial(context.Context, string) (net.Conn, error) {
	return nil, &claimdlq.Error{Code: claimdlq.Unavailable, Op: op, Err: errors.ErrUnsupported}
}
