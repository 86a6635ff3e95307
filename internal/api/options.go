package api

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"net/http"
	"path"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"claimdlq"
	"claimdlq/alert"
	"claimdlq/internal/app"
	"claimdlq/internal/auth"
	"claimdlq/internal/job"
	"claimdlq/internal/recipe"
)

// Options join the interface to what it works with. App, DataDir, Desk and Now are
// required.
type Options struct {
	App *app.App
	// DataDir is the App's directory: its audit log is read there.
	DataDir string
	Desk    *auth.Desk
	// Jobs are the replay jobs. Default: replays of single records only; the operations
	// of jobs answer 503.
	Jobs *job.Jobs
	// Acts are the jobs that are no replay, in a directory of their own. Default: their
	// operations answer 503.
	Acts *job.Jobs
	// Recipes are the corrections of groups; New and Payload of one process share them.
	// Default: the operations of recipes answer 503.
	Recipes *recipe.Recipes
	// Alarms returns what rings. Default: nothing.
	Alarms func() []alert.Event
	// Rates returns what the last minute brought, nil where that is not known. Default: nil.
	Rates func() *Rates
	// Silences holds what people have silenced; the one that sends alarms asks the same.
	// Default: alarms cannot be silenced, 503.
	Silences *Silences
	// WithPayload lets New have the operations with payloads too: one listener for all.
	// A browser needs that, or a proxy which shows both listeners as one origin: what
	// comes from a page of another origin, another port among them, is refused.
	WithPayload bool
	// Locks are shared by New and Payload of one process. Default: each has its own, so
	// that a correction and a release of one record at the same moment are told apart by
	// the store alone.
	Locks *Locks
	// Background runs what outlives its request, such as a dry run; the context it gives
	// ends when the process is to end, and whoever gave it waits for f. Default: a
	// goroutine of its own, without end.
	Background func(f func(context.Context))
	// Until ends when the process is to end, and with it every event stream: a page that is
	// open does not hold up a stop. Default: never.
	Until context.Context
	// Version is the program's, for the document. Default: unknown.
	Version string
	Log     *slog.Logger
	Now     func() time.Time
	// AtOnce is how many requests are worked on at a time, Streams how many event streams
	// may be open. More are refused with 503. Default: 64, 256.
	AtOnce, Streams int
	// Rate is how many requests a second one actor may make; more are refused with 429.
	// Default: 100.
	Rate float64
	// Heartbeat is how often an event stream shows that it lives, and asks whether its
	// reader is still signed in; Refresh how often the overview is looked at for one.
	// Default: 15 s, 2 s.
	Heartbeat, Refresh time.Duration
}

// Locks keep two commands on one record from meeting between If-Match and the step. The
// zero Locks are ready.
type Locks struct{ stripes [1024]sync.Mutex }

func (l *Locks) of(id claimdlq.ID) *sync.Mutex { return &l.stripes[uint64(id)%uint64(len(l.stripes))] }

// server is what the operations work with.
type server struct {
	o       Options
	payload bool      // the operations with payloads, or the others
	adding  operation // what is being registered

	api     huma.API
	mux     *http.ServeMux
	life    string // names this process in the ids of events that count from its start
	doc     []byte // OpenAPI, as served
	rooms   rooms
	replies *replies
	pace    *pace
	dry     sync.Mutex // guards drying
	drying  map[job.ID]bool
	sizing  chan struct{}

	rotating sync.Mutex
}

// New returns the handler of every operation but those with payloads, and of
// /openapi.json. It has the paths under /v1/ that are in the document; mount what
// else lies there by longer patterns beside it. Errors: Invalid (the options).
func New(o Options) (http.Handler, error) { return build(o, false) }

// Payload returns the handler of the operations whose request or answer is the content
// of a claim, so that they can have a listener of their own. Errors as for New.
func Payload(o Options) (http.Handler, error) { return build(o, true) }

// hookOnce makes the framework's errors ours, and lists lists. It has one setting each
// for the process.
var hookOnce sync.Once

func setHooks() {
	hookOnce.Do(func() { huma.NewError, huma.DefaultArrayNullable = fromHuma, false })
}

func build(o Options, payload bool) (http.Handler, error) {
	if o.App == nil || o.Desk == nil || o.Now == nil || o.DataDir == "" {
		return nil, &claimdlq.Error{Code: claimdlq.Invalid, Op: "set up the API", Hint: "App, DataDir, Desk and Now are required"}
	}
	setHooks()
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Background == nil {
		o.Background = func(f func(context.Context)) { go f(context.Background()) }
	}
	if o.Until == nil {
		o.Until = context.Background()
	}
	if o.Locks == nil {
		o.Locks = &Locks{}
	}
	if o.Alarms == nil {
		o.Alarms = func() []alert.Event { return nil }
	}
	if o.Rates == nil {
		o.Rates = func() *Rates { return nil }
	}
	o.AtOnce, o.Streams = cmp.Or(o.AtOnce, 64), cmp.Or(o.Streams, 256)
	o.Heartbeat, o.Refresh = cmp.Or(o.Heartbeat, 15*time.Second), cmp.Or(o.Refresh, 2*time.Second)
	s := &server{
		o: o, payload: payload, mux: http.NewServeMux(), rooms: newRooms(o.AtOnce, o.Streams),
		drying: map[job.ID]bool{}, sizing: make(chan struct{}, 1),
	}
	s.life = rand.Text()[:8]
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		return nil, &claimdlq.Error{Code: claimdlq.Unavailable, Op: "set up the API", Err: err}
	}
	s.replies, s.pace = newReplies(key, o.Now), newPace(cmp.Or(o.Rate, 100), o.Now)
	if err := s.describe(); err != nil {
		return nil, err
	}
	s.mux.Handle("/", s.outer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		writeProblem(w, missing("operation", "by method and path"))
	})))
	s.mux.Handle("GET /openapi.json", s.outer(http.HandlerFunc(s.document)))
	return s.mux, nil
}

// Document returns the API's document, OpenAPI 3.1, as JSON. Errors: Internal.
func Document(version string) ([]byte, error) {
	setHooks()
	s := &server{o: Options{Version: version, WithPayload: true}, mux: http.NewServeMux()}
	err := s.describe()
	return s.doc, err
}

// describe registers the operations and writes their document.
func (s *server) describe() error {
	config := huma.DefaultConfig("claimdlq", cmp.Or(s.o.Version, "unknown"))
	config.OpenAPIPath, config.DocsPath, config.SchemasPath, config.CreateHooks = "", "", "", nil
	config.RejectUnknownQueryParameters = true
	config.Components.Schemas = huma.NewMapRegistry("#/components/schemas/", schemaName)
	config.Info.Description = "Operate a claims dead-letter queue. Every operation names its permission in x-permission; those with x-payload carry content of claims and may be on a listener of their own."
	config.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"session": {Type: "apiKey", In: "cookie", Name: "session", Description: "The cookie that sign-in sets."},
		"token":   {Type: "http", Scheme: "bearer", Description: "An API token."},
	}
	s.api = humago.New(routes{s}, config)
	s.operations()
	doc, err := json.Marshal(s.api.OpenAPI())
	if err != nil {
		return &claimdlq.Error{Code: claimdlq.Internal, Op: "write the API's document", Err: err}
	}
	s.doc = doc
	return nil
}

// schemaName names a type in the document; one of another package bears its name too.
func schemaName(t reflect.Type, hint string) string {
	name := huma.DefaultSchemaNamer(t, hint)
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	pkg := path.Base(t.PkgPath())
	if t.Name() == "" || pkg == "api" || pkg == "." {
		return name
	}
	return strings.ToUpper(pkg[:1]) + pkg[1:] + name
}

func (s *server) document(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/openapi+json")
	_, _ = w.Write(s.doc)
}
