package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"claimdlq"
)

// stage plays the demonstration: it runs commands of this program, as a person
// would type them, and compares what they say with what was told.
type stage struct {
	s     *session
	ctx   context.Context
	w     io.Writer // the story; nothing with --json
	dir   string    // data directory
	files string    // directory of generated files
	payer string    // address of the payer
	env   map[string]string
	paint paint

	first  firsts // passwords, by login
	parked uint64 // the record that waits for a second person

	said  bytes.Buffer // all that commands printed, to search for leaks
	scene *sceneJSON
	play  demoJSON
}

type demoJSON struct {
	OK     bool         `json:"ok"`
	Scenes []*sceneJSON `json:"scenes"`
}

type sceneJSON struct {
	Title    string      `json:"title"`
	Commands []string    `json:"commands"`
	Checks   []checkJSON `json:"checks"`
}

type checkJSON struct {
	What string `json:"what"`
	OK   bool   `json:"ok"`
}

// paint colours text where the terminal has colours.
type paint bool

func (p paint) code(code, s string) string {
	if !p {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p paint) bold(s string) string  { return p.code("1", s) }
func (p paint) dim(s string) string   { return p.code("2", s) }
func (p paint) green(s string) string { return p.code("32", s) }
func (p paint) red(s string) string   { return p.code("31", s) }

// begin starts a scene.
func (d *stage) begin(title, what string) {
	d.scene = &sceneJSON{Title: title, Commands: []string{}, Checks: []checkJSON{}}
	d.play.Scenes = append(d.play.Scenes, d.scene)
	d.printf("\n%s\n%s\n", d.paint.bold(fmt.Sprintf("%d. %s", len(d.play.Scenes), title)), what)
}

func (d *stage) printf(format string, a ...any) { _, _ = fmt.Fprintf(d.w, format, a...) }

// expect says what should be so, and whether it is.
func (d *stage) expect(ok bool, format string, a ...any) {
	what := fmt.Sprintf(format, a...)
	d.scene.Checks = append(d.scene.Checks, checkJSON{what, ok})
	if ok {
		d.printf("   %s %s\n", d.paint.green("ok"), what)
		return
	}
	d.play.OK = false
	d.printf("   %s %s\n", d.paint.red("NOT SO"), what)
}

// run runs one command with --json, decodes what it prints into out (unless nil),
// and returns its exit code.
func (d *stage) run(out any, args ...string) int {
	line := "claimdlq " + strings.Join(quoted(args), " ")
	line = strings.ReplaceAll(line, d.files+"/", "")
	d.scene.Commands = append(d.scene.Commands, line)
	d.printf("   %s\n", d.paint.dim("$ "+line))

	var stdout, stderr bytes.Buffer
	code := Main(d.ctx, append(args, "--data", d.dir, "--json", "--log", "debug"), Env{
		Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Now: d.s.env.Now,
		Getenv: func(name string) string { return d.env[name] },
	})
	_, _ = d.said.Write(stdout.Bytes())
	_, _ = d.said.Write(stderr.Bytes())
	if out != nil {
		if err := json.NewDecoder(&stdout).Decode(out); err != nil {
			d.expect(false, "the command answers in JSON: %s", oneLine(stderr.String()))
		}
	}
	return code
}

func quoted(args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = a
		if strings.ContainsAny(a, " *$'") {
			out[i] = `"` + a + `"`
		}
	}
	return out
}

// rec is what the story needs to know of a record.
type rec struct {
	ID              uint64 `json:"id"`
	Key             string `json:"key"`
	State           string `json:"state"`
	Reason          string `json:"reason_code"`
	Detail          string `json:"error_detail"`
	Disposition     string `json:"disposition"`
	Claims          int64  `json:"claims"`
	AttemptCount    int    `json:"attempt_count"`
	ReplayCount     int    `json:"replay_count"`
	PayloadRevision int    `json:"payload_revision"`
}

// list returns the records in a state, without making a show of it.
func (d *stage) list(state claimdlq.State) []rec {
	var out struct {
		Records []rec `json:"records"`
	}
	d.quietly(func() { d.run(&out, "list", "--state", state.String(), "--stream", "837", "--limit", "1000") })
	return out.Records
}

// record returns one record.
func (d *stage) record(id uint64) rec {
	var out struct {
		Record rec `json:"record"`
	}
	d.quietly(func() { d.run(&out, "show", strconv.FormatUint(id, 10)) })
	return out.Record
}

// quietly runs commands that only look, without making a show of them.
func (d *stage) quietly(f func()) {
	commands, w := d.scene.Commands, d.w
	d.w = io.Discard
	f()
	d.scene.Commands, d.w = commands, w
}

// figures returns the counters.
func (d *stage) figures() (m struct {
	Received   int64            `json:"received"`
	Claims     map[string]int64 `json:"claims"`
	Difference int64            `json:"difference"`
},
) {
	d.run(&m, "metrics")
	return m
}
