package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// Kind says what was done to a log.
type Kind string

// The kinds of damage.
const (
	Changed    Kind = "changed"     // an entry is not what it was, or is no entry
	Removed    Kind = "removed"     // entries are missing in the middle
	Inserted   Kind = "inserted"    // a line that has no place
	Reordered  Kind = "reordered"   // an entry at a place that is not its own
	Truncated  Kind = "truncated"   // entries that were signed are missing at the end
	RolledBack Kind = "rolled_back" // the log is not a continuation of the kept checkpoint
	Rewritten  Kind = "rewritten"   // entries and chain agree, but not with what was signed
	Unsigned   Kind = "unsigned"    // a checkpoint is missing, damaged or not signed by the key
	TreeDamage Kind = "tree"        // the stored hashes do not belong to the entries
	FileDamage Kind = "file"        // a file is missing or its name is wrong
)

// Problem is one thing that is wrong with a log, and where.
type Problem struct {
	Kind Kind `json:"kind"`
	// Seq is the entry concerned, or the first of those.
	Seq uint64 `json:"seq"`
	// Last is the last entry concerned, if there are several.
	Last uint64 `json:"last,omitempty"`
	// File and Line (from 1) say where that is, as far as it is in one place.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
}

// String returns the problem as a line for people.
func (p Problem) String() string {
	s := fmt.Sprintf("%s: entry %d", p.Kind, p.Seq)
	if p.Last > p.Seq {
		s += fmt.Sprintf(" to %d", p.Last)
	}
	if p.File != "" {
		s += " in " + p.File
	}
	if p.Line > 0 {
		s += fmt.Sprintf(", line %d", p.Line)
	}
	return s
}

// Report is what Verify found.
type Report struct {
	Entries     uint64 `json:"entries"`
	Files       int    `json:"files"`
	Checkpoints int    `json:"checkpoints"`
	// Signed is the size that the newest good checkpoint signs. Entries behind it
	// are guarded by the chain only.
	Signed uint64 `json:"signed"`
	// Root is the root hash over all entries.
	Root tlog.Hash `json:"root"`
	// KeptAt is the size of the kept checkpoint that was compared; 0 without one.
	KeptAt uint64 `json:"kept_at,omitempty"`
	// Aside counts damaged tails that opening the log after a crash kept aside, in
	// files named .damaged; the log itself goes on without them.
	Aside int `json:"aside,omitempty"`
	// Problems are at most 100; More counts the others.
	Problems []Problem `json:"problems"`
	More     int       `json:"more,omitempty"`
}

// OK reports whether nothing is wrong.
func (r Report) OK() bool { return len(r.Problems) == 0 }

const maxProblems = 100

func (r *Report) add(p Problem) {
	if len(r.Problems) >= maxProblems {
		r.More++
		return
	}
	r.Problems = append(r.Problems, p)
}

// Verify recomputes the log in dir and compares it with its chain, its stored
// hashes, its checkpoints, and, if kept is not empty, with a checkpoint that was
// kept elsewhere. It needs the files and the public key, no store; nobody may be
// writing the log meanwhile. What is wrong is in the report; an error means that
// it could not be found out: Corrupt (kept is not a checkpoint of this key),
// NotFound (no log), Unavailable.
func Verify(ctx context.Context, dir string, v note.Verifier, kept []byte) (Report, error) {
	c := checker{dir: dir, heads: map[uint64][]head{}, prev: genesis, known: true, next: 1}
	if len(bytes.TrimSpace(kept)) > 0 {
		h, err := ParseCheckpoint(kept, v)
		if err != nil {
			return Report{}, err
		}
		c.KeptAt = h.Size
		c.want(h, RolledBack)
	}
	if err := c.readCheckpoints(v); err != nil {
		return Report{}, err
	}
	if err := c.readEntries(ctx); err != nil {
		return Report{}, err
	}
	c.conclude()
	aside, err := filepath.Glob(filepath.Join(dir, "*"+asideExt))
	if err != nil {
		return Report{}, unavailable("verify audit log", err)
	}
	c.Aside = len(aside)
	if c.Problems == nil {
		c.Problems = []Problem{}
	}
	return c.Report, nil
}

// head is a root hash that the log must have had at some size.
type head struct {
	root tlog.Hash
	kind Kind // what it means if it had another
}

// checker is the state of one verification.
type checker struct {
	Report
	dir   string
	heads map[uint64][]head

	// The chain, in the order of the lines.
	next    uint64    // sequence number that should come
	prev    tlog.Hash // chain value before it
	known   bool      // prev can be relied on
	missing map[uint64]bool
	gaps    []Problem

	// The tree, over the lines as they are.
	tree       tree
	hashes     *hashReader
	treeBroken bool
	lastGood   uint64 // size up to which a signed root was right
}

func (c *checker) want(h Head, k Kind) { c.heads[h.Size] = append(c.heads[h.Size], head{h.Root, k}) }

// readCheckpoints verifies every signature. A torn one at the end is a problem
// too: Open cuts it off, so a log that was opened since has none.
func (c *checker) readCheckpoints(v note.Verifier) error {
	raw, err := os.ReadFile(filepath.Join(c.dir, checkpointsFile))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return unavailable("verify audit log", err)
	}
	notes, rest := splitCheckpoints(raw)
	if len(rest) > 0 {
		c.add(Problem{Kind: Unsigned, File: checkpointsFile, Seq: c.Signed + 1})
	}
	for i, msg := range notes {
		h, err := ParseCheckpoint(msg, v)
		if err != nil || h.Size <= c.Signed {
			c.add(Problem{Kind: Unsigned, File: checkpointsFile, Line: i + 1, Seq: c.Signed + 1})
			continue
		}
		c.Checkpoints++
		c.Signed = h.Size
		c.want(h, Rewritten)
	}
	return nil
}

// readEntries checks the files of entries, chain and tree side by side.
func (c *checker) readEntries(ctx context.Context) error {
	segs, err := segments(c.dir)
	if err != nil {
		return err
	}
	if c.hashes, err = openHashes(filepath.Join(c.dir, hashesFile)); err != nil {
		return err
	}
	defer c.hashes.close()
	c.Files = len(segs)
	c.missing = map[uint64]bool{}
	for _, s := range segs {
		if err := ctx.Err(); err != nil {
			return unavailable("verify audit log", err)
		}
		raw, err := os.ReadFile(s.path)
		if err != nil {
			return unavailable("verify audit log", err)
		}
		if s.first != c.next {
			c.add(Problem{Kind: FileDamage, Seq: c.next, File: filepath.Base(s.path)})
		}
		var treeProblems Report
		var wg sync.WaitGroup
		wg.Go(func() { c.checkTree(raw, &treeProblems) })
		c.checkChain(filepath.Base(s.path), raw)
		wg.Wait()
		for _, p := range treeProblems.Problems {
			c.add(p)
		}
	}
	if !c.treeBroken && !c.hashes.atEnd() {
		c.add(Problem{Kind: TreeDamage, Seq: uint64(c.tree.n) + 1, File: hashesFile})
	}
	return nil
}

// conclude judges what only the end shows.
func (c *checker) conclude() {
	c.Entries = uint64(c.tree.n)
	c.Root = c.tree.root()
	for _, p := range c.gaps {
		c.add(p)
	}
	for _, size := range slices.Sorted(maps.Keys(c.heads)) {
		for _, h := range c.heads[size] {
			if size <= c.Entries {
				continue
			}
			kind := Truncated
			if h.kind == RolledBack {
				kind = RolledBack
			}
			c.add(Problem{Kind: kind, Seq: c.Entries + 1, Last: size})
		}
	}
	if c.KeptAt > c.Signed {
		c.add(Problem{Kind: RolledBack, Seq: c.Signed + 1, Last: c.KeptAt, File: checkpointsFile})
	}
}
