// Package main writes the types and methods of package client out of the API's document.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/format"
	"maps"
	"os"
	"slices"
	"strings"

	"claimdlq/internal/api"
)

type schema struct {
	Ref         string             `json:"$ref"`
	Type        any                `json:"type"`
	Format      string             `json:"format"`
	Encoding    string             `json:"contentEncoding"`
	Items       *schema            `json:"items"`
	Properties  map[string]*schema `json:"properties"`
	More        any                `json:"additionalProperties"`
	Required    []string           `json:"required"`
	Description string             `json:"description"`
}

type body struct {
	Content map[string]struct {
		Schema *schema `json:"schema"`
	} `json:"content"`
}

type operation struct {
	ID         string          `json:"operationId"`
	Summary    string          `json:"summary"`
	Permission string          `json:"x-permission"`
	Payload    bool            `json:"x-payload"`
	Parameters []parameter     `json:"parameters"`
	Body       *body           `json:"requestBody"`
	Responses  map[string]body `json:"responses"`

	method, path string
}

type parameter struct {
	Name        string  `json:"name"`
	In          string  `json:"in"`
	Description string  `json:"description"`
	Schema      *schema `json:"schema"`
}

// order is that of a method's arguments.
var order = map[string]string{"path": "1", "header": "2", "query": "3"}

type document struct {
	Paths      map[string]map[string]*operation `json:"paths"`
	Components struct {
		Schemas map[string]*schema `json:"schemas"`
	} `json:"components"`
}

func main() {
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(path string) error {
	text, err := api.Document("")
	if err != nil {
		return err
	}
	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		return err
	}
	g := &generator{}
	g.say("// Code generated from the API's document. DO NOT EDIT.\n\npackage client\n\nimport (\n\"context\"\n\"encoding/json\"\n\"io\"\n\"net/http\"\n\"net/url\"\n\"time\"\n)\n")
	for _, name := range slices.Sorted(maps.Keys(d.Components.Schemas)) {
		g.object(name, d.Components.Schemas[name])
	}
	var ops []*operation
	for path, item := range d.Paths {
		for method, op := range item {
			op.method, op.path = strings.ToUpper(method), path
			ops = append(ops, op)
		}
	}
	slices.SortFunc(ops, func(a, b *operation) int { return strings.Compare(a.ID, b.ID) })
	for _, op := range ops {
		g.operation(op)
	}
	b, err := format.Source(g.b.Bytes())
	if err != nil {
		return fmt.Errorf("%w in\n%s", err, g.b.Bytes())
	}
	return os.WriteFile(path, b, 0o644) //nolint:gosec // whoever runs it says where; it is source
}

type generator struct{ b bytes.Buffer }

func (g *generator) say(form string, args ...any) { fmt.Fprintf(&g.b, form+"\n", args...) }

func (g *generator) comment(text string) {
	for line := range strings.Lines(text) {
		g.say("// %s", strings.TrimSpace(line))
	}
}

func (g *generator) object(name string, s *schema) {
	name = goName(name)
	g.say("// %s is of the API's document.", name)
	g.say("type %s struct {", name)
	for _, key := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[key]
		t, tag := goType(p), key
		if !slices.Contains(s.Required, key) {
			tag += ",omitempty"
			if t == "time.Time" || strings.HasPrefix(p.Ref, "#") {
				t = "*" + t
			}
		}
		g.comment(p.Description)
		g.say("%s %s `json:%q`", goName(key), t, tag)
	}
	g.say("}\n")
}

func goType(s *schema) string {
	if s == nil {
		return "json.RawMessage"
	}
	if name, ok := strings.CutPrefix(s.Ref, "#/components/schemas/"); ok {
		return goName(name)
	}
	kind, _ := s.Type.(string)
	switch {
	case s.Encoding == "base64":
		return "[]byte"
	case s.Format == "date-time":
		return "time.Time"
	case kind == "string":
		return "string"
	case kind == "integer" && s.Format == "int32":
		return "int32"
	case kind == "integer":
		return "int64"
	case kind == "number":
		return "float64"
	case kind == "boolean":
		return "bool"
	case kind == "array":
		return "[]" + goType(s.Items)
	case kind == "object":
		if b, err := json.Marshal(s.More); err == nil && len(s.Properties) == 0 {
			var more schema
			if json.Unmarshal(b, &more) == nil {
				return "map[string]" + goType(&more)
			}
		}
	}
	return "json.RawMessage"
}

// initials are words that Go spells in capitals.
var initials = []string{"id", "isa13", "url", "npi", "gs06", "st02"}

func goName(s string) string {
	var b strings.Builder
	for _, word := range strings.FieldsFunc(s, func(c rune) bool { return c == '_' || c == '-' || c == '.' }) {
		switch {
		case slices.Contains(initials, word):
			b.WriteString(strings.ToUpper(word))
		case word == "ids":
			b.WriteString("IDs")
		default:
			b.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return b.String()
}

// answer says what a method returns: the type of its JSON, "bytes", "events", or nothing.
// Where answers of different statuses differ, it is JSON that the caller decodes.
func (op *operation) answer() (kind string, ok bool) {
	for _, code := range slices.Sorted(maps.Keys(op.Responses)) {
		if code[0] != '2' {
			continue
		}
		k := op.Responses[code].kind()
		if ok && k != kind {
			return "json.RawMessage", true
		}
		kind, ok = k, true
	}
	return kind, ok // not ok: it leads a browser elsewhere
}

// kind is the same for one status.
func (b body) kind() string {
	if c, ok := b.Content["application/json"]; ok {
		return goType(c.Schema)
	}
	if _, ok := b.Content["text/event-stream"]; ok {
		return "events"
	}
	if len(b.Content) > 0 {
		return "bytes"
	}
	return ""
}

func (g *generator) operation(op *operation) {
	kind, ok := op.answer()
	if !ok {
		return
	}
	name := goName(op.ID)
	args, query := []string{"ctx context.Context"}, false
	path := fmt.Sprintf("%q", op.path)
	call := fmt.Sprintf("call{op: %q, method: http.Method%s", op.ID, goMethod(op.method))
	if op.Payload {
		call += ", payload: true"
	}
	slices.SortStableFunc(op.Parameters, func(a, b parameter) int { return strings.Compare(order[a.In], order[b.In]) })
	for _, p := range op.Parameters {
		switch {
		case p.In == "path":
			args = append(args, p.Name+" "+goType(p.Schema))
			path = strings.ReplaceAll(path, "{"+p.Name+"}", `" + part(`+p.Name+`) + "`)
		case p.In == "query":
			query = true
		case p.Name == "If-Match":
			args, call = append(args, "revision int64"), call+", match: tag(revision)"
		case p.Name == "Idempotency-Key":
			call += ", command: true"
		case p.Name == "Last-Event-ID":
			args, call = append(args, "last string"), call+", last: last"
		}
	}
	call += ", path: " + strings.TrimSuffix(path, ` + ""`)
	if query {
		g.query(name, op)
		args, call = append(args, "q "+name+"Query"), call+", query: q.values()"
	}
	if op.Body != nil {
		for ct, c := range op.Body.Content {
			if ct == "application/octet-stream" {
				args, call = append(args, "body io.Reader"), call+", file: body"
				continue
			}
			args, call = append(args, "body "+goType(c.Schema)), call+", body: body"
		}
	}
	g.say("// %s is %s. Permission: %s.\n//\n//\t%s", name, op.ID, op.Permission, op.Summary)
	g.method(name, strings.Join(args, ", "), call+"}", kind)
}

func (g *generator) method(name, args, call, kind string) {
	switch kind {
	case "":
		g.say("func (c *Client) %s(%s) error {\nreturn c.json(ctx, %s, nil)\n}\n", name, args, call)
	case "bytes":
		g.say("func (c *Client) %s(%s) ([]byte, error) {\nreturn c.bytes(ctx, %s)\n}\n", name, args, call)
	case "events":
		g.say("func (c *Client) %s(%s) (*Events, error) {\nreturn c.events(ctx, %s)\n}\n", name, args, call)
	default:
		g.say("func (c *Client) %s(%s) (out %s, err error) {\nerr = c.json(ctx, %s, &out)\nreturn out, err\n}\n", name, args, kind, call)
	}
}

func (g *generator) query(name string, op *operation) {
	g.say("// %sQuery is what %s may ask for; what is zero is not asked.", name, name)
	g.say("type %sQuery struct {", name)
	var set strings.Builder
	for _, p := range op.Parameters {
		if p.In == "query" {
			g.comment(p.Description)
			g.say("%s %s", goName(p.Name), goType(p.Schema))
			fmt.Fprintf(&set, "put(v, %q, q.%s)\n", p.Name, goName(p.Name))
		}
	}
	g.say("}\n\nfunc (q *%sQuery) values() url.Values {\nv := url.Values{}\n%sreturn v\n}\n", name, set.String())
}

func goMethod(m string) string { return m[:1] + strings.ToLower(m[1:]) }
