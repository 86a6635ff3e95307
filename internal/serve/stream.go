package serve

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"claimdlq/flow/intake"
	"claimdlq/phi"
)

// together is the most messages of a stream that one flush carries.
const together = 256

// stream takes messages in for as long as the client sends them, and answers each
// with one line, in order, as soon as it is durable. What is here is taken in
// together: a busy stream shares its flushes, a slow one waits for nobody.
func (s *server) stream(w http.ResponseWriter, r *http.Request) {
	c := http.NewResponseController(w)
	if err := c.EnableFullDuplex(); err != nil && r.ProtoMajor == 1 {
		fail(w, err)
		return
	}
	in, out := newFrames(r.Body), json.NewEncoder(w)
	o := intake.MessageOptions{Bulk: r.URL.Query().Has("bulk")}
	answered := false
	raws := make([]phi.Bytes, 0, together)
	for {
		raws = raws[:0]
		var end error
		for len(raws) < together {
			b, err := in.next()
			if err != nil {
				end = err
				break
			}
			raws = append(raws, phi.Wrap(b))
			if !in.more() {
				break
			}
		}
		if len(raws) > 0 && !answered {
			w.Header().Set("Content-Type", "application/x-ndjson")
		}
		got, err := s.flush(r, raws, o)
		if err != nil {
			end = err
		}
		_ = c.SetWriteDeadline(s.o.Now().Add(replyTime)) // who reads no answers holds nothing
		for i := range got {
			if out.Encode(&got[i]) != nil {
				return
			}
			answered = true
		}
		switch {
		case end == nil || errors.Is(end, io.EOF):
		case !answered: // the status can still say it
			fail(w, end)
		default:
			_ = out.Encode(problemOf(end))
		}
		if c.Flush() != nil || end != nil {
			s.rest(c, r.Body)
			return
		}
		_ = c.SetWriteDeadline(time.Time{}) // HTTP/2 ends a stream at it, also one that waits for claims
	}
}

// rest reads what little is left of a body that ended with an error. Left to net/http,
// which reads in the background of a full duplex connection too, the two would meet.
func (s *server) rest(c *http.ResponseController, body io.Reader) {
	_ = c.SetReadDeadline(s.o.Now().Add(time.Second))
	_, _ = io.CopyN(io.Discard, body, 256<<10+1) // net/http gives up a connection with more
}

// flush takes the messages in.
func (s *server) flush(r *http.Request, raws []phi.Bytes, o intake.MessageOptions) ([]intake.Receipt, error) {
	if len(raws) == 0 {
		return nil, nil
	}
	if err := s.enter(r.Context(), s.gate); err != nil {
		return nil, err
	}
	defer s.gate.leave()
	got, err := s.o.Flow.Intake.Messages(r.Context(), by(r), raws, o)
	if s.ended(err) != nil {
		return nil, err
	}
	s.o.Flow.Attempt.Wake()
	return got, nil
}
