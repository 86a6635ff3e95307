package api

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"claimdlq/internal/auth"
)

// What an operation asks for where it is no permission of package auth.
const (
	permNone auth.Permission = "none" // nobody need be signed in
	permSelf auth.Permission = "self" // somebody is signed in: it is about himself
)

// The names of the document's extensions.
const (
	extPermission = "x-permission"
	extPayload    = "x-payload"
	extPartners   = "x-partner-scope"
)

// The largest bodies, in bytes.
const (
	bodySmall    = 64 << 10
	bodyDocument = 24 << 20 // a corrected document of 16 MiB, in base64
)

// operation is what there is to say of an operation beside its types.
type operation struct {
	id, method, path, tag, summary, about string

	perm    auth.Permission
	or      []auth.Permission // one of these is enough to be let in; which it takes is the operation's to ask
	command bool              // it changes something: needs an Idempotency-Key
	may     bool              // of a command: it takes an Idempotency-Key, and needs none
	match   bool              // it is about one record as it was seen: needs If-Match
	payload bool              // content of claims goes in or out
	answers string            // content type, where it is not JSON
	stream  bool              // it answers with events, for as long as the client stays
	body    int64             // largest body; default bodySmall
	status  int               // of success; default 200
	lenient bool              // parameters are taken as they are: somebody else decides about them

	patience time.Duration // how long it may take; default patience
}

// add registers an operation. Its errors become problems. Operations of the other kind
// (see Options and Payload) are in the document only.
func add[I, O any](s *server, op operation, f func(ctx context.Context, in *I) (*O, error)) {
	if op.body == 0 {
		op.body = bodySmall
	}
	h := huma.Operation{
		OperationID: op.id, Method: op.method, Path: op.path, Summary: op.summary, Description: op.about, Tags: []string{op.tag},
		DefaultStatus: op.status, MaxBodyBytes: op.body + 1, SkipValidateParams: op.lenient,
		BodyReadTimeout: -1, // readBody has read it; a deadline left on the connection would end what takes longer
		Extensions:      map[string]any{extPermission: op.asks()},
	}
	if op.answers != "" {
		h.Responses = map[string]*huma.Response{"200": {Content: map[string]*huma.MediaType{
			op.answers: {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}},
		}}}
	}
	if op.perm != permNone {
		h.Security = []map[string][]string{{"session": {}}, {"token": {}}}
	}
	if op.payload {
		h.Extensions[extPayload] = true
	}
	if op.perm.Known() {
		h.Extensions[extPartners] = true
	}
	if op.command {
		key := header("Idempotency-Key", "Any text of your choice, new for each command: who sends the same again gets the same answer.", "^[A-Za-z0-9._-]{1,64}$")
		key.Required = !op.may
		h.Parameters = append(h.Parameters, key)
	}
	if op.match {
		h.Parameters = append(h.Parameters, header("If-Match", "The ETag of the record as you saw it.", `^"[0-9]{1,10}"$`))
	}
	s.adding = op
	huma.Register(s.api, h, func(ctx context.Context, in *I) (*O, error) {
		out, err := f(ctx, in)
		if err != nil {
			return nil, problemOf(err)
		}
		return out, nil
	})
}

// asks spells what an operation asks for, alternatives with a bar between them.
func (op *operation) asks() string {
	all := []string{string(op.perm)}
	for _, p := range op.or {
		all = append(all, string(p))
	}
	return strings.Join(all, "|")
}

func header(name, about, pattern string) *huma.Param {
	return &huma.Param{Name: name, In: "header", Required: true, Description: about, Schema: &huma.Schema{Type: huma.TypeString, Pattern: pattern}}
}

// routes takes the framework's handlers and puts the guard before each.
type routes struct{ s *server }

// HandleFunc implements humago.Mux.
func (r routes) HandleFunc(pattern string, h func(http.ResponseWriter, *http.Request)) {
	if op := r.s.adding; op.payload == r.s.payload || r.s.o.WithPayload {
		r.s.mux.Handle(pattern, r.s.outer(r.s.guard(op, http.HandlerFunc(h))))
	}
}

// ServeHTTP implements humago.Mux.
func (r routes) ServeHTTP(w http.ResponseWriter, req *http.Request) { r.s.mux.ServeHTTP(w, req) }

// operations registers all there are.
func (s *server) operations() {
	for _, f := range []func(){
		s.sessionOperations, s.userOperations, s.tokenOperations, s.recordOperations, s.faultOperations, s.partnerOperations, s.overviewOperations, s.commandOperations,
		s.alarmOperations, s.switchOperations, s.approvalOperations, s.jobOperations, s.actOperations, s.recipeOperations, s.eventOperations, s.auditOperations, s.sizingOperations,
		s.payloadOperations, s.deadlineOperations, s.doorOperations, s.keyOperations,
	} {
		f()
	}
}

// sentences joins sentences of a description.
func sentences(all ...string) string { return strings.Join(all, " ") }
