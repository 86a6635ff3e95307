package x12

import (
	"slices"
	"strconv"
	"strings"

	"claimdlq"
)

// segDir is the directory of segments: what X12 says of each, before any guide.
type segDir struct {
	segs   map[string]segDef
	codes  map[string][]string
	others map[string]bool
	order  []string
}

type segDef struct {
	els      []elDef
	rels     []relation
	qualEl   uint8
	qualComp bool
}

type elDef struct {
	typ      elType
	min, max int
	repeat   int
	comps    []elDef
	qual     bool
}

// parseError points at the line of a rule file.
func parseError(f ruleFile, line int, what string) error {
	return &claimdlq.Error{Code: claimdlq.Invalid, Op: "read rules", On: f.name + ":" + strconv.Itoa(line), Hint: what}
}

// ruleLines calls do for each line that says something, without its comment.
func ruleLines(f ruleFile, do func(n, indent int, words []string) error) error {
	n := 0
	for line := range strings.Lines(f.text) {
		n++
		if i := strings.IndexByte(line, '#'); i >= 0 {
			line = line[:i]
		}
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if err := do(n, len(line)-len(strings.TrimLeft(line, " ")), words); err != nil {
			return err
		}
	}
	if n == 0 {
		return parseError(f, 0, "the version has no such file")
	}
	return nil
}

func parseSettings(f ruleFile) (map[string]int, error) {
	set := map[string]int{}
	err := ruleLines(f, func(n, _ int, w []string) error {
		if len(w) != 2 {
			return parseError(f, n, "a setting is a name and a value")
		}
		switch w[1] {
		case "on":
			set[w[0]] = 1
		case "off":
			set[w[0]] = 0
		default:
			v, err := strconv.Atoi(w[1])
			if err != nil && w[0] != "base" {
				return parseError(f, n, "a value is on, off or a number")
			}
			set[w[0]] = v
		}
		return nil
	})
	return set, err
}

func parseSegments(f ruleFile) (*segDir, error) {
	dir := &segDir{segs: map[string]segDef{}, codes: map[string][]string{}, others: map[string]bool{}}
	composites := map[string][]elDef{}
	err := ruleLines(f, func(n, _ int, w []string) error {
		switch w[0] {
		case "composite":
			for _, tok := range w[2:] {
				els, err := parseElDef(tok, nil)
				if err != nil {
					return parseError(f, n, tok)
				}
				composites[w[1]] = append(composites[w[1]], els...)
			}
		case "codes":
			if len(w) != 3 {
				return parseError(f, n, "a code list is a name and its codes")
			}
			dir.codes[w[1]] = strings.Split(w[2], ",")
		case "others":
			for _, id := range w[1:] {
				dir.others[id] = true
			}
		default:
			def, tok := parseSegDef(w[1:], composites)
			if tok != "" {
				return parseError(f, n, tok)
			}
			dir.segs[w[0]] = def
			dir.order = append(dir.order, w[0])
		}
		return nil
	})
	return dir, err
}

// parseSegDef returns the token that it could not understand, if any.
func parseSegDef(words []string, composites map[string][]elDef) (def segDef, bad string) {
	rels := false
	for _, tok := range words {
		if tok == ";" {
			rels = true
			continue
		}
		if rels {
			r, ok := parseRelation(tok)
			if !ok {
				return def, tok
			}
			def.rels = append(def.rels, r)
			continue
		}
		els, err := parseElDef(tok, composites)
		if err != nil {
			return def, tok
		}
		if els[0].qual {
			def.qualEl = uint8(len(def.els) + 1)
			def.qualComp = els[0].typ == typeComposite
		}
		def.els = append(def.els, els...)
	}
	return def, ""
}

// parseElDef reads one element: ^ID2-3, N0.1-9, AN1-50x5, {C022}x11, {C056}*10.
func parseElDef(tok string, composites map[string][]elDef) ([]elDef, error) {
	e := elDef{repeat: 1}
	times := 1
	tok, e.qual = strings.CutPrefix(tok, "^")
	if body, n, ok := strings.Cut(tok, "*"); ok {
		v, err := strconv.Atoi(n)
		if err != nil {
			return nil, err
		}
		tok, e.repeat = body, v
	}
	if body, n, ok := strings.Cut(tok, "x"); ok {
		v, err := strconv.Atoi(n)
		if err != nil {
			return nil, err
		}
		tok, times = body, v
	}
	if name, ok := strings.CutPrefix(tok, "{"); ok {
		comps, known := composites[strings.TrimSuffix(name, "}")]
		if !known {
			return nil, claimdlq.Invalid
		}
		e.typ, e.comps = typeComposite, comps
		return slices.Repeat([]elDef{e}, times), nil
	}
	for _, t := range []struct {
		name string
		typ  elType
	}{{"ID", typeID}, {"AN", typeAN}, {"DT", typeDT}, {"TM", typeTM}, {"N0.", typeN}, {"R", typeR}, {"Q", typeQ}} {
		rest, ok := strings.CutPrefix(tok, t.name)
		if !ok {
			continue
		}
		lo, hi, _ := strings.Cut(rest, "-")
		a, err1 := strconv.Atoi(lo)
		b, err2 := strconv.Atoi(hi)
		if err1 != nil || err2 != nil || a > b {
			return nil, claimdlq.Invalid
		}
		e.typ, e.min, e.max = t.typ, a, b
		return slices.Repeat([]elDef{e}, times), nil
	}
	return nil, claimdlq.Invalid
}

func parseRelation(tok string) (r relation, ok bool) {
	if len(tok) < 5 || len(tok)%2 == 0 || len(tok) > 17 || !strings.Contains("PRECLU", tok[:1]) {
		return r, false
	}
	r.kind = tok[0]
	for i := 1; i < len(tok); i += 2 {
		v, err := strconv.Atoi(tok[i : i+2])
		if err != nil || v < 1 || v > 63 {
			return r, false
		}
		r.els[r.n] = uint8(v)
		r.n++
		r.mask |= 1 << v
	}
	r.first = 1 << r.els[0]
	return r, true
}
