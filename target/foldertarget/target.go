package foldertarget

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"claimdlq"
	"claimdlq/classify"
	"claimdlq/internal/atomicfile"
	"claimdlq/target"
)

// Options tune a Target. The zero value is usable.
type Options struct {
	// Archive is the folder into which whoever empties the target folder moves the
	// files it has taken. Default: none; then a file that is gone is of unknown fate.
	Archive string
	// Perm are the permissions of a delivered file, before umask. Default: 0640.
	Perm fs.FileMode
}

// Target drops parcels into one folder. It is safe for concurrent use.
type Target struct {
	dir  string
	o    Options
	disk disk
}

var _ target.Target = (*Target)(nil)

// New returns a Target that delivers into the existing folder dir. Errors:
// Invalid if dir, or a given archive, is not a folder.
func New(dir string, o Options) (*Target, error) {
	if o.Perm == 0 {
		o.Perm = 0o640
	}
	dirs := []string{dir}
	if o.Archive != "" {
		dirs = append(dirs, o.Archive)
	}
	for _, d := range dirs {
		if info, err := os.Stat(d); err != nil || !info.IsDir() {
			return nil, &claimdlq.Error{Code: claimdlq.Invalid, Op: "open target folder", Hint: "the folder must exist", Err: cause(err)}
		}
	}
	return &Target{dir: dir, o: o, disk: osDisk{}}, nil
}

// Name implements target.Target.
func (t *Target) Name() string { return "folder" }

// Sweep removes temporary files that a crash left in the folder. It must not run
// while another process delivers into the same folder.
func (t *Target) Sweep() error { return atomicfile.Sweep(t.dir) }

// Deliver implements target.Target. A parcel whose file is there already, or in
// the archive, with the same bytes counts as delivered. The codes are FOLDER_
// and what happened; see code.
func (t *Target) Deliver(ctx context.Context, p target.Parcel) target.Delivery {
	return target.Delivery{Outcome: t.deliver(ctx, p)}
}

func (t *Target) deliver(ctx context.Context, p target.Parcel) claimdlq.Outcome {
	if !validName(p.Name) {
		return refused("FOLDER_NAME_INVALID")
	}
	if found, o := t.present(p); found {
		return o
	}
	temp, o := t.write(ctx, p)
	if temp == "" {
		return o
	}
	if err := t.disk.rename(temp, filepath.Join(t.dir, p.Name)); err != nil {
		_ = os.Remove(temp)
		return claimdlq.Outcome{Kind: claimdlq.OutcomeTransient, Code: code(err, "FOLDER_RENAME"), Ambiguous: !saidNo(err)}
	}
	if err := t.disk.syncDir(t.dir); err != nil {
		return claimdlq.Outcome{Kind: claimdlq.OutcomeTransient, Code: detail("FOLDER_SYNC"), Ambiguous: true}
	}
	return claimdlq.Outcome{Kind: claimdlq.OutcomeSubmitted, Code: detail("FOLDER_WRITTEN")}
}

// present looks for the parcel's name in the folder and the archive.
func (t *Target) present(p target.Parcel) (bool, claimdlq.Outcome) {
	for _, dir := range []string{t.dir, t.o.Archive} {
		if dir == "" {
			continue
		}
		switch same, err := equal(filepath.Join(dir, p.Name), p); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return true, transient(code(err, "FOLDER_READ"))
		case !same:
			return true, refused("FOLDER_NAME_TAKEN")
		default:
			// It may be there from a delivery that died before the folder was fsynced.
			if err := t.disk.syncDir(dir); err != nil {
				return true, claimdlq.Outcome{Kind: claimdlq.OutcomeTransient, Code: detail("FOLDER_SYNC"), Ambiguous: true}
			}
			return true, claimdlq.Outcome{Kind: claimdlq.OutcomeSubmitted, Code: detail("FOLDER_PRESENT")}
		}
	}
	return false, claimdlq.Outcome{}
}

// write makes the temporary file durable and returns its name, or "" and why not.
// Nothing it does can be seen by who empties the folder.
func (t *Target) write(ctx context.Context, p target.Parcel) (string, claimdlq.Outcome) {
	content, err := p.Content()
	if err != nil {
		return "", transient(detail("CONTENT"))
	}
	defer func() { _ = content.Close() }()
	f, err := t.disk.create(t.dir, p.Name, t.o.Perm)
	if err != nil {
		return "", transient(code(err, "FOLDER_CREATE"))
	}
	o := fill(ctx, f, content, p.Size)
	if err := f.Close(); err != nil && o.Code.IsZero() {
		o = transient(code(err, "FOLDER_WRITE"))
	}
	if !o.Code.IsZero() {
		_ = os.Remove(f.Name())
		return "", o
	}
	return f.Name(), claimdlq.Outcome{}
}

// fill copies content to f and fsyncs it. The zero Outcome means it is done.
func fill(ctx context.Context, f file, content io.Reader, size int64) claimdlq.Outcome {
	src := &source{ctx: ctx, r: content}
	n, err := io.Copy(writerOnly{f}, src)
	switch {
	case src.err != nil && ctx.Err() != nil:
		return classify.Transport(ctx.Err(), false)
	case src.err != nil, err == nil && size > 0 && n != size:
		return transient(detail("CONTENT"))
	case err != nil:
		return transient(code(err, "FOLDER_WRITE"))
	}
	// A failed fsync is not tried again on this file: a later delivery writes a new one.
	if err := f.Sync(); err != nil {
		return transient(code(err, "FOLDER_WRITE"))
	}
	return claimdlq.Outcome{}
}

// Inquire implements target.Target: a file that is still there, or in the
// archive, has arrived. Of one that is gone nothing is known: it was taken, or
// never came.
func (t *Target) Inquire(_ context.Context, p target.Parcel) (claimdlq.Outcome, bool) {
	if !validName(p.Name) {
		return claimdlq.Outcome{}, false
	}
	found, o := t.present(p)
	if !found || o.Kind != claimdlq.OutcomeSubmitted {
		return claimdlq.Outcome{}, false
	}
	return o, true
}

// validName keeps names inside the folder and visible: [a-z0-9-][a-z0-9.-]{0,79}.
func validName(s string) bool {
	if s == "" || len(s) > 80 || s[0] == '.' {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '.' && c != '-' {
			return false
		}
	}
	return true
}

// saidNo reports whether a failed rename was answered by the file system with a
// refusal, so that it was certainly not done. What a network file system lost
// (EIO, ESTALE, ETIMEDOUT) may have been done.
func saidNo(err error) bool {
	for _, e := range []error{
		syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EACCES, syscall.EPERM, syscall.ENOENT,
		syscall.ENOTDIR, syscall.EISDIR, syscall.ENAMETOOLONG, syscall.EXDEV, syscall.EINVAL,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// code names a failure from a closed list: an error's own text holds a path.
func code(err error, other string) claimdlq.Detail {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return detail("FOLDER_FULL")
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return detail("FOLDER_DENIED")
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return detail("FOLDER_MISSING")
	}
	return detail(other)
}

func detail(s string) claimdlq.Detail { return claimdlq.NewDetail(s) }

func transient(d claimdlq.Detail) claimdlq.Outcome {
	return claimdlq.Outcome{Kind: claimdlq.OutcomeTransient, Code: d}
}

func refused(s string) claimdlq.Outcome {
	return claimdlq.Outcome{Kind: claimdlq.OutcomeRejected, Code: detail(s)}
}

// cause keeps of a path error what is not a path.
func cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}
