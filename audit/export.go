package audit

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"claimdlq"
)

// Filter selects entries to export. Zero fields do not restrict.
type Filter struct {
	First, Last uint64    // sequence numbers, both included
	From, To    time.Time // From included, To not
	Record      claimdlq.ID
	Actor       string
	Action      claimdlq.Action
	// Proofs adds to each entry its inclusion proof, so that an auditor can check
	// it against the checkpoint without having the log.
	Proofs bool
}

func (f *Filter) match(e claimdlq.Entry) bool {
	return (f.First == 0 || e.Seq >= f.First) && (f.Last == 0 || e.Seq <= f.Last) &&
		(f.From.IsZero() || !e.At.Before(f.From)) && (f.To.IsZero() || e.At.Before(f.To)) &&
		(f.Record == 0 || e.About(f.Record)) &&
		(f.Actor == "" || e.Actor == f.Actor) && (f.Action == "" || e.Action == f.Action)
}

// exported is one line of an export: an entry with its proof, or, last, the
// checkpoint.
type exported struct {
	Entry      string           `json:"line,omitempty"` // exactly as logged
	Proof      tlog.RecordProof `json:"proof,omitempty"`
	Checkpoint string           `json:"checkpoint,omitempty"`
}

// Export writes the entries of the log in dir that match, one a line exactly as
// they were logged, and then a line {"checkpoint": …} with the newest checkpoint.
// With Proofs each line is {"line": the entry as logged, "proof": […]}, and only
// entries that the checkpoint covers are written. It returns how many entries were
// written. It may run beside a Log; call its
// Checkpoint first to cover everything.
func Export(ctx context.Context, w io.Writer, dir string, f Filter) (int, error) {
	msg, err := LastCheckpoint(dir)
	if err != nil {
		return 0, err
	}
	x := exporter{filter: f, w: bufio.NewWriter(w)}
	if msg != nil {
		text, _, _ := bytes.Cut(msg, []byte("\n\n"))
		h, err := parseHead(string(text) + "\n")
		if err != nil {
			return 0, err
		}
		x.signed = h.Size
	}
	if f.Proofs {
		if x.hashes, err = os.Open(filepath.Join(dir, hashesFile)); err != nil {
			return 0, unavailable("export audit log", err)
		}
		defer x.hashes.Close()
	}
	segs, err := segments(dir)
	if err != nil {
		return 0, err
	}
	for i, s := range segs {
		behind := i+1 < len(segs) && f.First >= segs[i+1].first
		if behind || f.Last > 0 && s.first > f.Last {
			continue
		}
		if err := ctx.Err(); err != nil {
			return x.n, unavailable("export audit log", err)
		}
		if err := x.file(s.path); err != nil {
			return x.n, err
		}
	}
	if msg != nil {
		if err := x.json(exported{Checkpoint: string(msg)}); err != nil {
			return x.n, err
		}
	}
	if err := x.w.Flush(); err != nil {
		return x.n, unavailable("export audit log", err)
	}
	return x.n, nil
}

type exporter struct {
	filter Filter
	w      *bufio.Writer
	hashes *os.File
	signed uint64
	n      int
}

func (x *exporter) file(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return unavailable("export audit log", err)
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<16)
	for {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil // what has no newline is being written
		}
		if err != nil {
			return unavailable("export audit log", err)
		}
		if err := x.line(bytes.TrimSuffix(line, []byte("\n"))); err != nil {
			return err
		}
	}
}

func (x *exporter) line(line []byte) error {
	var e claimdlq.Entry
	if err := json.Unmarshal(line, &e); err != nil {
		return &claimdlq.Error{Code: claimdlq.Corrupt, Op: "export audit log", Hint: "an entry is damaged: run audit verify"}
	}
	if !x.filter.match(e) || x.filter.Proofs && e.Seq > x.signed {
		return nil
	}
	x.n++
	if !x.filter.Proofs {
		if _, err := x.w.Write(append(line, '\n')); err != nil {
			return unavailable("export audit log", err)
		}
		return nil
	}
	proof, err := tlog.ProveRecord(int64(x.signed), int64(e.Seq)-1, storedHashes{x.hashes})
	if err != nil {
		return &claimdlq.Error{Code: claimdlq.Corrupt, Op: "export audit log", Hint: "the stored hashes are damaged: run audit verify"}
	}
	return x.json(exported{Entry: string(line), Proof: proof})
}

func (x *exporter) json(v exported) error {
	b, err := json.Marshal(v)
	if err != nil {
		return &claimdlq.Error{Code: claimdlq.Internal, Op: "export audit log", Err: err}
	}
	if _, err := x.w.Write(append(b, '\n')); err != nil {
		return unavailable("export audit log", err)
	}
	return nil
}

// VerifyExport checks an export that was made with Proofs: the checkpoint's
// signature, and that every entry is in the log that it signs. It returns how many
// entries hold. Errors: Corrupt (and which entry), Unavailable (reading).
func VerifyExport(r io.Reader, v note.Verifier) (int, error) {
	bad := func(hint string) error {
		return &claimdlq.Error{Code: claimdlq.Corrupt, Op: "verify export", Hint: hint}
	}
	dec := json.NewDecoder(r)
	var lines []exported
	for {
		var x exported
		err := dec.Decode(&x)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return 0, bad("it is not an export with proofs")
		}
		lines = append(lines, x)
	}
	if len(lines) == 0 {
		return 0, bad("it has no checkpoint")
	}
	last := len(lines) - 1
	h, err := ParseCheckpoint([]byte(lines[last].Checkpoint), v)
	if err != nil {
		return 0, err
	}
	for i, x := range lines[:last] {
		p, ok := parseLine([]byte(x.Entry))
		if !ok || p.seq == 0 || p.seq > h.Size {
			return i, bad("an entry is damaged")
		}
		leaf := tlog.RecordHash([]byte(x.Entry))
		if err := tlog.CheckRecord(x.Proof, int64(h.Size), h.Root, int64(p.seq)-1, leaf); err != nil {
			return i, &claimdlq.Error{Code: claimdlq.Corrupt, Op: "verify export", On: fmt.Sprintf("entry %d", p.seq), Hint: "it is not in the log that the checkpoint signs"}
		}
	}
	return last, nil
}
