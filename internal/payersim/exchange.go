package payersim

import (
	"errors"
	"io"
	"net/http"
)

// reply is what a request is answered with: acknowledgments, or the answer to
// pharmacy claims.
type reply struct {
	files    []File
	body     []byte
	pharmacy bool
}

// taker takes what came in a body. broke says that the body did not come whole:
// nothing was taken then.
type taker func(body io.Reader, s *Script) (r reply, broke, err error)

// exchange takes one body and answers it, or fails as the script says.
func (p *Payer) exchange(w http.ResponseWriter, r *http.Request, limit int64, take taker) {
	n, script := int(p.requests.Add(1)), p.currentScript()
	p.underWay.Add(1)
	defer p.underWay.Add(-1)
	body := http.MaxBytesReader(w, r.Body, limit)
	if a, ok := script.outage(p.elapsed(), n); ok {
		p.misbehave(w, body, a)
		return
	}
	if a, ok := script.first("request", n, "latency"); ok && !pause(r.Context(), a.wait) {
		panic(http.ErrAbortHandler)
	}
	answer, broke, err := take(body, script)
	var long *http.MaxBytesError
	switch {
	case errors.As(broke, &long):
		writeJSON(w, http.StatusRequestEntityTooLarge, map[string]string{"error": "the file is too long"})
		return
	case broke != nil: // the sender broke off
		panic(http.ErrAbortHandler)
	case err != nil:
		refuseHTTP(w, err)
		return
	}
	if a, ok := script.first("request", n, "drop", "hang", "late"); ok && p.lose(r, a) {
		p.unheard.Add(1)
		p.putBack(answer.files) // what was acknowledged still is, but not here
		panic(http.ErrAbortHandler)
	}
	p.answer(w, answer)
}

// lose keeps the sender waiting and reports whether the answer does not go out.
func (p *Payer) lose(r *http.Request, a action) bool {
	switch a.verb {
	case "hang":
		<-r.Context().Done()
	case "late":
		return !pause(r.Context(), a.wait)
	}
	return true
}

func refuseHTTP(w http.ResponseWriter, err error) {
	code, text := statusOf(err), "the payer cannot take it"
	if code == http.StatusBadRequest {
		text = err.Error()
	}
	writeJSON(w, code, map[string]string{"error": text})
}

func statusOf(err error) int {
	switch {
	case errors.Is(err, errEmpty), errors.Is(err, errNoRequest):
		return http.StatusBadRequest
	case errors.Is(err, errFull):
		return http.StatusInsufficientStorage
	}
	return http.StatusInternalServerError
}

var errEmpty = errors.New("there is no interchange")

func (p *Payer) takeInterchanges(body io.Reader, s *Script) (r reply, broke, err error) {
	all, err := read(body, s)
	if err != nil {
		return r, err, nil
	}
	if len(all) == 0 {
		return r, nil, errEmpty
	}
	r.files, err = p.take(all)
	return r, nil, err
}

// takeWith takes pharmacy claims.
func (p *Payer) takeWith(adjudicate func([]byte) ([]byte, error)) taker {
	return func(body io.Reader, _ *Script) (r reply, broke, err error) {
		b, err := io.ReadAll(body)
		if err != nil {
			return r, err, nil
		}
		r.pharmacy = true
		r.body, err = adjudicate(b)
		return r, nil, err
	}
}

// answer sends what there is in the body, or puts acknowledgments into the folder.
func (p *Payer) answer(w http.ResponseWriter, r reply) {
	if r.pharmacy {
		w.Header().Set("Content-Type", MediaType)
		_, _ = w.Write(r.body)
		return
	}
	files := r.files
	if p.o.AckDir != "" {
		if err := drop(p.o.AckDir, files); err != nil {
			p.putBack(files)
		}
		files = nil
	}
	if len(files) == 0 {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "application/EDI-X12")
	for _, f := range files {
		_, _ = w.Write(f.Body)
	}
}
