package api

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// deadlined notes the write deadline in force.
type deadlined struct {
	*httptest.ResponseRecorder
	at time.Time
}

func (d *deadlined) SetWriteDeadline(t time.Time) error { d.at = t; return nil }

func (d *deadlined) Write(b []byte) (int, error) {
	if d.at.IsZero() {
		return 0, http.ErrNotSupported // a write that nothing limits
	}
	return d.ResponseRecorder.Write(b)
}

// TestQuietEventsGoOn: HTTP/2 ends a stream at its write deadline even where nothing is
// being written, so that none may stand while there is nothing to tell.
func TestQuietEventsGoOn(t *testing.T) {
	w := &deadlined{ResponseRecorder: httptest.NewRecorder()}
	e := &events{w, http.NewResponseController(w), time.Now}
	if err := e.beat(); err != nil {
		t.Fatal(err)
	}
	if !w.Flushed || !w.at.IsZero() {
		t.Errorf("after an event: flushed %v, deadline %v; want none", w.Flushed, w.at)
	}
}
