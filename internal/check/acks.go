package check

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"claimdlq/wire/x12"
	"claimdlq/wire/x12ack"
)

// answers lists what an acknowledgment file says, and lets it decide the verdict
// unless the file holds claims too.
func (c *checker) answers(ctx context.Context, a *x12ack.Acks) {
	all := a.Answers()
	var sent *sentGroups
	verdict := "OK"
	if len(a.Notes) > 0 {
		verdict = "TOLERATE"
	}
	for i := range all {
		an := &all[i]
		out := Answer{For: an.For(false), Result: string(an.Result), Class: an.Class.String(), Codes: an.Codes}
		v := an.Ack.Verdict()
		if v != "OK" && (an.Kind == x12ack.KindGroup || an.Kind == x12ack.KindSet) {
			if sent == nil {
				sent = c.lookForSent(ctx)
			}
			if sent.orphan(an) {
				out.Result, out.Class, v = "orphan ack", "", "OK"
			}
		}
		if ranks[v] > ranks[verdict] {
			verdict = v
		}
		c.report.Answers = append(c.report.Answers, out)
	}
	if c.claims {
		return
	}
	if len(a.Faults) > 0 || len(all) == 0 {
		c.report.worse("FATAL_SYNTAX")
	}
	c.report.worse(verdict)
}

// The most that is read to find out what an acknowledgment answers.
const (
	maxSentFiles = 1000
	maxSentBytes = 256 << 20
)

// sentGroups are the groups of claims that were found near an acknowledgment.
type sentGroups struct {
	pairs map[[2]string]bool // GS02 and GS03 that claims were sent under
	known map[sentGroup]bool
}

type sentGroup struct {
	sender, receiver string
	number           uint32
}

// orphan reports whether an answer is to none of the groups, although claims of
// its sender are among them. Where there are none, nothing can be said.
func (s *sentGroups) orphan(a *x12ack.Answer) bool {
	return s.pairs[[2]string{a.GroupSender, a.GroupReceiver}] &&
		!s.known[sentGroup{a.GroupSender, a.GroupReceiver, a.GS06}]
}

func (c *checker) lookForSent(ctx context.Context) *sentGroups {
	s := &sentGroups{pairs: map[[2]string]bool{}, known: map[sentGroup]bool{}}
	roots := c.o.Sent
	if roots == nil {
		roots = []string{filepath.Dir(c.report.File)}
	}
	files, left := 0, int64(maxSentBytes)
	for _, root := range roots {
		names := []string{root}
		if entries, err := os.ReadDir(root); err == nil {
			names = names[:0]
			for _, e := range entries {
				if e.Type().IsRegular() && !strings.HasPrefix(e.Name(), ".") {
					names = append(names, filepath.Join(root, e.Name()))
				}
			}
		}
		for _, name := range names {
			if files++; files > maxSentFiles || left <= 0 || ctx.Err() != nil {
				return s
			}
			left -= s.read(name, left)
		}
	}
	return s
}

// read collects the groups of one file, and returns how many bytes it read. A file
// that cannot be read adds nothing.
func (s *sentGroups) read(path string, limit int64) int64 {
	f, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer func() { _ = f.Close() }()
	r := &io.LimitedReader{R: f, N: limit}
	sc := x12.NewScanner(r, x12.Options{EnvelopeOnly: true})
	for {
		ev, err := sc.Next()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				return limit - r.N
			}
			return limit - r.N
		}
		switch e := ev.(type) {
		case *x12.Junk:
			if e.Poison {
				return limit - r.N
			}
		case *x12.GroupStart:
			if e.GS01 == "HC" {
				s.pairs[[2]string{e.Sender, e.Receiver}] = true
				s.known[sentGroup{e.Sender, e.Receiver, e.Number}] = true
			}
		}
	}
}
