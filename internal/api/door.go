package api

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"claimdlq"
	"claimdlq/flow/intake"
	"claimdlq/flow/settle"
	"claimdlq/internal/auth"
)

// Door is an operation that the serving process answers itself: files and streams of
// claims come in, figures and health go out. It is in the document like all others. Doors
// is what the serving process makes its paths from, so that there is one list.
type Door struct {
	ID, Method, Path string
	Permission       auth.Permission // "none": nobody is asked who he is
}

// Doors lists them.
func Doors() []Door {
	all := doors()
	out := make([]Door, len(all))
	for i := range all {
		out[i] = all[i].Door
	}
	return out
}

// door is what the document says of one.
type door struct {
	Door
	tag, summary, about string

	file    bool // the body is a file or a stream of claims
	params  []*huma.Param
	answers []answered
}

// answered is an answer that is no problem: of several with one status it is one of them.
type answered struct {
	status int
	about  string
	kind   string // content type
	types  []any
}

const (
	jsonType  = "application/json"
	linesType = "application/x-ndjson"
	plainType = "text/plain"
	bytesType = "application/octet-stream"
)

func doors() []door {
	const claims, post, get = "claims", http.MethodPost, http.MethodGet
	bulk := query("bulk", "With any value: it gives way to claims that somebody waits for.", &huma.Schema{Type: huma.TypeString, MaxLength: new(8)})
	file := answered{http.StatusAccepted, "All that it counts is durable.", jsonType, []any{intake.Result{}}}
	one := []any{intake.Receipt{}, intake.Result{}}
	status := answered{http.StatusOK, "", jsonType, []any{Health{}}}
	return []door{
		{
			Door: Door{"take-claim", post, "/v1/claims", auth.ClaimsIntake}, tag: claims, summary: "Take one transmission or X12 file in", file: true,
			about: "Whether a claim was held for a fault is in the answer, not in the status: it is safe either way. Several transmissions are refused: they are for /v1/claims/batch.",
			params: []*huma.Param{bulk, {
				Name: "Prefer", In: "header", Description: "wait=SECONDS, at most 60: stay until the claims are at rest, and answer 200.", Schema: &huma.Schema{Type: huma.TypeString, MaxLength: new(64)},
			}},
			answers: []answered{
				{http.StatusAccepted, "Durable. A pharmacy transmission has records, a file has counts.", jsonType, one},
				{http.StatusOK, "Asked with Prefer: the claims are at rest, or the time is over.", jsonType, []any{intake.Receipt{}}},
			},
		},
		{
			Door: Door{"take-batch", post, "/v1/claims/batch", auth.ClaimsIntake}, tag: claims, summary: "Take a file in: NCPDP batch, several transmissions, or X12",
			file: true, answers: []answered{file},
		},
		{
			Door: Door{"take-stream", post, "/v1/claims/stream", auth.ClaimsIntake}, tag: claims, summary: "Take transmissions in for as long as they come, each between STX and ETX",
			about: "Each is answered with one line, in order, once it is durable: a receipt, or a problem, which is the last.",
			file:  true, params: []*huma.Param{bulk}, answers: []answered{{http.StatusOK, "", linesType, nil}},
		},
		{
			Door: Door{"take-dead-letter", post, "/v1/dead-letters", auth.DeadlettersIntake}, tag: claims, summary: "Take in what another pipeline gave up on; nothing goes out", file: true,
			params: []*huma.Param{
				query("reason", "Default: RETRIES_EXHAUSTED.", &huma.Schema{Type: huma.TypeString, Enum: []any{"FATAL_SYNTAX", "RETRIES_EXHAUSTED", "SEMANTIC_REJECT", "OVERFLOW"}}),
				needed(query("detail", "The last error as a code, such as HTTP_503.", &huma.Schema{Type: huma.TypeString, Pattern: "^[A-Z0-9_:.-]{1,64}$", MaxLength: new(64)})),
				query("attempts", "How often it was delivered.", &huma.Schema{Type: huma.TypeInteger, Minimum: new(0.0), Maximum: new(65535.0)}),
				query("ambiguous", "The payer may have acted on it: it is taken in as in doubt.", &huma.Schema{Type: huma.TypeBoolean}),
			},
			answers: []answered{file},
		},
		{
			Door: Door{"take-acknowledgments", post, "/v1/acknowledgments", auth.AcksIntake}, tag: claims, summary: "Take in a file of the payer's answers: TA1, 999, 277CA, pharmacy responses", file: true,
			about:   "A file that was read before does nothing. Answers that match nothing are kept.",
			answers: []answered{{http.StatusOK, "All of it is durable.", jsonType, []any{settle.Result{}}}},
		},
		{
			Door: Door{"get-metrics", get, "/metrics", auth.MetricsRead}, tag: "health", summary: "Figures for Prometheus, of all partners",
			answers: []answered{{http.StatusOK, "", plainType, nil}},
		},
		{Door: Door{"get-health", get, "/healthz", permNone}, tag: "health", summary: "The process answers", answers: []answered{status}},
		{
			Door: Door{"get-readiness", get, "/readyz", permNone}, tag: "health", summary: "Claims can be taken in", about: "503 says why not.",
			answers: []answered{status},
		},
	}
}

// Health is the answer of a process that is well.
type Health struct {
	Status string `json:"status" enum:"ok,ready"`
}

// doorOperations puts the doors into the document; who serves them mounts them.
func (s *server) doorOperations() {
	doc := s.api.OpenAPI()
	schema := func(v any) *huma.Schema { return doc.Components.Schemas.Schema(reflect.TypeOf(v), true, "") }
	for _, d := range doors() {
		h := &huma.Operation{
			OperationID: d.ID, Method: d.Method, Path: d.Path, Summary: d.summary, Description: d.about, Tags: []string{d.tag}, Parameters: d.params,
			Extensions: map[string]any{extPermission: string(d.Permission)},
			Responses:  map[string]*huma.Response{"default": {Description: "Error", Content: map[string]*huma.MediaType{"application/problem+json": {Schema: schema(Problem{})}}}},
		}
		if d.Permission != permNone {
			h.Description = strings.TrimSpace(sentences(d.about, doorRule))
			h.Security = []map[string][]string{{"session": {}}, {"token": {}}}
		}
		if d.file {
			h.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{bytesType: {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}}}
		}
		for _, a := range d.answers {
			m := &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}}
			for _, v := range a.types {
				if len(a.types) == 1 {
					m.Schema = schema(v)
					break
				}
				m.Schema.Type, m.Schema.OneOf = "", append(m.Schema.OneOf, schema(v))
			}
			about := a.about
			if about == "" {
				about = http.StatusText(a.status)
			}
			h.Responses[strconv.Itoa(a.status)] = &huma.Response{Description: about, Content: map[string]*huma.MediaType{a.kind: m}}
		}
		doc.AddOperation(h)
	}
}

const doorRule = "It is about all partners: who is limited to some may not. The serving process's own token (token_file) is good for it, too; on a loopback address without one nobody is asked."

func query(name, about string, s *huma.Schema) *huma.Param {
	return &huma.Param{Name: name, In: "query", Description: about, Schema: s}
}

func needed(p *huma.Param) *huma.Param {
	p.Required = true
	return p
}

// Porter says who may come in at the doors. It looks in memory only: no request costs a
// read of a disk or a hash of a password.
type Porter struct {
	desk   *auth.Desk
	record func(context.Context, auth.Event) error
	now    func() time.Time
	pace   *pace // of refusals, which are in the audit log
}

// NewPorter returns a Porter; record makes an event durable.
func NewPorter(desk *auth.Desk, record func(context.Context, auth.Event) error, now func() time.Time) *Porter {
	return &Porter{desk, record, now, newPace(10, now)}
}

// Admit returns who makes the request, by API token or session, if he may do this for
// every partner. Where the door is open nobody need say who he is, and the name is empty
// then; but who does is held to what he may, and a page of another site is refused.
// Errors: those of auth.Principal.May; where it was not said, ErrUnauthenticated.
func (p *Porter) Admit(r *http.Request, d Door, open bool) (claimdlq.By, error) {
	who, err := p.desk.Authenticate(r)
	if open && errors.Is(err, auth.ErrUnauthenticated) && !auth.BringsToken(r) {
		if len(r.Header.Values("Origin"))+len(r.Header.Values("Sec-Fetch-Site")) > 0 { // a browser
			err = p.desk.CheckOrigin(r)
		} else {
			err = nil
		}
		return claimdlq.By{}, err
	}
	if err != nil {
		return claimdlq.By{}, err
	}
	err = who.May(d.Permission, "")
	if errors.Is(err, auth.ErrForbidden) && r.Method != http.MethodGet {
		if slow := p.pace.take(who.Actor); slow != nil {
			return claimdlq.By{}, slow
		}
		if rerr := p.record(r.Context(), who.Denied(p.now(), d.Permission)); rerr != nil {
			return claimdlq.By{}, rerr
		}
	}
	if errors.Is(err, auth.ErrPartner) {
		err = withStatus(http.StatusForbidden, claimdlq.Refused, "ask for permission", string(d.Permission), "a file may be about any partner: it takes somebody who is limited to none")
	}
	return who.By(), err
}
