package payersim

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"claimdlq/internal/atomicfile"
)

// ServeHTTP implements http.Handler:
//
//	POST   /v1/interchanges           X12 in; acknowledgments, or nothing, out
//	GET    /v1/interchanges/{isa13}   ?sender=QQ:ID&receiver=QQ:ID; {"status":"accepted"}
//	GET    /v1/accepted               every claim accepted, and the counts
//	GET    /v1/duplicates             those accepted more than once
//	GET    /v1/stats                  the counts
//	GET    /v1/acks                   names of the acknowledgments to collect
//	GET    /v1/acks/{name}            one of them; DELETE takes it away
//	PUT    /v1/script                 a new script
func (p *Payer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, method := strings.Trim(strings.TrimPrefix(r.URL.Path, "/v1/"), "/"), r.Method
	part, name, _ := strings.Cut(path, "/")
	switch {
	case path == "interchanges" && method == http.MethodPost:
		p.post(w, r)
	case part == "interchanges" && name != "" && method == http.MethodGet:
		p.query(w, r, name)
	case path == "accepted" && method == http.MethodGet:
		writeJSON(w, http.StatusOK, struct {
			Stats
			Claims []AcceptedClaim `json:"accepted_claims"`
		}{p.Stats(), p.Accepted()})
	case path == "duplicates" && method == http.MethodGet:
		writeJSON(w, http.StatusOK, p.Duplicates())
	case path == "stats" && method == http.MethodGet:
		writeJSON(w, http.StatusOK, p.Stats())
	case path == "acks" && method == http.MethodGet:
		writeJSON(w, http.StatusOK, p.boxNames())
	case part == "acks" && name != "" && (method == http.MethodGet || method == http.MethodDelete):
		p.boxed(w, name, method == http.MethodDelete)
	case path == "script" && method == http.MethodPut:
		p.putScript(w, r)
	default:
		writeJSON(w, http.StatusNotFound, map[string]string{"error": "no such address"})
	}
}

// post takes one file, or fails as the script says.
func (p *Payer) post(w http.ResponseWriter, r *http.Request) {
	n, script := int(p.requests.Add(1)), p.currentScript()
	p.underWay.Add(1)
	defer p.underWay.Add(-1)
	body := http.MaxBytesReader(w, r.Body, p.o.MaxBody)
	if a, ok := script.outage(p.elapsed(), n); ok {
		misbehave(w, body, a)
		return
	}
	if a, ok := script.first("request", n, "latency"); ok && !pause(r.Context(), a.wait) {
		panic(http.ErrAbortHandler)
	}
	all, err := read(body, script)
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		writeJSON(w, http.StatusRequestEntityTooLarge, map[string]string{"error": "the file is too long"})
		return
	case err != nil: // the sender broke off: nothing was taken
		panic(http.ErrAbortHandler)
	case len(all) == 0:
		writeJSON(w, http.StatusBadRequest, map[string]string{"error": "there is no interchange"})
		return
	}
	files, err := p.take(all)
	if err != nil {
		code := http.StatusInternalServerError
		if errors.Is(err, errFull) {
			code = http.StatusInsufficientStorage
		}
		writeJSON(w, code, map[string]string{"error": "the payer cannot take it"})
		return
	}
	if _, drop := script.first("request", n, "drop"); drop {
		p.putBack(files) // what was acknowledged still is, but not here
		panic(http.ErrAbortHandler)
	}
	p.answer(w, files)
}

// outage returns how the nth request fails without being taken.
func (s *Script) outage(elapsed time.Duration, n int) (action, bool) {
	for i := range s.rules {
		if r := &s.rules[i]; r.subject == "time" && elapsed >= r.from && elapsed < r.to {
			return r.act, true
		}
	}
	return s.first("request", n, "reset", "cut", "status")
}

func misbehave(w http.ResponseWriter, body io.Reader, a action) {
	switch a.verb {
	case "status":
		// The whole body is read first, or the sender may see a reset instead.
		_, _ = io.Copy(io.Discard, body)
		if a.wait > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(a.wait/time.Second)))
		}
		w.WriteHeader(a.count)
		return
	case "cut":
		_, _ = io.CopyN(io.Discard, body, 512)
	}
	panic(http.ErrAbortHandler)
}

// answer sends acknowledgments in the body, or puts them into the folder.
func (p *Payer) answer(w http.ResponseWriter, files []File) {
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

// putBack keeps acknowledgments that could not go out for the next chance.
func (p *Payer) putBack(files []File) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.box.put(files, time.Time{}, 0)
}

// drop writes acknowledgments into a folder, each whole or not at all.
func drop(dir string, files []File) error {
	for _, f := range files {
		if err := atomicfile.WriteFile(dir+"/"+f.Name, f.Body, 0o640); err != nil {
			return err
		}
	}
	return nil
}

// query answers whether an interchange was received: the number may be padded.
// While something is being received it does not say that one was not.
func (p *Payer) query(w http.ResponseWriter, r *http.Request, isa13 string) {
	n, err := strconv.ParseUint(isa13, 10, 32)
	busy := p.underWay.Load() > 0 // before the look: what ends in between is found
	q := r.URL.Query()
	lane := q.Get("sender") + ">" + q.Get("receiver")
	p.mu.Lock()
	s, ok := p.ledger.seen[seenKey(lane, uint32(n))]
	p.mu.Unlock()
	if err == nil && !ok && busy {
		writeJSON(w, http.StatusServiceUnavailable, map[string]string{"status": "busy"})
		return
	}
	if err != nil || !ok {
		writeJSON(w, http.StatusNotFound, map[string]string{"status": "not_found"})
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"status": s.status, "isa13": n, "claims": s.claims})
}

// boxNames lists what may be collected.
func (p *Payer) boxNames() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	names := []string{}
	for i := range p.box.files {
		if f := &p.box.files[i]; f.due(p.o.Now(), p.ledger.stats.Interchanges) {
			names = append(names, f.Name)
		}
	}
	return names
}

// boxed sends one acknowledgment, or takes it away once it was collected.
func (p *Payer) boxed(w http.ResponseWriter, name string, remove bool) {
	p.mu.Lock()
	var found *File
	for i := range p.box.files {
		if f := &p.box.files[i]; f.Name == name && f.due(p.o.Now(), p.ledger.stats.Interchanges) {
			file := f.File
			found = &file
		}
	}
	if found != nil && remove {
		p.box.take(func(f *boxed) bool { return f.Name == name })
	}
	p.mu.Unlock()
	switch {
	case found == nil:
		writeJSON(w, http.StatusNotFound, map[string]string{"error": "no such acknowledgment"})
	case remove:
		w.WriteHeader(http.StatusNoContent)
	default:
		w.Header().Set("Content-Type", "application/EDI-X12")
		_, _ = w.Write(found.Body)
	}
}

func (p *Payer) putScript(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err == nil {
		var s *Script
		if s, err = ParseScript(string(text)); err == nil {
			p.SetScript(s)
			w.WriteHeader(http.StatusNoContent)
			return
		}
	}
	writeJSON(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// pause waits and reports whether the context still lives.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
