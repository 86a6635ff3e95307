package backup

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/mod/sumdb/note"

	"claimdlq"
	"claimdlq/internal/atomicfile"
)

func isOurs(err error) bool {
	_, ok := errors.AsType[*claimdlq.Error](err)
	return ok
}

// Source is a backup to be read.
type Source struct {
	data, keys       signed
	dataDir, keysDir string
	verified         bool
}

// Open finds a backup. from and keysFrom are its two halves, or where they are kept:
// then it is the newest that is in both. Errors: NotFound, Corrupt (a manifest does not
// parse), Invalid (they are not of one backup).
func Open(from, keysFrom string) (*Source, error) {
	const op = "open backup"
	s := &Source{dataDir: from, keysDir: keysFrom}
	if !has(from) {
		names, err := Names(from)
		if err != nil {
			return nil, err
		}
		if len(names) == 0 {
			return nil, &claimdlq.Error{Code: claimdlq.NotFound, Op: op, Hint: "there is no backup in --from: claimdlq backup makes one"}
		}
		s.dataDir = filepath.Join(from, names[len(names)-1])
	}
	var err error
	if s.data, err = readManifest(s.dataDir, PartData); err != nil {
		return nil, err
	}
	if !has(keysFrom) {
		s.keysDir = filepath.Join(keysFrom, s.data.Name)
	}
	if s.keys, err = readManifest(s.keysDir, PartKeys); err != nil {
		return nil, err
	}
	if s.keys.sum != s.data.Keys {
		return nil, &claimdlq.Error{Code: claimdlq.Invalid, Op: op, On: "keys of " + s.keys.Name, Hint: "they are not the keys of backup " + s.data.Name + ": name those with --keys-from"}
	}
	return s, nil
}

func has(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, manifestFile))
	return err == nil
}

// Manifest returns what the backup says of itself; trust it after Check.
func (s *Source) Manifest() Manifest { return s.data.Manifest }

// KeysDir is where the half with the keys is.
func (s *Source) KeysDir() string { return s.keysDir }

// Check holds both manifests against their signatures. Errors: Corrupt.
func (s *Source) Check(v note.Verifier) error {
	if err := s.keys.check(v); err != nil {
		return err
	}
	if err := s.data.check(v); err != nil {
		return err
	}
	s.verified = true
	return nil
}

// RestoreKeys copies the keys into a directory, each file compared with its manifest.
// Whether that is signed can be found out when the keys are there.
func (s *Source) RestoreKeys(ctx context.Context, to string) error {
	return s.keys.restore(ctx, s.keysDir, to, nil)
}

// RestoreData copies everything else. Check comes first.
func (s *Source) RestoreData(ctx context.Context, to string, progress func(bytes int64)) error {
	if !s.verified {
		return notChecked()
	}
	return s.data.restore(ctx, s.dataDir, to, progress)
}

// ReadKeys compares the keys with their manifest and keeps nothing.
func (s *Source) ReadKeys(ctx context.Context) error { return s.keys.read(ctx, s.keysDir, nil) }

// ReadData compares everything else. Check comes first.
func (s *Source) ReadData(ctx context.Context, progress func(bytes int64)) error {
	if !s.verified {
		return notChecked()
	}
	return s.data.read(ctx, s.dataDir, progress)
}

func notChecked() error {
	return &claimdlq.Error{Code: claimdlq.Internal, Op: restoring, On: "a manifest that was not checked"}
}

const restoring = "restore"

func (m signed) restore(ctx context.Context, from, to string, progress func(int64)) error {
	for _, f := range m.Files {
		path := filepath.FromSlash(f.Path)
		dir := filepath.Dir(filepath.Join(to, path))
		if err := atomicfile.MkdirAll(dir, dirPerm); err != nil {
			return ioError(restoring, err)
		}
		c, err := copyFile(ctx, filepath.Join(from, path), filepath.Join(to, path), -1)
		if err = f.same(ctx, c, err); err != nil {
			return err
		}
		if progress != nil {
			progress(c.size)
		}
	}
	if err := syncTree(to); err != nil {
		return ioError(restoring, err)
	}
	return nil
}

func (m signed) read(ctx context.Context, from string, progress func(int64)) error {
	for _, f := range m.Files {
		c, err := sumFile(ctx, filepath.Join(from, filepath.FromSlash(f.Path)))
		if err = f.same(ctx, c, err); err != nil {
			return err
		}
		if progress != nil {
			progress(c.size)
		}
	}
	return nil
}

// same says by its name which file is not what the manifest says.
func (f File) same(ctx context.Context, c copied, err error) error {
	bad := &claimdlq.Error{Code: claimdlq.Corrupt, Op: restoring, Hint: "the backup is damaged: restore another one; nothing was put back"}
	switch {
	case os.IsNotExist(err):
		bad.On = f.Path + " is missing"
		return bad
	case err != nil && ctx.Err() != nil:
		return &claimdlq.Error{Code: claimdlq.Unavailable, Op: restoring, Err: context.Cause(ctx)}
	case err != nil:
		return ioError(restoring, err)
	case c.size != f.Size:
		bad.On = f.Path + " has another size than when it was made"
		return bad
	case c.sum != f.SHA256:
		bad.On = f.Path + " is not what it was when it was made"
		return bad
	}
	return nil
}

// sumFile is copyFile without a copy.
func sumFile(ctx context.Context, path string) (c copied, err error) {
	in, err := os.Open(path)
	if err != nil {
		return c, err
	}
	defer in.Close()
	h := newSum()
	if c.size, err = io.Copy(h, &reader{ctx, in}); err != nil {
		return c, err
	}
	c.sum = h.hex()
	return c, nil
}
