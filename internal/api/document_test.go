package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"claimdlq/internal/auth"
)

// document is what the tests read of /openapi.json.
type document struct {
	OpenAPI    string                           `json:"openapi"`
	Paths      map[string]map[string]*operation `json:"paths"`
	Components struct {
		Schemas map[string]*schema `json:"schemas"`
	} `json:"components"`
}

type operation struct {
	ID         string `json:"operationId"`
	Permission string `json:"x-permission"`
	Payload    bool   `json:"x-payload"`
	Parameters []struct {
		Name     string  `json:"name"`
		In       string  `json:"in"`
		Required bool    `json:"required"`
		Schema   *schema `json:"schema"`
	} `json:"parameters"`
	Body *struct {
		Content map[string]struct {
			Schema *schema `json:"schema"`
		} `json:"content"`
	} `json:"requestBody"`
	Responses map[string]struct {
		Content map[string]struct {
			Schema *schema `json:"schema"`
		} `json:"content"`
	} `json:"responses"`

	method, path string
}

type schema struct {
	Ref        string             `json:"$ref"`
	Type       any                `json:"type"`
	Enum       []any              `json:"enum"`
	Items      *schema            `json:"items"`
	Properties map[string]*schema `json:"properties"`
	Required   []string           `json:"required"`
	More       any                `json:"additionalProperties"`
	Encoding   string             `json:"contentEncoding"`
	Format     string             `json:"format"`
	Pattern    string             `json:"pattern"`
	Minimum    *float64           `json:"minimum"`
	Maximum    *float64           `json:"maximum"`
	MinLength  *int               `json:"minLength"`
}

func (w *world) document() (document, []*operation) {
	w.t.Helper()
	d := into[document](w.get("", "/openapi.json").want(http.StatusOK))
	var ops []*operation
	for path, item := range d.Paths {
		for method, op := range item {
			op.method, op.path = strings.ToUpper(method), path
			ops = append(ops, op)
		}
	}
	slices.SortFunc(ops, func(a, b *operation) int { return strings.Compare(a.ID, b.ID) })
	if len(ops) < 40 {
		w.t.Fatalf("the document has %d operations", len(ops))
	}
	return d, ops
}

func TestDocument_SaysOfEveryOperationWhatItTakesAndWhoMayCallIt(t *testing.T) {
	t.Parallel()
	w := setup(t)
	d, ops := w.document()
	if d.OpenAPI != "3.1.0" {
		t.Errorf("OpenAPI %s", d.OpenAPI)
	}
	seen := map[string]bool{}
	for _, op := range ops {
		if seen[op.ID] {
			t.Errorf("two operations are called %s", op.ID)
		}
		seen[op.ID] = true
		if p := auth.Permission(op.Permission); !p.Known() && p != "none" && p != "self" {
			t.Errorf("%s asks for %q", op.ID, op.Permission)
		}
		for _, part := range strings.Split(op.path, "/") {
			name, ok := strings.CutPrefix(part, "{")
			if name, _, _ = strings.Cut(name, "}"); ok && !slices.ContainsFunc(op.Parameters, func(p struct {
				Name     string  `json:"name"`
				In       string  `json:"in"`
				Required bool    `json:"required"`
				Schema   *schema `json:"schema"`
			},
			) bool {
				return p.Name == name && p.In == "path"
			}) {
				t.Errorf("%s does not read {%s} of its path", op.ID, name)
			}
		}
		if p := auth.Permission(op.Permission); p.Known() && p.NeedsReason() && op.Body == nil {
			t.Errorf("%s needs a reason and takes none", op.ID)
		}
	}
	if w.do(call{method: http.MethodGet, path: "/openapi.json", payload: true}).body != w.get("", "/openapi.json").body {
		t.Error("the two listeners say different things")
	}
}

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

// 500 is nobody's fault but ours: whatever is sent, no operation answers with it, and
// none repeats what was sent.
func TestDocument_NoRequestMakesAnOperationFail(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for _, x := range []string{"u1", "u2", "u3"} { // who is asked about, and may be changed by what is sent
		w.user(x, everyone, auth.Roles...)
	}
	w.user("all", everyone, auth.Roles...)
	w.user("lara", []string{partnerA}, auth.Roles...)
	d, ops := w.document()
	m := &maker{d: d, r: rand.New(rand.NewPCG(1, 2)), ids: map[string][]string{}}
	ids := w.take(partnerA, 1, 8, "missing-ndc@1,2,3,4,5")
	ids = append(ids, w.take(partnerB, 100, 2, "missing-ndc@1")...)
	plan := w.do(call{as: "all", method: http.MethodPost, path: "/v1/replays", body: map[string]any{"reason": "TEST", "filter": map[string]any{}}}).want(http.StatusCreated)
	job := into[struct {
		Plan struct {
			ID string `json:"id"`
		} `json:"plan"`
	}](plan).Plan.ID
	for _, op := range ops {
		switch {
		case strings.HasPrefix(op.path, "/v1/records/"):
			for _, id := range ids {
				m.ids[op.path] = append(m.ids[op.path], id.String())
			}
		case strings.HasPrefix(op.path, "/v1/replays/"):
			m.ids[op.path] = []string{job}
		case strings.HasPrefix(op.path, "/v1/users/"):
			m.ids[op.path] = []string{"u1", "u2", "u3"}
		case strings.HasPrefix(op.path, "/v1/switches/"):
			m.ids[op.path] = []string{"ncpdp"}
		}
	}
	rounds := 12
	if testing.Short() {
		rounds = 3
	}
	statuses, checked := map[int]int{}, map[string]bool{}
	for range rounds {
		for _, op := range ops {
			if strings.HasPrefix(op.ID, "follow-") || op.path == "/v1/sessions/{actor}" || op.method == http.MethodDelete && op.path == "/v1/session" || op.path == "/v1/session/password" {
				continue // they last, or end the session that asks
			}
			as := []string{"all", "all", "lara", ""}[m.r.IntN(4)]
			c := m.call(op, as)
			resp, err := http.DefaultClient.Do(w.request(c))
			if err != nil {
				t.Fatalf("%s: %v", op.ID, err)
			}
			body, _ := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			statuses[resp.StatusCode]++
			if resp.StatusCode >= 500 && resp.StatusCode != http.StatusServiceUnavailable {
				j, _ := json.Marshal(c.body)
				t.Errorf("%s %s %v %s: %d %s", op.method, c.path, c.header, j[:min(len(j), 500)], resp.StatusCode, body)
			}
			if resp.StatusCode >= 400 && (bytes.Contains(body, []byte("TESTEXTRA")) || bytes.Contains(body, []byte("etc/passwd"))) {
				t.Errorf("%s repeats what was sent: %s", op.ID, body)
			}
			if resp.StatusCode < 300 && !op.Payload && op.ID != "size" && bytes.Contains(body, []byte(":null")) {
				t.Errorf("%s answers null: %s", op.ID, body)
			}
			answered := op.Responses[strconv.Itoa(resp.StatusCode)].Content["application/json"].Schema
			if resp.StatusCode < 300 && answered != nil {
				var v any
				if err := json.Unmarshal(body, &v); err != nil {
					t.Errorf("%s: %v", op.ID, err)
				}
				if fault := d.differs(answered, v, "answer"); fault != "" {
					t.Errorf("%s is not what the document says: %s: %s", op.ID, fault, body)
				}
				checked[op.ID] = true
			}
			if set := resp.Header.Get("Set-Cookie"); as != "" && resp.StatusCode == http.StatusOK && set != "" && op.method != http.MethodGet {
				w.cookies[as], _, _ = strings.Cut(set, ";")
			}
		}
	}
	if statuses[http.StatusOK] < 50 || statuses[http.StatusBadRequest] < 20 || statuses[http.StatusUnauthorized] < 10 {
		t.Errorf("the requests are not varied: %v", statuses)
	}
	if len(checked) < 25 {
		t.Errorf("the answers of %d operations were compared with the document", len(checked))
	}
	t.Logf("%v, answers of %d operations compared", statuses, len(checked))
}

// FuzzRequest sends any bytes to any operation, in the name of somebody who may do
// everything: go test -fuzz FuzzRequest ./internal/api
func FuzzRequest(f *testing.F) {
	w := setup(f)
	w.user("all", everyone, auth.Roles...)
	w.take(partnerA, 1, 3, "missing-ndc@1")
	_, ops := w.document()
	ops = slices.DeleteFunc(ops, func(op *operation) bool {
		return strings.HasPrefix(op.ID, "follow-") || strings.Contains(op.path, "session")
	})
	f.Add(uint8(0), "1", "limit=1", "{}")
	f.Add(uint8(5), "../x", "state=%zz&cursor=1", `{"reason":"TEST","ids":[1,1]}`)
	f.Add(uint8(9), "1", "", "\x00\xff")
	f.Fuzz(func(t *testing.T, n uint8, id, query, body string) {
		op := ops[int(n)%len(ops)]
		c := empty(op, "all")
		c.path = op.path
		for _, p := range op.Parameters {
			if p.In == "path" {
				c.path = strings.ReplaceAll(c.path, "{"+p.Name+"}", escaped(id))
			}
		}
		c.body = []byte(body)
		one := &world{t: t, url: w.url, payload: w.payload, cookies: w.cookies}
		req := one.request(c)
		req.URL.RawQuery = query
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		resp, err := http.DefaultClient.Do(req.WithContext(ctx))
		if errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("%s hangs", op.ID)
		}
		if err != nil {
			t.Skip("it cannot be sent")
		}
		defer resp.Body.Close()
		if resp.StatusCode >= http.StatusInternalServerError && resp.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("%s: %d", op.ID, resp.StatusCode)
		}
	})
}
