package payersim

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"claimdlq/internal/atomicfile"
	"claimdlq/wire/ncpdp"
)

// ServeHTTP implements http.Handler:
//
//	POST   /v1/interchanges           X12 in; acknowledgments, or nothing, out
//	GET    /v1/interchanges/{isa13}   ?sender=QQ:ID&receiver=QQ:ID; {"status":"accepted"}
//	POST   /v1/ncpdp                  one pharmacy transmission in, the response out
//	POST   /v1/ncpdp/batch            a batch of them in, a batch of responses out
//	GET    /v1/accepted               every claim accepted, and the counts
//	GET    /v1/duplicates             those accepted, or paid, more than once
//	GET    /v1/deliveries             how often each pharmacy claim came, if that is counted
//	GET    /v1/stats                  the counts
//	GET    /v1/acks                   names of the acknowledgments to collect
//	GET    /v1/acks/{name}            one of them; DELETE takes it away
//	PUT    /v1/script                 a new script
func (p *Payer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, method := strings.Trim(strings.TrimPrefix(r.URL.Path, "/v1/"), "/"), r.Method
	part, name, _ := strings.Cut(path, "/")
	switch {
	case path == "interchanges" && method == http.MethodPost:
		p.exchange(w, r, p.o.MaxBody, p.takeInterchanges)
	case path == "ncpdp" && method == http.MethodPost:
		p.exchange(w, r, min(p.o.MaxBody, ncpdp.MaxMessage), p.takeWith(p.adjudicate))
	case path == "ncpdp/batch" && method == http.MethodPost:
		p.exchange(w, r, p.o.MaxBody, p.takeWith(p.AdjudicateBatch))
	case part == "interchanges" && name != "" && method == http.MethodGet:
		p.query(w, r, name)
	case path == "accepted" && method == http.MethodGet:
		writeJSON(w, http.StatusOK, struct {
			Stats
			Claims []AcceptedClaim `json:"accepted_claims"`
			Fills  []Fill          `json:"fills"`
		}{p.Stats(), p.Accepted(), p.Fills()})
	case path == "duplicates" && method == http.MethodGet:
		all := []any{}
		for _, c := range p.Duplicates() {
			all = append(all, c)
		}
		for _, f := range p.DoubleFills() {
			all = append(all, f)
		}
		writeJSON(w, http.StatusOK, all)
	case path == "deliveries" && method == http.MethodGet:
		writeJSON(w, http.StatusOK, p.Deliveries())
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

// outage returns how the nth request fails without being taken.
func (s *Script) outage(elapsed time.Duration, n int) (action, bool) {
	for i := range s.rules {
		if r := &s.rules[i]; r.subject == "time" && r.act.verb != "reject" && elapsed >= r.from && elapsed < r.to {
			return r.act, true
		}
	}
	return s.first("request", n, "reset", "cut", "status")
}

func (p *Payer) misbehave(w http.ResponseWriter, body io.Reader, a action) {
	switch a.verb {
	case "status":
		// The whole body is read first, or the sender may see a reset instead.
		if p.o.CountDeliveries {
			b, _ := io.ReadAll(body) // what came of it
			p.countRefused(b)
		}
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
