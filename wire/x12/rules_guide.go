package x12

import (
	"strconv"
	"strings"
)

// guideSrc is a guide as its file says it, before compiling.
type guideSrc struct {
	file     ruleFile
	name     string
	versions []string
	root     *loopSrc
}

// loopSrc is a loop with its segments and loops in order.
type loopSrc struct {
	line     int
	id       string
	required bool
	max      int
	scope    scope
	children []itemSrc
}

// itemSrc is a segment, or a loop where loop is set.
type itemSrc struct {
	line     int
	seg      string
	required bool
	self     bool // required where the subscriber is the patient
	max      int
	asks     []string // what it asks of its elements
	loop     *loopSrc
}

// guideLine is a line of a guide file with its indentation.
type guideLine struct {
	n, indent int
	words     []string
}

var scopeNames = map[string]scope{
	"provider": scopeProvider, "subscriber": scopeSubscriber, "patient": scopePatient, "claim": scopeClaim,
}

// parseGuide reads a guide file into its tree.
func parseGuide(f ruleFile) (*guideSrc, error) {
	g := &guideSrc{file: f, root: &loopSrc{id: "", max: 1, required: true}}
	blocks := map[string][]guideLine{}
	var body []guideLine
	into := ""
	err := ruleLines(f, func(n, indent int, w []string) error {
		switch {
		case w[0] == "guide" && len(w) > 2:
			g.name, g.versions = w[1], w[2:]
		case w[0] == "block" && len(w) == 2:
			into = w[1]
		case into != "":
			blocks[into] = append(blocks[into], guideLine{n, indent, w})
		default:
			body = append(body, guideLine{n, indent, w})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	rest, err := g.fill(g.root, body, 0, blocks, "")
	if err == nil && len(rest) > 0 {
		err = parseError(f, rest[0].n, "indented deeper than what it could belong to")
	}
	return g, err
}

// fill puts the lines of one indentation into the loop, and what stands deeper
// into the loops among them. usage replaces $ in the lines of a block.
func (g *guideSrc) fill(l *loopSrc, lines []guideLine, indent int, blocks map[string][]guideLine, usage string) ([]guideLine, error) {
	for len(lines) > 0 && lines[0].indent == indent {
		line := lines[0]
		lines = lines[1:]
		w := line.words
		if w[0] == "insert" && len(w) == 3 {
			if _, err := g.fill(l, blocks[w[1]], 0, blocks, w[2]); err != nil {
				return nil, err
			}
			continue
		}
		it := itemSrc{line: line.n, seg: w[0]}
		at := 1
		if w[0] == "loop" {
			if len(w) < 3 {
				return nil, parseError(g.file, line.n, "a loop has an id and a usage")
			}
			it.loop = &loopSrc{line: line.n, id: w[1], scope: l.scope}
			at = 2
		}
		if len(w) <= at {
			return nil, parseError(g.file, line.n, "usage and greatest use are missing")
		}
		var ok bool
		use := strings.Replace(w[at], "$", usage, 1)
		it.self = use[0] == 'P'
		it.required, it.max, ok = parseUse(use)
		if !ok {
			return nil, parseError(g.file, line.n, w[at])
		}
		it.asks = w[at+1:]
		if it.loop != nil {
			it.loop.required, it.loop.max = it.required, it.max
			if len(it.asks) > 0 {
				it.loop.scope = scopeNames[it.asks[0]]
			}
			if len(lines) > 0 && lines[0].indent > indent {
				var err error
				if lines, err = g.fill(it.loop, lines, lines[0].indent, blocks, usage); err != nil {
					return nil, err
				}
			}
			if len(it.loop.children) == 0 || it.loop.children[0].loop != nil {
				return nil, parseError(g.file, line.n, "a loop begins with a segment")
			}
		}
		l.children = append(l.children, it)
	}
	if len(lines) > 0 && lines[0].indent > indent {
		return nil, parseError(g.file, lines[0].n, "indented under a segment")
	}
	return lines, nil
}

// anyNumber is the greatest use of what may come any number of times.
const anyNumber = 1<<16 - 1

// parseUse reads R1, S100, P1 or S*.
func parseUse(tok string) (req bool, max int, ok bool) {
	if len(tok) < 2 || !strings.Contains("RSP", tok[:1]) {
		return false, 0, false
	}
	if tok[1:] == "*" {
		return tok[0] == 'R', anyNumber, true
	}
	n, err := strconv.Atoi(tok[1:])
	return tok[0] == 'R', n, err == nil && n > 0 && n < anyNumber
}

// An ask is what a guide asks of some elements or components: 02..12.1=ABF,BF.
type ask struct {
	el, elTo     int
	comp, compTo int // 0: the element itself
	usage        usage
	codes        []string
}

func parseAsk(tok string, lists map[string][]string) (a ask, ok bool) {
	i := strings.IndexAny(tok, "!-?=")
	if i < 2 {
		return a, false
	}
	where, mark := tok[:i], tok[i:]
	switch {
	case mark == "!":
		a.usage = required
	case mark == "-":
		a.usage = notUsed
	case mark[0] == '=':
		a.usage, a.codes = required, codeList(mark[1:], lists)
	case strings.HasPrefix(mark, "?="):
		a.codes = codeList(mark[2:], lists)
	default:
		return a, false
	}
	// Two dots make a range, of elements or, after one dot, of components.
	el, comp := where, ""
	for j := 0; j < len(where); j++ {
		if where[j] == '.' && (j+1 >= len(where) || where[j+1] != '.') && (j == 0 || where[j-1] != '.') {
			el, comp = where[:j], where[j+1:]
			break
		}
	}
	a.el, a.elTo, ok = parseRange(el)
	if ok && comp != "" {
		a.comp, a.compTo, ok = parseRange(comp)
	}
	return a, ok && (a.codes == nil || a.codes[0] != "")
}

func parseRange(s string) (from, to int, ok bool) {
	lo, hi, both := strings.Cut(s, "..")
	from, err := strconv.Atoi(lo)
	if err != nil || !both {
		return from, from, err == nil
	}
	to, err = strconv.Atoi(hi)
	return from, to, err == nil && to >= from
}

func codeList(s string, lists map[string][]string) []string {
	if name, ok := strings.CutPrefix(s, "@"); ok {
		if l := lists[name]; l != nil {
			return l
		}
		return []string{""}
	}
	return strings.Split(s, ",")
}
