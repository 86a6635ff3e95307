package api_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// differs says where an answer is not what its schema says, "" where it is.
func (d *document) differs(s *schema, v any, at string) string {
	if name, ok := strings.CutPrefix(s.Ref, "#/components/schemas/"); ok {
		return d.differs(d.Components.Schemas[name], v, at)
	}
	if len(s.Enum) > 0 && !slices.Contains(s.Enum, v) {
		return at + " is none of its names"
	}
	kind, _ := s.Type.(string)
	good := true
	switch x := v.(type) {
	case map[string]any:
		return d.differsObject(s, x, at)
	case []any:
		good = kind == "array"
		for i := range x {
			if fault := d.differs(s.Items, x[i], at+"[]"); good && fault != "" {
				return fault
			}
		}
	case string:
		good = kind == "string"
	case float64:
		good = kind == "number" || kind == "integer" && x == math.Trunc(x)
	case bool:
		good = kind == "boolean"
	case nil:
		good = false
	}
	if !good && s.Type != nil {
		return at + " is no " + kind
	}
	return ""
}

func (d *document) differsObject(s *schema, v map[string]any, at string) string {
	if s.Type != nil && s.Type != "object" {
		return at + " is an object"
	}
	for _, name := range s.Required {
		if _, ok := v[name]; !ok {
			return at + "." + name + " is missing"
		}
	}
	for name, x := range v {
		p := s.Properties[name]
		if p == nil && s.Type != nil && s.More == false {
			return at + "." + name + " is not in the document"
		}
		if p == nil {
			continue
		}
		if fault := d.differs(p, x, at+"."+name); fault != "" {
			return fault
		}
	}
	return ""
}

// maker makes requests out of the document: mostly what it asks for, and sometimes
// what it does not.
type maker struct {
	d   document
	r   *rand.Rand
	ids map[string][]string // by path parameter
}

// wild are values that should not be anywhere.
var wild = []any{
	nil, true, -1, 0, 1, 1 << 53, 1e308, -1e308, 0.1, "", " ", "\x00", "\u202e", "null", "*", "../../etc/passwd", "%00", "' or 1=1 --", "<script>",
	strings.Repeat("A", 5000), "ÄÖÜ\U0001f4a3",
	[]any{},
	[]any{[]any{[]any{}}},
	map[string]any{},
	map[string]any{"": nil},
	"9223372036854775808", "-0", "1e9", "0x10",
}

func (m *maker) value(s *schema, depth int) any {
	if s == nil || depth > 6 || m.r.IntN(12) == 0 {
		return wild[m.r.IntN(len(wild))]
	}
	if name, ok := strings.CutPrefix(s.Ref, "#/components/schemas/"); ok {
		return m.value(m.d.Components.Schemas[name], depth+1)
	}
	if len(s.Enum) > 0 {
		return s.Enum[m.r.IntN(len(s.Enum))]
	}
	kind, _ := s.Type.(string)
	if list, ok := s.Type.([]any); ok && len(list) > 0 {
		kind, _ = list[0].(string)
	}
	switch kind {
	case "object":
		out := map[string]any{}
		for _, name := range sorted(s.Properties) {
			if slices.Contains(s.Required, name) && m.r.IntN(15) > 0 || m.r.IntN(2) == 0 {
				out[name] = m.value(s.Properties[name], depth+1)
			}
		}
		if m.r.IntN(20) == 0 {
			out["TESTEXTRA"] = "TESTEXTRAVALUE"
		}
		return out
	case "array":
		out := []any{}
		for range m.r.IntN(4) {
			out = append(out, m.value(s.Items, depth+1))
		}
		return out
	case "integer", "number":
		edges := []float64{0, 1, 2, 50}
		for _, e := range []*float64{s.Minimum, s.Maximum} {
			if e != nil {
				edges = append(edges, *e, *e-1, *e+1)
			}
		}
		return edges[m.r.IntN(len(edges))]
	case "boolean":
		return m.r.IntN(2) == 0
	}
	return m.text(s)
}

func (m *maker) text(s *schema) any {
	switch {
	case s.Encoding == "base64":
		b := make([]byte, m.r.IntN(200))
		for i := range b {
			b[i] = byte(m.r.Uint32())
		}
		return b
	case s.Format == "date-time":
		return []string{"2026-07-18T10:00:00Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"}[m.r.IntN(3)]
	case strings.Contains(s.Pattern, "(s|m|h|d)"):
		return []string{"0s", "36h", "999999d", "1m"}[m.r.IntN(4)]
	case strings.Contains(s.Pattern, "{64}"):
		return strings.Repeat("a", 64)
	case strings.Contains(s.Pattern, "{16}"):
		return strings.Repeat("0", 16)
	case strings.Contains(s.Pattern, "[0-9]{1,19}"):
		return []string{"1", "3", "9223372036854775807", "9999999999999999999"}[m.r.IntN(4)]
	}
	return []string{"TEST", "TEST reason", "ncpdp", "IK4:CLM02", "400/s", "0.1%", "viewer", partnerA, "999:"}[m.r.IntN(9)]
}

func sorted[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// call makes a request for an operation.
func (m *maker) call(op *operation, as string) call {
	c := call{as: as, method: op.method, path: op.path, payload: op.Payload, header: map[string]string{}}
	var query []string
	for _, p := range op.Parameters {
		text := fmt.Sprint(m.value(p.Schema, 0))
		switch p.In {
		case "path":
			if ids := m.ids[op.path]; len(ids) > 0 && m.r.IntN(4) > 0 {
				text = ids[m.r.IntN(len(ids))]
			}
			c.path = strings.ReplaceAll(c.path, "{"+p.Name+"}", escaped(text))
		case "query":
			if p.Required || m.r.IntN(3) == 0 {
				query = append(query, escaped(p.Name)+"="+escaped(text))
			}
		case "header":
			if p.Name == "If-Match" && m.r.IntN(3) > 0 {
				text = []string{`"1"`, `"2"`, `"3"`, `"0"`}[m.r.IntN(4)]
			}
			if p.Name == "Idempotency-Key" && m.r.IntN(8) > 0 {
				text = fmt.Sprintf("fuzz-%d", m.r.Uint64())
			}
			if text = strings.Map(func(r rune) rune {
				if r < ' ' || r > '~' {
					return -1
				}
				return r
			}, text); text != "" {
				c.header[p.Name] = text
			}
		}
	}
	if m.r.IntN(20) == 0 {
		query = append(query, "TESTEXTRA=1")
	}
	if len(query) > 0 {
		c.path += "?" + strings.Join(query, "&")
	}
	if op.Body != nil {
		for _, x := range op.Body.Content {
			c.body = m.value(x.Schema, 0)
		}
		if m.r.IntN(15) == 0 {
			c.body = []byte([]string{"", "{", "[1,2", "\xff\xfe", `{"reason":"a","reason":"b"}`, strings.Repeat("[", 20000), strings.Repeat(" ", 70000) + "{}"}[m.r.IntN(7)])
		}
	}
	return c
}

// escaped writes any text for an address.
func escaped(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}
