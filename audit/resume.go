package audit

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"golang.org/x/mod/sumdb/tlog"

	"claimdlq"
	"claimdlq/internal/atomicfile"
)

// resume finds the end of the log. It reads the checkpoints and the last file of
// entries only, so that opening does not take longer with the years.
func (l *Log) resume() (err error) {
	if err := atomicfile.Sweep(l.dir); err != nil {
		return unavailable("open audit log", err)
	}
	for name, f := range map[string]**os.File{hashesFile: &l.hashes, checkpointsFile: &l.notes} {
		if *f, err = os.OpenFile(l.path(name), os.O_RDWR|os.O_CREATE, filePerm); err != nil {
			return unavailable("open audit log", err)
		}
	}
	if err := atomicfile.SyncDir(l.dir); err != nil {
		return l.failed(err)
	}
	if err := l.readCheckpoints(); err != nil {
		return err
	}
	segs, err := segments(l.dir)
	if err != nil {
		return err
	}
	if len(segs) == 0 {
		return l.agree()
	}
	last := len(segs) - 1
	if err := l.before(segs, last); err != nil {
		return err
	}
	if l.f, err = os.OpenFile(segs[last].path, os.O_RDWR, 0); err != nil {
		return unavailable("open audit log", err)
	}
	if err := l.readTail(); err != nil {
		return err
	}
	return l.agree()
}

// agree refuses a log that is shorter than what was signed.
func (l *Log) agree() error {
	if uint64(l.tree.n) < l.signed {
		return l.corrupt(uint64(l.tree.n) + 1)
	}
	return nil
}

func (l *Log) corrupt(seq uint64) error {
	return &claimdlq.Error{
		Code: claimdlq.Corrupt, Op: "open audit log", On: fmt.Sprintf("entry %d", seq),
		Hint: "signed entries are damaged or missing: run audit verify, then restore the audit directory from its backup",
	}
}

// readCheckpoints finds the last whole checkpoint; a torn one is cut off.
func (l *Log) readCheckpoints() error {
	raw, err := io.ReadAll(l.notes)
	if err != nil {
		return unavailable("open audit log", err)
	}
	notes, rest := splitCheckpoints(raw)
	l.noteEnd = int64(len(raw) - len(rest))
	if len(rest) > 0 {
		if err := l.notes.Truncate(l.noteEnd); err != nil {
			return unavailable("open audit log", err)
		}
	}
	if len(notes) == 0 {
		return nil
	}
	l.last = notes[len(notes)-1]
	text, _, _ := bytes.Cut(l.last, []byte("\n\n"))
	head, err := parseHead(string(text) + "\n")
	l.signed = head.Size
	return err
}

// before sets chain and tree to what they were at the start of the last file. If
// the stored hashes do not reach that far, all files are read to make them anew.
func (l *Log) before(segs []segment, last int) error {
	n := int64(segs[last].first) - 1
	info, err := l.hashes.Stat()
	if err != nil {
		return unavailable("open audit log", err)
	}
	if info.Size() < tlog.StoredHashCount(n)*tlog.HashSize {
		return l.rebuild(segs[:last])
	}
	if n == 0 {
		return nil
	}
	if last == 0 {
		return l.corrupt(1)
	}
	prev, err := os.ReadFile(segs[last-1].path)
	if err != nil {
		return unavailable("open audit log", err)
	}
	prev = bytes.TrimSuffix(prev, []byte("\n"))
	p, ok := parseLine(prev[bytes.LastIndexByte(prev, '\n')+1:])
	if !ok || p.seq != uint64(n) {
		return l.corrupt(uint64(n))
	}
	l.chain = p.stated()
	if l.tree, err = load(n, storedHashes{l.hashes}); err != nil {
		return unavailable("open audit log", err)
	}
	return nil
}

// rebuild makes the stored hashes anew from whole files.
func (l *Log) rebuild(segs []segment) error {
	for _, s := range segs {
		raw, err := os.ReadFile(s.path)
		if err != nil {
			return unavailable("open audit log", err)
		}
		if n := l.take(raw); n < len(raw) {
			return l.corrupt(uint64(l.tree.n) + 1)
		}
		if err := l.storeHashes(); err != nil {
			return err
		}
	}
	return nil
}

// readTail reads the last file. What does not follow is cut off if it was never
// signed: entries that were acknowledged are in the store until they are here. A
// damaged tail of more than one torn line is kept aside, for whoever asks why.
func (l *Log) readTail() error {
	raw, err := io.ReadAll(l.f)
	if err != nil {
		return unavailable("open audit log", err)
	}
	n := l.take(raw)
	l.offset = int64(n)
	if err := l.storeHashes(); err != nil {
		return err
	}
	rest := raw[n:]
	if len(rest) == 0 {
		return nil
	}
	next := uint64(l.tree.n) + 1
	if next <= l.signed {
		return l.corrupt(next)
	}
	if bytes.IndexByte(rest, '\n') >= 0 {
		aside := l.path(fmt.Sprintf("%020d%s", next, asideExt))
		if err := atomicfile.WriteFile(aside, rest, filePerm); err != nil {
			return l.failed(err)
		}
	}
	if err := l.f.Truncate(l.offset); err != nil {
		return unavailable("open audit log", err)
	}
	return l.sync(l.f)
}

// take adds the lines of raw that follow the log, and returns their length.
func (l *Log) take(raw []byte) (n int) {
	for {
		end := bytes.IndexByte(raw[n:], '\n')
		if end < 0 {
			return n
		}
		line := raw[n : n+end]
		p, ok := parseLine(line)
		if !ok || p.seq != uint64(l.tree.n)+1 {
			return n
		}
		chain, ok := p.linked(l.chain)
		if !ok {
			return n
		}
		for _, h := range l.tree.add(tlog.RecordHash(line)) {
			l.pendingHashes = append(l.pendingHashes, h[:]...)
		}
		l.chain = chain
		n += end + 1
	}
}

// storeHashes writes the hashes that take gathered, which end at the log's size.
func (l *Log) storeHashes() error {
	end := tlog.StoredHashCount(l.tree.n) * tlog.HashSize
	b := l.pendingHashes
	l.pendingHashes = nil
	if len(b) > 0 {
		if err := l.disk.writeAt(l.hashes, b, end-int64(len(b))); err != nil {
			return unavailable("open audit log", err)
		}
	}
	if err := l.hashes.Truncate(end); err != nil {
		return unavailable("open audit log", err)
	}
	return nil
}
