package control

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"claimdlq"
)

// Listen makes the socket at path, which only the user of this process can open
// (mode 0600), in an existing directory that nobody else can write. A socket that a
// dead process left is replaced; the caller holds the data directory's lock, so that
// no two processes do this at a time.
//
// Errors: Unavailable (another process serves there, or the disk), Refused (the
// directory is open to others, or something that is no socket has the name).
func Listen(path string) (*Listener, error) {
	if err := checkDir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	if err := checkName(path); err != nil {
		return nil, err
	}
	temp := path + ".new"
	l, err := bind(temp)
	if err != nil {
		return nil, fail(claimdlq.Unavailable, "", err)
	}
	file, err := os.Lstat(temp)
	if err == nil {
		err = os.Chmod(temp, 0o600)
	}
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		_ = os.Remove(temp)
		return nil, errors.Join(fail(claimdlq.Unavailable, "", err), l.Close())
	}
	return &Listener{l: l, path: path, file: file, peer: peer, self: uint32(os.Geteuid())}, nil
}

func fail(code claimdlq.Code, hint string, err error) error {
	return &claimdlq.Error{Code: code, Op: "open control socket", Hint: hint, Err: err}
}

func checkDir(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return fail(claimdlq.Unavailable, "", err)
	case !info.IsDir():
		return fail(claimdlq.Refused, "the data directory is no directory", nil)
	case info.Mode().Perm()&0o022 != 0:
		return fail(claimdlq.Refused, "others can write in the data directory: chmod 700 it", nil)
	}
	return nil
}

// checkName looks at what has the socket's name already.
func checkName(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fail(claimdlq.Unavailable, "", err)
	case info.Mode().Type() != fs.ModeSocket:
		return fail(claimdlq.Refused, "a file that is no socket has the name "+filepath.Base(path)+": move it away", nil)
	}
	conn, err := open(context.Background(), path)
	if err == nil {
		_ = conn.Close()
		return fail(claimdlq.Unavailable, "another process serves this data directory", nil)
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return fail(claimdlq.Unavailable, "", err)
	}
	return nil
}

func bind(path string) (*net.UnixListener, error) {
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() == fs.ModeSocket {
		_ = os.Remove(path) // a start that was cut off left it
	}
	short, done, err := reach(path)
	if err != nil {
		return nil, err
	}
	defer done()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: short, Net: "unix"})
	if err == nil {
		l.SetUnlinkOnClose(false)
	}
	return l, err
}

// maxSocketPath is the longest path that the system takes for a socket.
const maxSocketPath = 107

// reach returns a path to the file that is short enough: one that is too long goes
// through an open descriptor of its directory.
func reach(path string) (short string, done func(), err error) {
	if len(path) <= maxSocketPath {
		return path, func() {}, nil
	}
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return "", nil, err
	}
	return filepath.Join("/proc/self/fd", strconv.Itoa(int(d.Fd())), filepath.Base(path)), func() { _ = d.Close() }, nil
}

func open(ctx context.Context, path string) (net.Conn, error) {
	short, done, err := reach(path)
	if err != nil {
		return nil, err
	}
	defer done()
	return new(net.Dialer).DialContext(ctx, "unix", short)
}

// dial connects to a server of this user's, or root's; root connects to anybody's.
func dial(ctx context.Context, path string) (net.Conn, error) {
	conn, err := open(ctx, path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ENOTSOCK), errors.Is(err, syscall.ENOTDIR):
		return nil, &claimdlq.Error{Code: claimdlq.NotFound, Op: op, Hint: "nobody serves this data directory"}
	case errors.Is(err, fs.ErrPermission):
		return nil, &claimdlq.Error{Code: claimdlq.Refused, Op: op, Hint: "only the user whose process serves, and root, may command it"}
	case err != nil:
		return nil, &claimdlq.Error{Code: claimdlq.Unavailable, Op: op, Err: err}
	}
	self := uint32(os.Geteuid())
	if uid, err := peer(conn); err != nil || uid != self && uid != 0 && self != 0 {
		_ = conn.Close()
		return nil, &claimdlq.Error{Code: claimdlq.Refused, Op: op, Hint: "the process that serves there is another user's"}
	}
	return conn, nil
}

// peer asks the kernel who made the other end of a connection (SO_PEERCRED).
func peer(conn net.Conn) (uint32, error) {
	sys, ok := conn.(syscall.Conn)
	if !ok {
		return 0, errors.ErrUnsupported
	}
	raw, err := sys.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *syscall.Ucred
	var cerr error
	if err := raw.Control(func(fd uintptr) {
		cred, cerr = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	}); err != nil {
		return 0, err
	}
	if cerr != nil {
		return 0, cerr
	}
	return cred.Uid, nil
}
