package serve

import (
	"net/http"
	"strconv"

	"claimdlq"
)

// recordJSON is a record as everybody may see it: codes, counts and times.
type recordJSON struct {
	Key string `json:"key"`
	claimdlq.Record
}

func (s *server) record(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseUint(r.PathValue("id"), 10, 63)
	if err != nil {
		fail(w, &claimdlq.Error{Code: claimdlq.NotFound, Op: "get record", Hint: "a record's id is a number"})
		return
	}
	rec, err := s.o.Store.Get(r.Context(), claimdlq.ID(id))
	if err != nil {
		fail(w, err)
		return
	}
	answer(w, http.StatusOK, recordJSON{rec.DisplayKey(), rec})
}

// switches lists what is stopped.
func (s *server) switches(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, map[string]any{"stopped": s.o.Flow.Attempt.Stopped()})
}

func (s *server) stop(w http.ResponseWriter, r *http.Request)  { s.turn(w, r, true) }
func (s *server) start(w http.ResponseWriter, r *http.Request) { s.turn(w, r, false) }

// turn stops or starts a stream, or one partner of it (?partner=BIN:PCN). It works at
// once: what is not with the payer yet stays here.
func (s *server) turn(w http.ResponseWriter, r *http.Request, stop bool) {
	stream, q := r.PathValue("stream"), r.URL.Query()
	if stream != claimdlq.StreamX12 && stream != claimdlq.StreamNCPDP {
		fail(w, &claimdlq.Error{Code: claimdlq.NotFound, Op: "switch stream", Hint: "the streams are 837 and ncpdp"})
		return
	}
	if err := s.o.Switch(claimdlq.By{Actor: "api", Reason: q.Get("reason")}, stream, q.Get("partner"), stop); err != nil {
		fail(w, err)
		return
	}
	s.switches(w, r)
}
