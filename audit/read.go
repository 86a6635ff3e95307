package audit

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"slices"
	"time"

	"claimdlq"
)

// The log's files are lines of JSON with their fields in a fixed order. Most lines are about something else than what is asked for, so they are
// passed over by their bytes and only the others are decoded.

// Bound limits what is read of the log; zero is no limit.
type Bound struct {
	Entries int   // the latest
	Bytes   int64 // of the files
}

// History is what the log says about one record.
type History struct {
	Entries []claimdlq.Entry // oldest first
	Cut     int              // how many older ones the bound left out
	Whole   bool             // false where the log goes on behind the bound
}

// blockSize is how much of a file is read at a time when it is read backwards.
const blockSize = 256 << 10

// maxLine is longer than any line.
const maxLine = 64 << 10

// Decode reads a line of the log. Errors: Corrupt.
func Decode(line []byte) (claimdlq.Entry, error) {
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

// Backwards calls f for the lines of the log in dir up to a sequence number, newest
// first, until f returns false or so many bytes were read; then more is true and next is
// the sequence number of the last line that f saw. It may run beside a Log. Errors:
// those of f, NotFound, Unavailable, Corrupt.
func Backwards(ctx context.Context, dir string, high uint64, most int64, f func(line []byte) (bool, error)) (next uint64, more bool, err error) {
	files, err := segments(dir)
	if err != nil {
		return 0, false, err
	}
	left := most
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
		return false, unavailable("read audit log", err)
	}
	defer file.Close()
	end, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return false, unavailable("read audit log", err)
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
			return false, unavailable("read audit log", err)
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

// About returns the entries of the log in dir about a record, and about the submissions
// that carried it. It reads from the file on in which the record came in, and may run
// beside a Log. Errors: NotFound, Unavailable, Corrupt.
func About(ctx context.Context, dir string, rec claimdlq.Record, b Bound) (History, error) {
	files, err := segments(dir)
	if err != nil {
		return History{}, err
	}
	x := about{is: AboutRecord(rec.ID), carried: map[uint64]bool{}, most: cmp.Or(b.Entries, math.MaxInt)}
	if rec.Submission != 0 {
		x.carried[uint64(rec.Submission)] = true
	}
	left := cmp.Or(b.Bytes, math.MaxInt64)
	for _, file := range files[beginning(files, rec.CreatedAt.Add(-time.Second)):] {
		if left <= 0 {
			return x.History, nil
		}
		if err := x.file(ctx, file.path, &left); err != nil {
			return History{}, err
		}
	}
	x.Whole = true
	return x.History, nil
}

// AboutRecord tells lines about the record by their bytes.
func AboutRecord(id claimdlq.ID) func(line []byte) bool {
	one := []byte(oneField + id.String() + `,`)
	return func(line []byte) bool {
		if bytes.Contains(line, one) {
			return true
		}
		_, rest, ok := bytes.Cut(line, []byte(manyField))
		if !ok {
			return false
		}
		set, _, _ := bytes.Cut(rest, []byte(`"`))
		return claimdlq.IDSet(set).Has(id)
	}
}

// The fields that say which records a line is about: one, or a set of them.
const (
	oneField  = `,"record":`
	manyField = `,"records":"`
)

// ofRecord reports whether the line is about a record, or several.
func ofRecord(line []byte) bool {
	return bytes.Contains(line, []byte(oneField)) || bytes.Contains(line, []byte(manyField))
}

// beginning returns the index of the file in which a time lies: the last that begins
// before it.
func beginning(files []segment, at time.Time) (i int) {
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
	History

	is      func(line []byte) bool
	carried map[uint64]bool // submissions that carried it
	most    int
}

func (x *about) file(ctx context.Context, path string, left *int64) error {
	f, err := os.Open(path)
	if err != nil {
		return unavailable("read audit log", err)
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
			return unavailable("read audit log", err)
		}
		*left -= int64(len(line))
		if err := x.line(line); err != nil {
			return err
		}
	}
}

func (x *about) line(line []byte) error {
	if !x.is(line) && (ofRecord(line) || !x.carried[numberAfter(line, `,"submission":`)]) {
		return nil
	}
	e, err := Decode(line)
	if err != nil {
		return err
	}
	if e.Submission != 0 {
		x.carried[uint64(e.Submission)] = true
	}
	if x.Entries = append(x.Entries, e); len(x.Entries) > x.most {
		x.Entries, x.Cut = slices.Delete(x.Entries, 0, 1), x.Cut+1
	}
	return nil
}
