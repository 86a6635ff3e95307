package api_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"claimdlq/internal/auth"
)

// reading notes until when a request may be read from its connection.
type reading struct {
	http.ResponseWriter

	until time.Time
}

func (r *reading) SetReadDeadline(t time.Time) error {
	r.until = t
	return nil
}

// A server reads on while a request is worked on, to notice that the caller is gone: a
// deadline that is left on the connection would cut off what takes longer than that.
func TestCommand_IsNotCutOffByTheTimeItsBodyHad(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("ana", []string{auth.AllPartners}, auth.Analyst)
	h, err := w.whole(w.options)
	if err != nil {
		t.Fatal(err)
	}
	until := make(chan time.Time, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		asked := reading{ResponseWriter: rw, until: time.Now()}
		h.ServeHTTP(&asked, r)
		until <- asked.until
	}))
	defer srv.Close()
	w.url = srv.URL
	because := map[string]any{"reason": "TEST", "filter": map[string]any{"stream": "ncpdp"}}
	for _, c := range []struct {
		call
		want int
	}{
		{call{method: http.MethodPost, path: "/v1/session", body: map[string]any{"login": "ana", "password": "TEST not his"}}, http.StatusUnauthorized},
		{call{as: "ana", method: http.MethodPost, path: "/v1/replays", body: because}, http.StatusUnprocessableEntity},
		{call{as: "ana", method: http.MethodPut, path: "/v1/session/password", body: map[string]any{"old": "TEST not his", "new": password}}, http.StatusUnauthorized},
	} {
		w.do(c.call).want(c.want)
		if at := <-until; !at.IsZero() {
			t.Errorf("%s %s may be read until %v", c.method, c.path, at)
		}
	}
}
