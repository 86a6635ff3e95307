package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"claimdlq/internal/auth"
	"claimdlq/internal/job"
)

const eventStream = "text/event-stream"

// writeWithin is how long a reader of events may take to take one.
const writeWithin = 10 * time.Second

// events are one open stream of server-sent events.
type events struct {
	w   http.ResponseWriter
	c   *http.ResponseController
	now func() time.Time
}

// write sends bytes at once. A reader that takes none ends the stream. No deadline stands
// between two writes: HTTP/2 ends a stream at it, whether or not something is being written.
func (e *events) write(b []byte) error {
	if err := e.c.SetWriteDeadline(e.now().Add(writeWithin)); err != nil {
		return err
	}
	if _, err := e.w.Write(b); err != nil {
		return err
	}
	if err := e.c.Flush(); err != nil {
		return err
	}
	return e.c.SetWriteDeadline(time.Time{})
}

// event sends one event.
func (e *events) event(name, id string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return e.write(fmt.Appendf(nil, "event: %s\nid: %s\ndata: %s\n\n", name, id, b))
}

// beat shows that the stream lives.
func (e *events) beat() error { return e.write([]byte(": beat\n\n")) }

type eventsOutput = huma.StreamResponse

// stream answers with events until f returns, or the process is to end.
func (s *server) stream(f func(ctx context.Context, e *events) error) *eventsOutput {
	return &eventsOutput{Body: func(hc huma.Context) {
		r, w := humago.Unwrap(hc)
		w.Header().Set("Content-Type", eventStream)
		w.WriteHeader(http.StatusOK)
		e := &events{w, http.NewResponseController(w), s.o.Now}
		ctx, end := context.WithCancel(r.Context())
		defer end()
		defer context.AfterFunc(s.o.Until, end)()
		_ = f(ctx, e) // the reader is gone, or it is over: there is nobody to tell
	}}
}

// EventsInput is what a reader of events has seen already.
type EventsInput struct {
	LastEventID string `header:"Last-Event-ID" maxLength:"64"`
}

func (s *server) eventOperations() {
	const beat = "A comment line shows every few seconds that the stream lives; it ends with the session."
	add(s, operation{
		id: "follow-replay", method: http.MethodGet, path: "/v1/replays/{id}/events", tag: "replays", perm: auth.RecordsRead, stream: true, answers: eventStream,
		summary: "A job's progress, as server-sent events",
		about:   sentences("Events named progress hold a Progress; what a Last-Event-ID has seen is not sent again; after a restart of the server all of it is sent. The stream ends when nothing more will change.", beat),
	}, s.followJob)
	add(s, operation{
		id: "follow-overview", method: http.MethodGet, path: "/v1/streams", tag: "overview", perm: auth.MetricsRead, stream: true, answers: eventStream,
		summary: "The overview whenever it changes, as server-sent events", about: sentences("Events named overview hold an Overview.", beat),
	}, s.followOverview)
}

func (s *server) followJob(ctx context.Context, in *struct {
	JobPath
	EventsInput
},
) (*eventsOutput, error) {
	v, err := s.job(ctx, in.ID, auth.RecordsRead, "")
	if err != nil {
		return nil, err
	}
	return s.follow(v, in.LastEventID, func(p job.Progress) any { return toProgress(p) })
}

// follow answers with the events of a job until nothing more will change.
func (s *server) follow(v *jobView, last string, show func(job.Progress) any) (*eventsOutput, error) {
	seen := s.seen(last)
	ch, stop, err := v.jobs.Subscribe(v.plan.ID)
	if err != nil {
		return nil, err
	}
	return s.stream(func(ctx context.Context, e *events) error {
		defer stop()
		t := time.NewTicker(s.o.Heartbeat)
		defer t.Stop()
		if err := e.beat(); err != nil {
			return err
		}
		for {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case p, ok := <-ch:
				switch {
				case !ok:
					return e.write([]byte("event: end\ndata: {}\n\n"))
				case p.Seq <= seen && seen > 0:
					continue
				}
				if err := e.event("progress", s.eventID(p.Seq), show(p)); err != nil {
					return err
				}
			case <-t.C:
				p, err := s.o.Desk.Still(v.who)
				if err == nil {
					err = p.MaySome(auth.RecordsRead)
				}
				if err != nil || !coversJob(p, v.plan) {
					return err
				}
				if err := e.beat(); err != nil {
					return err
				}
			}
		}
	}), nil
}

// eventID names an event that is counted from the start of the process.
func (s *server) eventID(seq uint64) string { return s.life + "-" + strconv.FormatUint(seq, 10) }

// seen returns the number in the id of an event: 0, nothing was seen, where it is not of
// this process, which counts anew.
func (s *server) seen(id string) uint64 {
	n, ok := strings.CutPrefix(id, s.life+"-")
	seq, err := strconv.ParseUint(n, 10, 64)
	if !ok || err != nil {
		return 0
	}
	return seq
}

func (s *server) followOverview(ctx context.Context, in *EventsInput) (*eventsOutput, error) {
	p := who(ctx)
	return s.stream(func(ctx context.Context, e *events) error {
		look, beat := time.NewTicker(s.o.Refresh), time.NewTicker(s.o.Heartbeat)
		defer look.Stop()
		defer beat.Stop()
		last := in.LastEventID
		if err := e.beat(); err != nil {
			return err
		}
		for {
			var err error
			if last, err = s.sendOverview(ctx, e, p, last); err != nil {
				return err
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-look.C:
			case <-beat.C:
				if p, err = s.o.Desk.Still(p); err == nil {
					err = p.MaySome(auth.MetricsRead)
				}
				if err == nil {
					err = e.beat()
				}
				if err != nil {
					return err
				}
			}
		}
	}), nil
}

// sendOverview sends the overview unless it is the one with the given id, and returns
// the id of the present one.
func (s *server) sendOverview(ctx context.Context, e *events, p auth.Principal, last string) (string, error) {
	o, err := s.overview(ctx, p)
	if err != nil {
		return last, err
	}
	b, err := json.Marshal(o)
	if err != nil {
		return last, err
	}
	sum := sha256.Sum256(b)
	id := hex.EncodeToString(sum[:8])
	if id == last {
		return id, nil
	}
	return id, e.event("overview", id, o)
}
