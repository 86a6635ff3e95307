package foldertarget

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"claimdlq"
	"claimdlq/internal/atomicfile"
)

// Pickup collects acknowledgment files from a folder.
type Pickup struct {
	// Dir is the folder that the payer's files arrive in. Handled files move into
	// its subfolders done and bad, which are made as needed.
	Dir string
	// Settle is how long a file must have been left alone before it is read: a
	// sender may write in place. Default: 2 s; negative: no wait.
	Settle time.Duration
	// Now is the clock.
	Now func() time.Time
}

// Picked counts what one Run did.
type Picked struct {
	Done    int // handled, moved to done
	Bad     int // could not be used, moved to bad
	Waiting int // not yet left alone long enough
}

// Run passes each complete file to handle, in order of name, and moves it to
// done. A file that handle refuses moves to bad; an error with code Unavailable,
// Conflict or Internal, or a cancelled ctx, leaves it where it is and ends the run.
//
// A crash after handle and before the move passes the file again: handle must be
// idempotent. Names come from outside and may hold anything, a patient's name
// too: they belong in no log.
//
// Names that start with a dot or end like those of file transfers in progress
// are skipped, and so is everything that is no regular file.
func (p Pickup) Run(ctx context.Context, handle func(ctx context.Context, name string, r io.Reader) error) (Picked, error) {
	var done Picked
	root, err := os.OpenRoot(p.Dir)
	if err != nil {
		return done, unavailable("open the folder of acknowledgments", err)
	}
	defer func() { _ = root.Close() }()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return done, unavailable("list the folder of acknowledgments", err)
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || inProgress(e.Name()) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return done, err
		}
		if err := p.one(ctx, root, e.Name(), handle, &done); err != nil {
			return done, err
		}
	}
	return done, nil
}

func (p Pickup) one(ctx context.Context, root *os.Root, name string, handle func(context.Context, string, io.Reader) error, done *Picked) error {
	f, err := root.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // somebody else took it
	}
	if err != nil {
		return unavailable("open an acknowledgment file", err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return unavailable("look at an acknowledgment file", err)
	}
	if settle := p.settle(); settle > 0 && p.Now().Sub(info.ModTime()) < settle {
		done.Waiting++
		return nil
	}
	err = handle(ctx, name, f)
	if err != nil && (ctx.Err() != nil || stays(err)) {
		return err
	}
	if err != nil {
		done.Bad++
		return p.move(name, "bad")
	}
	done.Done++
	return p.move(name, "done")
}

func (p Pickup) settle() time.Duration {
	if p.Settle == 0 {
		return 2 * time.Second
	}
	return p.Settle
}

// stays reports whether an error says nothing about the file itself.
func stays(err error) bool {
	return errors.Is(err, claimdlq.Unavailable) || errors.Is(err, claimdlq.Conflict) || errors.Is(err, claimdlq.Internal)
}

// move puts a file into a subfolder, under a number of its own if the name is
// taken there: an earlier file is never replaced.
func (p Pickup) move(name, sub string) error {
	to := filepath.Join(p.Dir, sub)
	if err := atomicfile.MkdirAll(to, 0o750); err != nil {
		return unavailable("make a folder for handled acknowledgments", err)
	}
	free := name
	for n := 2; ; n++ {
		if _, err := os.Lstat(filepath.Join(to, free)); errors.Is(err, fs.ErrNotExist) {
			break
		}
		free = name + "." + strconv.Itoa(n)
	}
	if err := os.Rename(filepath.Join(p.Dir, name), filepath.Join(to, free)); err != nil {
		return unavailable("move a handled acknowledgment", err)
	}
	for _, d := range []string{to, p.Dir} {
		if err := atomicfile.SyncDir(d); err != nil {
			return unavailable("move a handled acknowledgment", err)
		}
	}
	return nil
}

func inProgress(name string) bool {
	if strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") {
		return true
	}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".tmp", ".temp", ".part", ".partial", ".filepart", ".inprogress", ".writing":
		return true
	}
	return false
}

func unavailable(op string, err error) error {
	return &claimdlq.Error{Code: claimdlq.Unavailable, Op: op, Err: withoutPath(err)}
}

// withoutPath keeps what happened and drops which file it happened to.
func withoutPath(err error) error {
	if l, ok := errors.AsType[*os.LinkError](err); ok {
		return l.Err
	}
	return cause(err)
}
