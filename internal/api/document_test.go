package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"claimdlq/internal/api"
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
	ID         string      `json:"operationId"`
	Permission string      `json:"x-permission"`
	Payload    bool        `json:"x-payload"`
	Parameters []parameter `json:"parameters"`
	Body       *struct {
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

type parameter struct {
	Name     string  `json:"name"`
	In       string  `json:"in"`
	Required bool    `json:"required"`
	Schema   *schema `json:"schema"`
}

// permissions lists what the operation asks for: one of them.
func (op *operation) permissions() (out []auth.Permission) {
	for p := range strings.SplitSeq(op.Permission, "|") {
		out = append(out, auth.Permission(p))
	}
	return out
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
		for _, p := range op.permissions() {
			if !p.Known() && p != "none" && p != "self" {
				t.Errorf("%s asks for %q", op.ID, op.Permission)
			}
			if p.Known() && p.NeedsReason() && op.Body == nil {
				t.Errorf("%s needs a reason and takes none", op.ID)
			}
		}
		for _, part := range strings.Split(op.path, "/") {
			name, ok := strings.CutPrefix(part, "{")
			if name, _, _ = strings.Cut(name, "}"); ok && !slices.ContainsFunc(op.Parameters, func(p parameter) bool {
				return p.Name == name && p.In == "path"
			}) {
				t.Errorf("%s does not read {%s} of its path", op.ID, name)
			}
		}
	}
	if w.do(call{method: http.MethodGet, path: "/openapi.json", payload: true}).body != w.get("", "/openapi.json").body {
		t.Error("the two listeners say different things")
	}
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
	act := into[planned](w.do(call{as: "all", method: http.MethodPost, path: "/v1/acts", body: map[string]any{"reason": "TEST", "act": "park", "filter": map[string]any{}}}).want(http.StatusCreated)).Plan.ID
	made := into[api.Recipe](w.preview("all", with("filter", map[string]any{}, "rx_rules", []any{setNDC})).want(http.StatusCreated)).ID
	for _, op := range ops {
		switch {
		case strings.HasPrefix(op.path, "/v1/recipes/"):
			m.ids[op.path] = []string{made}
		case strings.HasPrefix(op.path, "/v1/records/"):
			for _, id := range ids {
				m.ids[op.path] = append(m.ids[op.path], id.String())
			}
		case strings.HasPrefix(op.path, "/v1/replays/"):
			m.ids[op.path] = []string{job}
		case strings.HasPrefix(op.path, "/v1/acts/"):
			m.ids[op.path] = []string{act}
		case strings.HasPrefix(op.path, "/v1/users/"):
			m.ids[op.path] = []string{"u1", "u2", "u3"}
		case strings.HasPrefix(op.path, "/v1/switches/"):
			m.ids[op.path] = []string{"ncpdp"}
		}
	}
	const rounds = 12 // fewer are not varied enough
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
