package cli

import (
	"context"
	"net"
)

// notify tells the service manager how the process is, as sd_notify(3) has it: READY=1,
// STOPPING=1. Where none wants to know, or it does not listen, nothing happens: being
// unable to say so must not stop what works.
func (s *session) notify(ctx context.Context, state string) {
	addr := s.env.Getenv("NOTIFY_SOCKET") // a path, or @ and an abstract name, as package net spells it too
	if addr == "" {
		return
	}
	conn, err := new(net.Dialer).DialContext(context.WithoutCancel(ctx), "unixgram", addr)
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	_, _ = conn.Write([]byte(state))
}
