package app

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"claimdlq"
)

// lock is an exclusive lock on a data directory. The kernel drops it when the
// process ends, however it ends: a lock is never left behind.
type lock struct{ f *os.File }

// lockDir takes the lock of dir, which must exist. Errors: Unavailable, where
// another process has it.
func lockDir(dir string) (*lock, error) {
	const op = "lock data directory"
	f, err := os.OpenFile(filepath.Join(dir, fileLock), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fsError(op, err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer f.Close()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fsError(op, err)
		}
		return nil, &claimdlq.Error{Code: claimdlq.Unavailable, Op: op, On: holder(f), Hint: "wait until it is done, stop it, or use another --data"}
	}
	// The number is for people only, so that it need not be durable.
	if err := f.Truncate(0); err == nil {
		_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	return &lock{f}, nil
}

// Locked reports whether a process has the data directory.
func Locked(dir string) bool {
	f, err := os.Open(filepath.Join(dir, fileLock))
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

// holder names the process that wrote its number into the lock file.
func holder(f *os.File) string {
	b, err := io.ReadAll(io.LimitReader(f, 20))
	pid, perr := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || perr != nil {
		return "held by another process"
	}
	return "held by process " + strconv.Itoa(pid)
}

// release gives the lock up. The file stays: removing it would let two processes
// hold locks on two files of the same name.
func (l *lock) release() error { return l.f.Close() }

// fsError gives an error of the operating system its code.
func fsError(op string, err error) error {
	code := claimdlq.Unavailable
	if errors.Is(err, os.ErrNotExist) {
		code = claimdlq.NotFound
	}
	return &claimdlq.Error{Code: code, Op: op, Err: err}
}
