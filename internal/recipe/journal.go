package recipe

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"claimdlq"
	"claimdlq/flow/correct"
	"claimdlq/internal/atomicfile"
)

// line is one line of a journal: CRC-32 in eight hexadecimal digits, a space, this as
// JSON. One append is one line and one flush, so that a crash can tear the last only.
type line struct {
	What string    `json:"what"`
	At   time.Time `json:"at"`
	By   string    `json:"by,omitempty"`
	// Of lineIntent: items and the units that they are about to have.
	Items []int    `json:"items,omitempty"`
	Units []string `json:"units,omitempty"`
	// Of lineOutcome: what became of Items.
	Outcomes []correct.Verdict `json:"outcomes,omitempty"`
	Codes    []claimdlq.Detail `json:"codes,omitempty"`
}

const (
	lineApply   = "apply"
	lineIntent  = "intent"
	lineOutcome = "outcome"
	lineAsked   = "cancel_asked" // while it ran
	lineCancel  = "cancel"
	lineDone    = "done"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// journal appends to a recipe's history. It is for one goroutine at a time.
type journal struct{ f *os.File }

// readJournal hands the lines of a journal over in order, and cuts a torn end off.
// Errors: Corrupt, Unavailable.
func readJournal(path string, each func(*line)) error {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return ioError("read recipe's journal", err)
	}
	at := 0
	for at < len(b) {
		end := bytes.IndexByte(b[at:], '\n')
		l, ok := line{}, false
		if end > 9 {
			text := b[at : at+end]
			sum, err := strconv.ParseUint(string(text[:8]), 16, 32)
			ok = err == nil && uint32(sum) == crc32.Checksum(text[9:], castagnoli) && json.Unmarshal(text[9:], &l) == nil && l.whole()
		}
		if !ok {
			if end >= 0 && at+end+1 < len(b) {
				return &claimdlq.Error{Code: claimdlq.Corrupt, Op: "read recipe's journal", On: "byte " + strconv.Itoa(at)}
			}
			return cut(path, int64(at))
		}
		each(&l)
		at += end + 1
	}
	return nil
}

func (l *line) whole() bool {
	switch l.What {
	case lineIntent:
		return len(l.Units) == len(l.Items)
	case lineOutcome:
		return len(l.Outcomes) == len(l.Items) && len(l.Codes) == len(l.Items)
	}
	return true
}

func cut(path string, size int64) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0o600)
	if err != nil {
		return ioError("cut recipe's journal", err)
	}
	err = f.Truncate(size)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return ioError("cut recipe's journal", err)
	}
	return nil
}

func openJournal(path string) (*journal, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, ioError("open recipe's journal", err)
	}
	if err := atomicfile.SyncDir(filepath.Dir(path)); err != nil {
		_ = f.Close()
		return nil, ioError("open recipe's journal", err)
	}
	return &journal{f}, nil
}

// add appends a line, durably. After an error nobody knows what is on the disk: the
// journal is not used again before a restart has read it.
func (j *journal) add(l *line) error {
	b, err := json.Marshal(l)
	if err != nil {
		return &claimdlq.Error{Code: claimdlq.Internal, Op: "write recipe's journal", Err: err}
	}
	if _, err = fmt.Fprintf(j.f, "%08x %s\n", crc32.Checksum(b, castagnoli), b); err == nil {
		err = j.f.Sync()
	}
	if err != nil {
		return ioError("write recipe's journal", err)
	}
	return nil
}

func (j *journal) close() error { return j.f.Close() }

func ioError(op string, err error) error {
	return &claimdlq.Error{Code: claimdlq.Unavailable, Op: op, Err: err, Hint: "look at the disk and the permissions of the data directory"}
}
