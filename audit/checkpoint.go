package audit

import (
	"bytes"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"claimdlq"
)

// origin is the first line of every checkpoint.
const origin = "claimdlq audit log"

const checkpointsFile = "checkpoints"

// Head is a size of the log with the root hash of its Merkle tree.
type Head struct {
	Size uint64    `json:"size"`
	Root tlog.Hash `json:"root"`
}

// sign returns the head as a signed note.
func sign(h Head, s note.Signer) ([]byte, error) {
	text := origin + "\n" + strconv.FormatUint(h.Size, 10) + "\n" + h.Root.String() + "\n"
	b, err := note.Sign(&note.Note{Text: text}, s)
	if err != nil {
		return nil, &claimdlq.Error{Code: claimdlq.Internal, Op: "sign audit log", Err: err}
	}
	return b, nil
}

var errCheckpoint = errors.New("not a checkpoint of this log's key")

// ParseCheckpoint returns the head that a checkpoint signs. Errors: Corrupt (not
// a checkpoint, or the signature is not the verifier's).
func ParseCheckpoint(msg []byte, v note.Verifier) (Head, error) {
	bad := &claimdlq.Error{Code: claimdlq.Corrupt, Op: "read checkpoint", Err: errCheckpoint}
	n, err := note.Open(msg, note.VerifierList(v))
	if err != nil || len(n.Sigs) != 1 || len(n.UnverifiedSigs) != 0 {
		return Head{}, bad
	}
	// Base64 has spare bits at its end: one signature must have one spelling.
	if _, err := base64.StdEncoding.Strict().DecodeString(n.Sigs[0].Base64); err != nil {
		return Head{}, bad
	}
	return parseHead(n.Text)
}

func parseHead(text string) (Head, error) {
	bad := &claimdlq.Error{Code: claimdlq.Corrupt, Op: "read checkpoint", Err: errCheckpoint}
	lines := strings.Split(text, "\n")
	if len(lines) != 4 || lines[0] != origin || lines[3] != "" {
		return Head{}, bad
	}
	size, err := strconv.ParseUint(lines[1], 10, 63)
	if err != nil {
		return Head{}, bad
	}
	root, err := tlog.ParseHash(lines[2])
	if err != nil {
		return Head{}, bad
	}
	return Head{size, root}, nil
}

// splitCheckpoints cuts the checkpoints file into notes. Each is text, an empty
// line, signatures, and an empty line that ends it; rest is what is not ended.
func splitCheckpoints(b []byte) (notes [][]byte, rest []byte) {
	for {
		text := bytes.Index(b, []byte("\n\n"))
		if text < 0 {
			return notes, b
		}
		sigs := bytes.Index(b[text+2:], []byte("\n\n"))
		if sigs < 0 {
			return notes, b
		}
		end := text + 2 + sigs + 1
		notes, b = append(notes, b[:end]), b[end+1:]
	}
}

// LastCheckpoint returns the newest checkpoint in dir, as an auditor keeps it; nil
// if there is none yet. It does not verify it.
func LastCheckpoint(dir string) ([]byte, error) {
	raw, err := os.ReadFile(filepath.Join(dir, checkpointsFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, unavailable("read checkpoint", err)
	}
	notes, _ := splitCheckpoints(raw)
	if len(notes) == 0 {
		return nil, nil
	}
	return notes[len(notes)-1], nil
}
