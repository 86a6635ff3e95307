package serve

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"claimdlq"
)

// The folders in a watched folder: what was taken in, and what could not be.
const (
	takenFolder   = "taken"
	refusedFolder = "refused"
)

// watchEvery is how often a folder is looked at. A file is taken in when it has not
// changed between two looks.
const watchEvery = 2 * time.Second

// watch takes in the files that appear in a folder. One that was taken in is moved to
// taken/, durably recorded before; one that cannot be, such as a file of
// acknowledgments, to refused/. Names that begin with a dot or end in .tmp or .part are
// left alone. Names are not logged: they may hold a patient's.
func (p *process) watch(ctx context.Context, folder string) error {
	for _, sub := range []string{takenFolder, refusedFolder} {
		if err := os.MkdirAll(filepath.Join(folder, sub), 0o750); err != nil {
			return &claimdlq.Error{Code: claimdlq.Unavailable, Op: "watch folder", Hint: "the folder must be there and writable", Err: cause(err)}
		}
	}
	seen := map[string]stamp{}
	for range ticks(ctx, watchEvery) {
		files, err := waitingFiles(folder)
		if err != nil {
			p.s.Log.LogAttrs(ctx, slog.LevelWarn, "Watched folder cannot be read", slog.Any("error", cause(err)))
			continue
		}
		for name, now := range files {
			if seen[name] != now {
				continue // new, or still growing
			}
			p.takeFile(ctx, folder, name)
		}
		seen = files
	}
	return nil
}

// stamp tells a file that changed.
type stamp struct {
	size int64
	at   time.Time
}

func waitingFiles(folder string) (map[string]stamp, error) {
	es, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	out := map[string]stamp{}
	for _, e := range es {
		name := e.Name()
		if !e.Type().IsRegular() || strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".tmp") || strings.HasSuffix(name, ".part") {
			continue
		}
		if fi, err := e.Info(); err == nil {
			out[name] = stamp{fi.Size(), fi.ModTime()}
		}
	}
	return out, nil
}

// takeFile takes one file in and moves it away. What has been put in its place
// meanwhile, or has grown, stays for the next look.
func (p *process) takeFile(ctx context.Context, folder, name string) {
	path := filepath.Join(folder, name)
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe that was put there must not hold the watcher
	if err != nil {
		return // the next look will tell
	}
	was, err := f.Stat()
	if err != nil || !was.Mode().IsRegular() {
		_ = f.Close()
		return
	}
	_, err = p.a.Flow.Intake.File(ctx, claimdlq.By{Actor: "system:intake:folder"}, "", f)
	_ = f.Close()
	p.ended(err)
	p.a.Flow.Attempt.Wake()
	to := takenFolder
	switch {
	case errors.Is(err, claimdlq.Refused), errors.Is(err, claimdlq.Invalid):
		to = refusedFolder
	case err != nil: // it stays, and is tried again; nothing is taken in twice
		p.s.Log.LogAttrs(ctx, slog.LevelWarn, "File could not be taken in", slog.Any("error", err))
		return
	}
	if now, err := os.Lstat(path); err != nil || !os.SameFile(was, now) || now.Size() != was.Size() || !now.ModTime().Equal(was.ModTime()) {
		return
	}
	if err := os.Rename(path, free(filepath.Join(folder, to, name))); err != nil {
		p.s.Log.LogAttrs(ctx, slog.LevelWarn, "File could not be moved away", slog.Any("error", cause(err)))
	}
}

// free returns the path, or one beside it that nothing has.
func free(path string) string {
	for n := range 1000 {
		p := path
		if n > 0 {
			p += "." + strconv.Itoa(n)
		}
		if _, err := os.Lstat(p); errors.Is(err, fs.ErrNotExist) {
			return p
		}
	}
	return path
}

// cause drops the path that an error of the operating system names.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	return err
}
