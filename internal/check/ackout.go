package check

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"time"

	"claimdlq/internal/atomicfile"
	"claimdlq/wire/x12"
	"claimdlq/wire/x12ack"
)

// answerFiles writes the TA1 and the 999 that answer each interchange of a file,
// each into a file of its own that is there whole or not at all. Their names are
// made of the interchange's number and a hash of the path: a path may say whose
// claims these are.
type answerFiles struct {
	dir, mark string
	now       func() time.Time
	written   []string

	n    int
	file *atomicfile.File
	name string
	w999 *x12ack.Writer999
}

func newAnswerFiles(dir, path string, now func() time.Time) *answerFiles {
	sum := sha256.Sum256([]byte(path))
	return &answerFiles{dir: dir, mark: hex.EncodeToString(sum[:4]), now: now}
}

// event passes an event of the interchange that of began.
func (a *answerFiles) event(of *x12.InterchangeStart, ev x12.Event) error {
	switch e := ev.(type) {
	case *x12.InterchangeStart:
		a.n++
		return a.begin(of)
	case *x12.InterchangeEnd:
		return a.end(of, e)
	case *x12.GroupStart, *x12.Set, *x12.GroupEnd:
		if a.w999 != nil {
			a.w999.Event(ev)
		}
	}
	return nil
}

func (a *answerFiles) path(kind string, of *x12.InterchangeStart) string {
	return filepath.Join(a.dir, fmt.Sprintf("%s-%09d-%s-%d.x12", kind, of.Number, a.mark, a.n))
}

// numbers are the control numbers of the answers: those of what they answer, for
// check keeps no counters.
func (a *answerFiles) numbers(of *x12.InterchangeStart) x12.Numbers {
	n := x12.Numbers{ISA13: max(of.Number, 1), GS06: 1, Date: "20" + of.Envelope.Date, Time: of.Envelope.Time}
	if a.now != nil {
		t := a.now().UTC()
		n.Date, n.Time = t.Format("20060102"), t.Format("1504")
	} else if _, err := time.Parse("200601021504", n.Date+n.Time); err != nil {
		n.Date, n.Time = "20000101", "0000"
	}
	return n
}

func (a *answerFiles) begin(of *x12.InterchangeStart) (err error) {
	a.name = a.path("999", of)
	if a.file, err = atomicfile.Create(a.name, 0o600); err != nil {
		return unavailable(err)
	}
	if a.w999, err = x12ack.NewWriter999(a.file, of, a.numbers(of)); err != nil {
		a.file.Abort()
	}
	return err
}

// end keeps the 999 of an interchange that was received, and writes the TA1 that
// was asked for or that turns it down.
func (a *answerFiles) end(of *x12.InterchangeStart, e *x12.InterchangeEnd) error {
	groups, err := a.w999.Close()
	if err != nil || groups == 0 || e.TA1 == "R" {
		a.file.Abort()
	} else if err = a.file.Commit(); err == nil {
		a.written = append(a.written, filepath.Base(a.name))
	}
	a.w999 = nil
	if err != nil {
		return unavailable(err)
	}
	if !of.AckWanted && e.TA1 != "R" {
		return nil
	}
	name := a.path("ta1", of)
	f, err := atomicfile.Create(name, 0o600)
	if err != nil {
		return unavailable(err)
	}
	if err := x12ack.WriteTA1(f, of, e, a.numbers(of)); err != nil {
		f.Abort()
		return err
	}
	if err := f.Commit(); err != nil {
		return unavailable(err)
	}
	a.written = append(a.written, filepath.Base(name))
	return nil
}
