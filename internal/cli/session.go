package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"os/user"
	"strings"
	"text/tabwriter"

	"golang.org/x/term"

	"claimdlq"
)

// session is one run of the program: the world and the global flags.
type session struct {
	env   Env
	data  string
	json  bool
	actor string
	log   string // level
	logJS bool

	targets []string // the values of --target
	status  []string // the values of --status
	create  bool     // make the data directory where there is none
}

// dataDir returns the data directory: the flag, the environment, the default.
func (s *session) dataDir() string {
	if s.data != "" {
		return s.data
	}
	if d := s.env.Getenv("CLAIMDLQ_DATA"); d != "" {
		return d
	}
	return "claimdlq-data"
}

// by returns who acts and why, for the audit log.
func (s *session) by(reason string) claimdlq.By {
	if len(reason) > 200 {
		reason = strings.ToValidUTF8(reason[:200], "")
	}
	return claimdlq.CommandLine(s.who(), reason)
}

// who returns the name of who acts: the flag, or the login name of the operating system.
func (s *session) who() string {
	if s.actor != "" {
		return s.actor
	}
	if s.env.User != "" {
		return s.env.User
	}
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "unknown"
}

// printLine prints v as JSON on one line, for verbs that answer per file.
func (s *session) printLine(v any) error {
	e := json.NewEncoder(s.env.Stdout)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// printJSON prints v as one indented JSON document.
func (s *session) printJSON(v any) error {
	e := json.NewEncoder(s.env.Stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// table prints rows under a header, aligned. Cells hold no tabs.
func (s *session) table(header string, rows [][]string) error {
	w := tabwriter.NewWriter(s.env.Stdout, 0, 8, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, strings.ReplaceAll(header, " ", "\t"))
	for _, r := range rows {
		_, _ = fmt.Fprintln(w, strings.Join(r, "\t"))
	}
	return w.Flush()
}

// say prints talk to standard error.
func (s *session) say(format string, a ...any) {
	_, _ = fmt.Fprintf(s.env.Stderr, format+"\n", a...)
}

// onTerminal reports whether standard error is a terminal, of this process or of the
// one that the command is run for.
func (s *session) onTerminal() bool { return s.env.Terminal || isTerminal(s.env.Stderr) }

// isTerminal reports whether the stream is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// oneLine keeps a message on one line and bounded, whatever went into it.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
	if len(s) > 1000 {
		s = strings.ToValidUTF8(s[:1000], "") + "..."
	}
	return s
}
