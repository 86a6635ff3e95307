package backup

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"claimdlq"
	"claimdlq/internal/atomicfile"
)

const (
	manifestFile  = "manifest.json"
	signatureFile = "manifest.sig"
	format        = 1
	// maxManifest bounds what is read of one: some hundred bytes a file.
	maxManifest = 256 << 20
	// signedText is the first line of what is signed.
	signedText = "claimdlq backup"
	// nameLayout is a backup's name. It sorts by age.
	nameLayout = "20060102T150405Z"
)

// Part is one of the two halves of a backup.
type Part string

// The parts.
const (
	PartData Part = "data"
	PartKeys Part = "keys"
)

// Manifest says what a backup is.
type Manifest struct {
	Format int    `json:"format"`
	Name   string `json:"name"`
	Part   Part   `json:"part"`
	// Began and Ended are when it was made; Program is the version that made it.
	Began   time.Time `json:"began"`
	Ended   time.Time `json:"ended"`
	Program string    `json:"program"`
	// Position is where the journal ended, in bytes ever written; LastEntry the newest
	// audit entry in it.
	Position  int64  `json:"position,omitempty"`
	LastEntry uint64 `json:"last_entry,omitempty"`
	// Audited is how many entries the audit log had, and Checkpoint what signs it.
	Audited    uint64 `json:"audited,omitempty"`
	Checkpoint string `json:"checkpoint,omitempty"`
	// Keys is the SHA-256 of the manifest of the other half.
	Keys  string `json:"keys,omitempty"`
	Files []File `json:"files"`
}

// File is one file of a backup.
type File struct {
	Path   string `json:"path"` // with slashes, in the data directory
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
	// Modified is when the original was changed last, in nanoseconds since 1970.
	Modified int64 `json:"modified"`
}

// Bytes is the sum of the sizes.
func (m Manifest) Bytes() (n int64) {
	for _, f := range m.Files {
		n += f.Size
	}
	return n
}

// write puts the manifest and its signature into dir, and returns its SHA-256.
func (m Manifest) write(dir string, s note.Signer) (sum string, err error) {
	const op = "write manifest"
	b, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return "", &claimdlq.Error{Code: claimdlq.Internal, Op: op, Err: err}
	}
	sum = hexSum(b)
	sig, err := note.Sign(&note.Note{Text: signedText + "\n" + sum + "\n"}, s)
	if err != nil {
		return "", &claimdlq.Error{Code: claimdlq.Internal, Op: op, Err: err}
	}
	if err := atomicfile.WriteFile(filepath.Join(dir, manifestFile), b, filePerm); err != nil {
		return "", ioError(op, err)
	}
	if err := atomicfile.WriteFile(filepath.Join(dir, signatureFile), sig, filePerm); err != nil {
		return "", ioError(op, err)
	}
	return sum, nil
}

// signed is a manifest as it was read, with what its signature is over.
type signed struct {
	Manifest

	sum string
	sig []byte
}

// readManifest reads the manifest of the backup in dir. Its signature is not looked at
// yet: see check.
func readManifest(dir string, part Part) (m signed, err error) {
	const op = "read manifest"
	b, err := readSmall(filepath.Join(dir, manifestFile))
	if err != nil {
		return m, ioError(op, err)
	}
	if m.sig, err = readSmall(filepath.Join(dir, signatureFile)); err != nil {
		return m, ioError(op, err)
	}
	m.sum = hexSum(b)
	bad := &claimdlq.Error{Code: claimdlq.Corrupt, Op: op, On: manifestFile, Hint: "take another backup"}
	if json.Unmarshal(b, &m.Manifest) != nil {
		return m, bad
	}
	switch {
	case m.Format != format:
		return m, &claimdlq.Error{Code: claimdlq.Invalid, Op: op, On: manifestFile, Hint: "it is of another version of the program: restore it with that one"}
	case m.Part != part:
		return m, &claimdlq.Error{Code: claimdlq.Invalid, Op: op, On: manifestFile, Hint: "--from names the half with vault/ in it, --keys-from the half with keys/"}
	}
	for _, f := range m.Files {
		if !filepath.IsLocal(filepath.FromSlash(f.Path)) || f.Size < 0 {
			return m, bad
		}
	}
	return m, nil
}

// check holds the manifest against its signature.
func (m signed) check(v note.Verifier) error {
	bad := &claimdlq.Error{
		Code: claimdlq.Corrupt, Op: "check manifest", On: manifestFile + " of " + string(m.Part),
		Hint: "it is not what was signed, or by another key: take another backup",
	}
	n, err := note.Open(m.sig, note.VerifierList(v))
	if err != nil || len(n.Sigs) != 1 || n.Text != signedText+"\n"+m.sum+"\n" {
		return bad
	}
	return nil
}

func readSmall(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxManifest))
}

func hexSum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// isName reports whether a directory's name is that of a whole backup.
func isName(name string) bool {
	_, err := time.Parse(nameLayout, name)
	return err == nil
}

// ioError gives an error of the operating system its code, and keeps its path out.
func ioError(op string, err error) error {
	code := claimdlq.Unavailable
	if os.IsNotExist(err) {
		code = claimdlq.NotFound
	}
	e := &claimdlq.Error{Code: code, Op: op, Err: err}
	if pe := pathError(err); pe != nil {
		e.On, e.Err = filepath.Base(pe.Path), pe.Err
	}
	return e
}

// hidden reports whether a file is a temporary one, or of the process alone.
func hidden(name string) bool { return strings.HasPrefix(name, ".") }
