package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"claimdlq"
)

// openInput opens a file to read, "-" being standard input. The error names the
// argument by its place, because people put names of patients into file names.
func (s *session) openInput(name string, place int) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(s.env.Stdin), nil
	}
	on := "argument " + strconv.Itoa(place)
	f, err := os.Open(s.path(name))
	if err != nil {
		return nil, inputError("open file", on, err)
	}
	fi, err := f.Stat()
	if err == nil && fi.IsDir() {
		_ = f.Close()
		return nil, &claimdlq.Error{Code: claimdlq.Invalid, Op: "open file", On: on, Hint: "it is a folder: name the files in it"}
	}
	return f, nil
}

// createNew makes a file that did not exist, readable by its owner only.
func (s *session) createNew(name string) (*os.File, error) {
	f, err := os.OpenFile(s.path(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, inputError("make file", "of --out", err)
	}
	return f, nil
}

// path returns where a file is that the caller names from where he stands.
func (s *session) path(name string) string {
	if s.env.Dir == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(s.env.Dir, name)
}

// inputError gives an error of the operating system its code and drops the path
// that it names.
func inputError(op, on string, err error) error {
	e := &claimdlq.Error{Code: claimdlq.Unavailable, Op: op, On: on}
	switch {
	case errors.Is(err, os.ErrNotExist):
		e.Code, e.Hint = claimdlq.NotFound, "there is no such file"
	case errors.Is(err, os.ErrExist):
		e.Code, e.Hint = claimdlq.Invalid, "it exists already"
	case errors.Is(err, os.ErrPermission):
		e.Code, e.Hint = claimdlq.Invalid, "this user may not read it"
	default:
		if p, ok := errors.AsType[*os.PathError](err); ok {
			e.Err = p.Err
		}
	}
	return e
}

// readAll reads at most limit bytes.
func readAll(r io.Reader, limit int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, inputError("read file", "", err)
	}
	if int64(len(b)) > limit {
		return nil, &claimdlq.Error{Code: claimdlq.Invalid, Op: "read file", On: "after " + strconv.FormatInt(limit>>20, 10) + " MiB", Hint: "it is too large"}
	}
	return b, nil
}
