package audit

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"

	"golang.org/x/mod/sumdb/tlog"
)

// checkChain follows sequence numbers and chain values through one file.
func (c *checker) checkChain(file string, raw []byte) {
	for line := 1; len(raw) > 0; line++ {
		text, rest, ended := bytes.Cut(raw, []byte("\n"))
		raw = rest
		at := Problem{Kind: Changed, Seq: c.next, File: file, Line: line}
		p, ok := parseLine(text)
		switch {
		case !ended || !ok:
			c.add(at)
			c.next, c.known = c.next+1, false
		case p.seq == c.next:
			c.checkLink(p, at)
		case p.seq > c.next && p.seq-c.next < maxGap:
			c.gap(p, at)
		default:
			c.misplaced(p, at)
		}
	}
}

// maxGap bounds how far a sequence number is believed: a changed digit must not
// make the rest of the log look wrong.
const maxGap = 1 << 20

// checkLink checks the chain value of a line that is where it belongs.
func (c *checker) checkLink(p parsed, at Problem) {
	c.next++
	if !c.known {
		c.prev, c.known = p.stated(), true
		return
	}
	chain, ok := p.linked(c.prev)
	if !ok {
		c.add(at)
		chain = p.stated()
	}
	c.prev = chain
}

// gap notes that the entries before the line are not there; they may yet come.
func (c *checker) gap(p parsed, at Problem) {
	at.Kind, at.Last = Removed, p.seq-1
	c.gaps = append(c.gaps, at)
	for seq := c.next; seq < p.seq && len(c.missing) < maxGap; seq++ {
		c.missing[seq] = true
	}
	c.next, c.prev, c.known = p.seq+1, p.stated(), true
}

// misplaced is a line whose number has been, or cannot be yet.
func (c *checker) misplaced(p parsed, at Problem) {
	at.Kind, at.Seq = Inserted, p.seq
	switch {
	case c.missing[p.seq]:
		at.Kind = Reordered
		delete(c.missing, p.seq)
	case p.seq > c.next: // a number out of the blue
		at.Kind, at.Seq = Changed, c.next
		c.next, c.known = c.next+1, false
	}
	c.add(at)
}

// checkTree hashes the lines of one file into the tree and compares with the
// stored hashes and the signed roots. It runs beside checkChain and touches none
// of its state.
func (c *checker) checkTree(raw []byte, out *Report) {
	for len(raw) > 0 {
		text, rest, _ := bytes.Cut(raw, []byte("\n"))
		raw = rest
		for _, h := range c.tree.add(tlog.RecordHash(text)) {
			if !c.treeBroken && !c.hashes.next(h) {
				c.treeBroken = true // everything behind it differs as well
				out.add(Problem{Kind: TreeDamage, Seq: uint64(c.tree.n), File: hashesFile})
			}
		}
		for _, h := range c.heads[uint64(c.tree.n)] {
			if c.tree.root() != h.root {
				out.add(Problem{Kind: h.kind, Seq: c.lastGood + 1, Last: uint64(c.tree.n)})
				continue
			}
			c.lastGood = uint64(c.tree.n)
		}
	}
}

// hashReader reads the hashes file from its start.
type hashReader struct {
	f *os.File
	r *bufio.Reader
}

func openHashes(path string) (*hashReader, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return &hashReader{r: bufio.NewReader(bytes.NewReader(nil))}, nil
	}
	if err != nil {
		return nil, unavailable("verify audit log", err)
	}
	return &hashReader{f, bufio.NewReaderSize(f, 1<<14)}, nil
}

// next reports whether the next stored hash is h.
func (r *hashReader) next(h tlog.Hash) bool {
	var got tlog.Hash
	_, err := io.ReadFull(r.r, got[:])
	return err == nil && got == h
}

func (r *hashReader) atEnd() bool {
	_, err := r.r.ReadByte()
	return errors.Is(err, io.EOF)
}

func (r *hashReader) close() {
	if r.f != nil {
		_ = r.f.Close()
	}
}
