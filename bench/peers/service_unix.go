//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// ownGroup puts the process in a group of its own: a Ctrl-C for us does not reach it
// before we stop it in order, and endGroup reaches its children.
func ownGroup(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
}

// endGroup kills what is left of the process's group.
func endGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// account is whom a server runs as; the zero value is ourselves.
type account struct{ cred *syscall.Credential }

// unprivileged is the named account where we are root, and ourselves otherwise: there
// are servers that refuse to run as root.
func unprivileged(name string) (account, error) {
	if os.Geteuid() != 0 {
		return account{}, nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		return account{}, err
	}
	uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
	return account{&syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, errors.Join(err1, err2)
}

// run makes cmd run as the account.
func (a account) run(cmd *exec.Cmd) *exec.Cmd {
	if a.cred != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: a.cred}
	}
	return cmd
}

// own gives a folder to the account.
func (a account) own(dir string) error {
	if a.cred == nil {
		return nil
	}
	return os.Chown(dir, int(a.cred.Uid), int(a.cred.Gid))
}
