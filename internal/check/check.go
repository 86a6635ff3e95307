// Package check judges a file without storing anything: what a payer would answer,
// and every fault with its place and code, never a value.
//
// A file that is no X12 at all gets a report too, with the verdict POISON and what
// it seems to be. An error is returned only where the file cannot be read.
package check

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"claimdlq"
	"claimdlq/classify"
	"claimdlq/internal/atomicfile"
	"claimdlq/wire/x12"
	"claimdlq/wire/x12ack"
)

// Options tune File. The zero value is usable.
type Options struct {
	// Rules judge the claims. Default: the latest embedded rules.
	Rules *x12.Rules
	// AckOut is a folder for the TA1 and 999 that answer the file. Default: none
	// are written.
	AckOut string
	// Sent are claim files, or folders of them, in which to look for what a 999
	// answers. Default: the folder of the acknowledgment. A pharmacy answer is
	// compared with the request among the files. Default: with none.
	Sent []string
	// Progress is told how many bytes have been read, now and then. Default: nobody.
	Progress func(bytes int64)
	// Now dates the acknowledgments. Default: the date of what they answer.
	Now func() time.Time
	// Reveal shows what identifies a pharmacy claim: prescription, fill, product and
	// quantity. Default: they are masked.
	Reveal bool
	// Answer says that a pharmacy file is an answer to something that was sent, so
	// that a request in it is an echo. Default: by its name, res_ or response at
	// the beginning, or .res or .rsp at the end.
	Answer bool
	// Pharmacy are the partners' own rules for pharmacy answers. Default: none.
	Pharmacy *classify.NCPDPRules
}

// File judges the file at path. Errors: NotFound, Unavailable (no permission, or
// the disk failed), Invalid (a folder).
func File(ctx context.Context, path string, o Options) (Report, error) {
	f, err := open(path)
	if err != nil {
		return Report{}, err
	}
	defer func() { _ = f.Close() }()
	if o.Rules == nil {
		o.Rules = x12.LatestRules()
	}
	in := bufio.NewReaderSize(f, headSize)
	if p, err := pharmacy(ctx, path, in, o); p != nil || err != nil {
		return Report{NCPDP: p}, err
	}
	if o.AckOut != "" {
		if err := atomicfile.MkdirAll(o.AckOut, 0o700); err != nil {
			return Report{}, unavailable(err)
		}
	}
	c := newChecker(path, o)
	if err := c.scan(ctx, in); err != nil {
		return Report{}, err
	}
	if c.acks {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return Report{}, unavailable(err)
		}
		a, err := x12ack.Read(f)
		if err != nil {
			return Report{}, unavailable(err)
		}
		c.answers(ctx, a)
	}
	return c.report, nil
}

func open(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, unavailable(err)
	}
	st, err := f.Stat()
	switch {
	case err != nil:
		err = unavailable(err)
	case st.IsDir():
		err = &claimdlq.Error{Code: claimdlq.Invalid, Op: "read file", Hint: "it is a folder: name the files in it"}
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// unavailable turns an error of the file system into ours, without the name that
// it carries: a name may say whose claims these are.
func unavailable(err error) error {
	e := &claimdlq.Error{Code: claimdlq.Unavailable, Op: "read file"}
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	e.Err = err
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Code = claimdlq.NotFound
	case errors.Is(err, fs.ErrPermission):
		e.Hint = "check who may read it"
	}
	return e
}
