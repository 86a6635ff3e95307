//go:build !wired

package cli

func wired() []verb { return nil }
