// Package loopback is the one rule for what stays on this machine: only there may claims,
// passwords and alarms travel unencrypted (45 CFR 164.312(e)(1)).
package loopback

import (
	"net"
	"net/netip"
	"strings"
)

// Host reports whether a host's name, without a port, is this machine: localhost in any
// case, or a loopback address. No name is looked up.
func Host(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsLoopback()
}

// Address reports the same of host:port.
func Address(at string) bool {
	host, _, err := net.SplitHostPort(at)
	return err == nil && Host(host)
}
