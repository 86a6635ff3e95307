package payersim

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"claimdlq"
	"claimdlq/internal/atomicfile"
)

// Folders a payer moves files into, inside the one it watches.
const (
	Taken      = "taken"      // what it has read
	Unreadable = "unreadable" // what holds no interchange
)

// Watch polls inDir until ctx ends, and returns nil then. Errors: Unavailable,
// when a folder cannot be used.
func (p *Payer) Watch(ctx context.Context, inDir, ackDir string, every time.Duration) error {
	for {
		if _, err := p.Poll(ctx, inDir, ackDir); err != nil && ctx.Err() == nil {
			return err
		}
		if !pause(ctx, every) {
			return nil
		}
	}
}

// Poll takes every file in inDir, in order of name, moves it to the subfolder
// taken, and writes its acknowledgments to ackDir, where each appears whole. A
// script's outage leaves a file for the next poll; a drop keeps its
// acknowledgments for it. It returns how many files it took.
func (p *Payer) Poll(ctx context.Context, inDir, ackDir string) (int, error) {
	entries, err := os.ReadDir(inDir)
	if err != nil {
		return 0, folderError("list the folder of claims", err)
	}
	p.mu.Lock()
	waiting := p.later(p.ledger.stats.Interchanges)
	p.mu.Unlock()
	if err := drop(ackDir, waiting); err != nil {
		p.putBack(waiting)
		return 0, folderError("write acknowledgments", err)
	}
	taken := 0
	for _, e := range entries {
		if !e.Type().IsRegular() || e.Name()[0] == '.' {
			continue
		}
		if err := ctx.Err(); err != nil {
			return taken, err
		}
		ok, err := p.pick(ctx, inDir, ackDir, e.Name())
		if err != nil {
			return taken, err
		}
		if ok {
			taken++
		}
	}
	return taken, nil
}

// pick takes one file and reports whether it did.
func (p *Payer) pick(ctx context.Context, inDir, ackDir, name string) (bool, error) {
	n, script := int(p.requests.Add(1)), p.currentScript()
	if _, out := script.outage(p.elapsed(), n); out {
		return false, nil
	}
	if a, ok := script.first("request", n, "latency"); ok && !pause(ctx, a.wait) {
		return false, ctx.Err()
	}
	f, err := os.Open(filepath.Join(inDir, name))
	if err != nil {
		return false, folderError("open a file of claims", err)
	}
	all, err := read(io.LimitReader(f, p.o.MaxBody), script)
	_ = f.Close()
	if err != nil {
		return false, folderError("read a file of claims", err)
	}
	if len(all) == 0 {
		return true, move(inDir, Unreadable, name)
	}
	files, err := p.take(all)
	if err != nil {
		return false, err
	}
	if _, dropped := script.first("request", n, "drop"); dropped {
		p.putBack(files)
		files = nil
	}
	if err := drop(ackDir, files); err != nil {
		p.putBack(files)
		return false, folderError("write acknowledgments", err)
	}
	return true, move(inDir, Taken, name)
}

func move(dir, sub, name string) error {
	to := filepath.Join(dir, sub)
	err := atomicfile.MkdirAll(to, 0o750)
	if err == nil {
		err = os.Rename(filepath.Join(dir, name), filepath.Join(to, name))
	}
	if err == nil {
		err = atomicfile.SyncDir(to)
	}
	if err != nil {
		return folderError("move a file of claims", err)
	}
	return nil
}

func folderError(op string, err error) error {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		err = p.Err
	case errors.As(err, &l):
		err = l.Err
	}
	return &claimdlq.Error{Code: claimdlq.Unavailable, Op: op, Err: err}
}
