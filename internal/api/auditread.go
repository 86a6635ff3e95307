package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"claimdlq"
)

// The audit log's files are lines of JSON with their fields in a fixed order (package
// audit). Most lines are about something else than what is asked for, so they are
// passed over by their bytes and only the others are decoded.

// readMost bounds what one request reads of the log, in bytes.
const readMost = 1 << 30

// blockSize is how much of a file is read at a time when it is read backwards.
const blockSize = 256 << 10

// maxLine is longer than any line.
const maxLine = 64 << 10

// logFile is one file of the audit log.
type logFile struct {
	path  string
	first uint64 // sequence number of its first line
}

// logFiles lists the files of the log, oldest first.
func logFiles(dir string) ([]logFile, error) {
	names, err := os.ReadDir(dir)
	if err != nil {
		return nil, logUnread(err)
	}
	var out []logFile
	for _, n := range names {
		digits, ok := strings.CutSuffix(n.Name(), ".jsonl")
		if first, err := strconv.ParseUint(digits, 10, 64); ok && err == nil {
			out = append(out, logFile{filepath.Join(dir, n.Name()), first})
		}
	}
	return out, nil
}

func logUnread(err error) error {
	return &claimdlq.Error{Code: claimdlq.Unavailable, Op: "read audit log", Err: errors.Unwrap(err)}
}

// decodeLine reads a line of the log.
func decodeLine(line []byte) (claimdlq.Entry, error) {
	var e claimdlq.Entry
	if err := json.Unmarshal(line, &e); err != nil {
		return e, &claimdlq.Error{Code: claimdlq.Corrupt, Op: "read audit log", Hint: "verify it"}
	}
	return e, nil
}

// seqOf returns the sequence number of a line, 0 where it has none.
func seqOf(line []byte) uint64 { return numberAfter(line, `{"seq":`) }

// numberAfter returns the number that follows the first occurrence of a field's name.
// Texts have their quotes escaped, so that no text looks like a field.
func numberAfter(line []byte, field string) (n uint64) {
	_, rest, ok := bytes.Cut(line, []byte(field))
	if !ok {
		return 0
	}
	for _, c := range rest {
		if c < '0' || c > '9' {
			break
		}
		n = n*10 + uint64(c-'0')
	}
	return n
}

// backwards calls f for the lines of the log up to a sequence number, newest first,
// until f returns false or so much was read; then more is true and next is the sequence
// number of the last line that f saw.
func backwards(ctx context.Context, dir string, high uint64, f func(line []byte) (bool, error)) (next uint64, more bool, err error) {
	files, err := logFiles(dir)
	if err != nil {
		return 0, false, err
	}
	left := int64(readMost)
	for _, file := range slices.Backward(files) {
		if file.first > high {
			continue
		}
		more, err = fileBackwards(ctx, file.path, &left, func(line []byte) (bool, error) {
			seq := seqOf(line)
			if seq == 0 || seq > high {
				return true, nil
			}
			next = seq
			return f(line)
		})
		if err != nil || more {
			return next, more, err
		}
	}
	return next, false, nil
}

// fileBackwards calls f for the whole lines of a file, the last first. It reports
// whether it ended before the file's beginning.
func fileBackwards(ctx context.Context, path string, left *int64, f func(line []byte) (bool, error)) (bool, error) {
	file, err := os.Open(path)
	if err != nil {
		return false, logUnread(err)
	}
	defer file.Close()
	end, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return false, logUnread(err)
	}
	var tail []byte // of a line whose beginning lies in front of what was read
	for whole := false; end > 0; {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		n := min(end, blockSize)
		end, *left = end-n, *left-n
		block := make([]byte, n, int(n)+len(tail))
		if _, err := file.ReadAt(block, end); err != nil {
			return false, logUnread(err)
		}
		block = append(block, tail...)
		for {
			i := bytes.LastIndexByte(block, '\n')
			if i < 0 {
				break
			}
			line := block[i+1:]
			block = block[:i]
			if !whole { // what follows the last newline is being written
				whole = true
				continue
			}
			if goOn, err := f(line); err != nil || !goOn {
				return true, err
			}
		}
		if tail = block; len(tail) > maxLine {
			return false, &claimdlq.Error{Code: claimdlq.Corrupt, Op: "read audit log", Hint: "verify it"}
		}
		if end == 0 && whole && len(tail) > 0 {
			if goOn, err := f(tail); err != nil || !goOn {
				return true, err
			}
		}
		if *left <= 0 && end > 0 {
			return true, nil
		}
	}
	return false, nil
}

// timeline returns the entries about a record and about the submissions that carried
// it, oldest first, the latest most of them; cut is how many older ones there are, and
// whole is false where the log went on after so much was read.
func timeline(ctx context.Context, dir string, rec claimdlq.Record, most int) (out []claimdlq.Entry, cut int, whole bool, err error) {
	files, err := logFiles(dir)
	if err != nil {
		return nil, 0, false, err
	}
	x := about{id: []byte(`,"record":` + rec.ID.String() + `,`), carried: map[uint64]bool{}, most: most}
	if rec.Submission != 0 {
		x.carried[uint64(rec.Submission)] = true
	}
	left := int64(readMost)
	for _, file := range files[beginning(files, rec.CreatedAt.Add(-time.Second)):] {
		if left <= 0 {
			return x.out, x.cut, false, nil
		}
		if err := x.file(ctx, file.path, &left); err != nil {
			return nil, 0, false, err
		}
	}
	return x.out, x.cut, true, nil
}

// beginning returns the index of the file in which a time lies: the last that begins
// before it.
func beginning(files []logFile, at time.Time) (i int) {
	stamp := at.UTC().Format("2006-01-02T15:04:05.000Z")
	for n := len(files) - 1; n > 0; n-- {
		if first := firstStamp(files[n].path); first != "" && first < stamp {
			return n
		}
	}
	return 0
}

// firstStamp returns the time of a file's first line, of fixed width; "" where there is
// none.
func firstStamp(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	var head [128]byte
	n, _ := io.ReadFull(f, head[:]) // a short file is fine
	_, rest, ok := bytes.Cut(head[:n], []byte(`,"at":"`))
	stamp, _, closed := bytes.Cut(rest, []byte(`"`))
	if !ok || !closed {
		return ""
	}
	return string(stamp)
}

// about picks the entries about one record.
type about struct {
	id      []byte
	carried map[uint64]bool // submissions that carried it
	most    int
	out     []claimdlq.Entry
	cut     int
}

func (x *about) file(ctx context.Context, path string, left *int64) error {
	f, err := os.Open(path)
	if err != nil {
		return logUnread(err)
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<20)
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		line, err := r.ReadSlice('\n')
		if errors.Is(err, io.EOF) {
			return nil // what has no newline is being written
		}
		if err != nil {
			return logUnread(err)
		}
		*left -= int64(len(line))
		if err := x.line(line); err != nil {
			return err
		}
	}
}

func (x *about) line(line []byte) error {
	i := bytes.Index(line, []byte(`,"record":`))
	switch {
	case i >= 0 && !bytes.HasPrefix(line[i:], x.id):
		return nil
	case i < 0 && !x.carried[numberAfter(line, `,"submission":`)]:
		return nil
	}
	e, err := decodeLine(line)
	if err != nil {
		return err
	}
	if e.Submission != 0 {
		x.carried[uint64(e.Submission)] = true
	}
	if x.out = append(x.out, e); len(x.out) > x.most {
		x.out, x.cut = slices.Delete(x.out, 0, 1), x.cut+1
	}
	return nil
}
