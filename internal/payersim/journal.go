package payersim

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"sync"

	"claimdlq"
)

// journal is the file in which what the payer accepted survives it; a nil journal
// keeps nothing. Lines are appended in the order in which they were decided, and
// many callers share one flush to disk.
type journal struct {
	mu  sync.Mutex
	f   *os.File
	end int64
	err error // the first failure: nothing is kept after it

	flush  sync.Mutex
	synced int64
}

// journalLine is a line as it is read: of an interchange, or of a transmission.
type journalLine struct {
	entry
	rxLine
}

// openJournal calls apply for every line of the file at path and goes on after the
// last. A line that a crash cut short was never answered, and is dropped.
func openJournal(path string, apply func(journalLine)) (*journal, error) {
	if path == "" {
		return nil, nil //nolint:nilnil // a payer without a journal
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, journalError(claimdlq.Unavailable, err)
	}
	good, err := load(f, apply)
	if err == nil {
		err = f.Truncate(good)
	}
	if err == nil {
		_, err = f.Seek(good, io.SeekStart)
	}
	if err != nil {
		_ = f.Close()
		return nil, journalError(claimdlq.Corrupt, err)
	}
	return &journal{f: f, end: good, synced: good}, nil
}

// load returns where the whole lines end.
func load(r io.Reader, apply func(journalLine)) (int64, error) {
	b := bufio.NewReaderSize(r, 1<<20)
	var good int64
	for {
		line, err := b.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return good, nil
		}
		if err != nil {
			return 0, err
		}
		var e journalLine
		if err := json.Unmarshal(line, &e); err != nil {
			return 0, errors.New("a line cannot be read")
		}
		apply(e)
		good += int64(len(line))
	}
}

// add writes a line and returns where it ends; it is durable after sync.
func (j *journal) add(v any) (int64, error) {
	if j == nil {
		return 0, nil
	}
	b, err := json.Marshal(v)
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err == nil && err == nil {
		_, err = j.f.Write(append(b, '\n'))
		j.end += int64(len(b)) + 1
	}
	j.fail(err)
	return j.end, j.err
}

func (j *journal) fail(err error) {
	if err != nil && j.err == nil {
		j.err = journalError(claimdlq.Unavailable, err)
	}
}

// sync returns when everything before to is on disk.
func (j *journal) sync(to int64) error {
	if j == nil {
		return nil
	}
	j.flush.Lock()
	defer j.flush.Unlock()
	if j.synced >= to {
		return nil
	}
	j.mu.Lock()
	end, err := j.end, j.err
	j.mu.Unlock()
	if err != nil {
		return err
	}
	err = j.f.Sync()
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.fail(err); j.err != nil {
		return j.err
	}
	j.synced = end
	return nil
}

func (j *journal) close() error {
	if j == nil {
		return nil
	}
	return j.f.Close()
}

func journalError(code claimdlq.Code, err error) error {
	if p, ok := errors.AsType[*os.PathError](err); ok {
		err = p.Err
	}
	return &claimdlq.Error{Code: code, Op: "keep the payer's journal", Err: err}
}
