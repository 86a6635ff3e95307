package client

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"

	"claimdlq"
)

// Event is one server-sent event.
type Event struct {
	Name string // such as progress
	ID   string // to go on after it
	Data []byte // JSON
}

// Events reads events as they come. It is for one goroutine; Close ends it.
type Events struct {
	body io.ReadCloser
	scan *bufio.Scanner
	op   string
}

const maxEvent = 1 << 20

func (c *Client) events(ctx context.Context, x call) (*Events, error) {
	resp, err := c.do(ctx, x) //nolint:bodyclose // Events.Close closes it
	if err != nil {
		return nil, err
	}
	s := bufio.NewScanner(resp.Body)
	s.Buffer(nil, maxEvent)
	return &Events{resp.Body, s, x.op}, nil
}

// Next waits for the next event. Errors: io.EOF where the server has ended the stream,
// else Unavailable: open it again with the ID of the last event.
func (e *Events) Next() (Event, error) {
	var out Event
	for e.scan.Scan() {
		field, value, _ := strings.Cut(e.scan.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "event":
			out.Name = value
		case "id":
			out.ID = value
		case "data":
			if out.Data != nil {
				out.Data = append(out.Data, '\n')
			}
			out.Data = append(out.Data, value...)
		case "":
			if value == "" && out.Data != nil { // otherwise it is a comment, or a beat
				return out, nil
			}
		}
	}
	if err := e.scan.Err(); err != nil && !errors.Is(err, io.EOF) {
		return Event{}, &claimdlq.Error{Code: claimdlq.Unavailable, Op: e.op, Err: err}
	}
	return Event{}, io.EOF
}

// Close ends the stream.
func (e *Events) Close() error { return e.body.Close() }
