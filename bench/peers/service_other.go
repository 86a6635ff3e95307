//go:build !unix

package main

import (
	"errors"
	"os/exec"
)

func ownGroup(*exec.Cmd) {}

func endGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

// account is whom a server runs as: always ourselves here.
type account struct{}

func unprivileged(string) (account, error) {
	return account{}, errors.New("the peers' servers are started on Unix only")
}

func (account) run(cmd *exec.Cmd) *exec.Cmd { return cmd }

func (account) own(string) error { return nil }
