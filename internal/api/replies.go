package api

import (
	"container/list"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"maps"
	"net/http"
	"sync"
	"time"

	"claimdlq"
)

// How much is kept of what was answered.
const (
	repliesMost  = 8192
	repliesBytes = 16 << 20
	replyMost    = 64 << 10
	replyFor     = 24 * time.Hour
)

// replies remembers the answers of commands that were done, so that the same command
// again gets the same answer and is not done twice. What was refused did nothing and
// is not kept. Requests are kept as keyed hashes only, and answers sealed by a key that
// only who knows the Idempotency-Key can make: a token or secret that is shown once lies
// in clear nowhere.
type replies struct {
	mu    sync.Mutex
	key   []byte
	now   func() time.Time
	kept  map[name]*reply
	order *list.List // of names, the oldest first
	bytes int
}

type name [sha256.Size]byte

type reply struct {
	print name // of the request
	done  bool
	at    time.Time
	place *list.Element

	status int
	header http.Header
	body   []byte // sealed
}

func newReplies(key []byte, now func() time.Time) *replies {
	return &replies{key: key, now: now, kept: map[name]*reply{}, order: list.New()}
}

// names returns the name under which an answer is kept, and what tells whether the
// request is the same.
func (m *replies) names(actor string, r *http.Request, key string, body []byte) (slot, print name) {
	return m.sum(actor, key), m.sum(r.Method, r.URL.Path, r.URL.RawQuery, r.Header.Get("If-Match"), string(body))
}

func (m *replies) sum(parts ...string) (n name) {
	h := hmac.New(sha256.New, m.key)
	for _, p := range parts {
		var size [8]byte
		for i := range size {
			size[i] = byte(len(p) >> (8 * i))
		}
		_, _ = h.Write(size[:])
		_, _ = h.Write([]byte(p))
	}
	h.Sum(n[:0])
	return n
}

// begin returns the kept answer, or nil where the command is to be done; then end must
// be called.
func (m *replies) begin(slot, print name) (*reply, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	const op, on = "repeat command", "header Idempotency-Key"
	if old, ok := m.kept[slot]; ok {
		switch {
		case old.print != print:
			return nil, withStatus(http.StatusUnprocessableEntity, claimdlq.Refused, op, on, "another request had this key: take a new one for each command")
		case !old.done:
			return nil, &claimdlq.Error{Code: claimdlq.Conflict, Op: op, On: on, Hint: "the first one is still under way: ask again for its answer"}
		case m.now().Sub(old.at).Abs() < replyFor:
			return old, nil
		}
		m.drop(slot)
	}
	m.kept[slot] = &reply{print: print, place: m.order.PushBack(slot)}
	m.trim()
	return nil, nil
}

// end keeps the answer of a command that was done, sealed.
func (m *replies) end(slot, seal name, rec *recorder) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.kept[slot]
	if r == nil {
		return
	}
	if rec.status < 200 || rec.status > 299 || rec.tooLong {
		m.drop(slot)
		return
	}
	r.done, r.at, r.status, r.header, r.body = true, m.now(), rec.status, rec.Header().Clone(), seal.box().Seal(nil, nil, rec.body, nil) //nolint:gosec // the box takes a random nonce itself
	m.bytes += len(r.body)
	m.trim()
}

// trim drops the oldest that are done until the rest is within bounds.
func (m *replies) trim() {
	for e := m.order.Front(); e != nil && (len(m.kept) > repliesMost || m.bytes > repliesBytes); {
		next := e.Next()
		if slot, ok := e.Value.(name); ok && m.kept[slot].done {
			m.drop(slot)
		}
		e = next
	}
}

func (m *replies) drop(slot name) {
	if r := m.kept[slot]; r != nil {
		m.bytes -= len(r.body)
		m.order.Remove(r.place)
		delete(m.kept, slot)
	}
}

// box seals with the key, each time with another nonce.
func (n name) box() cipher.AEAD {
	block, err := aes.NewCipher(n[:])
	if err == nil {
		var box cipher.AEAD
		if box, err = cipher.NewGCMWithRandomNonce(block); err == nil {
			return box
		}
	}
	panic(err) // a key of 32 bytes is always good
}

// write answers as before.
func (r *reply) write(w http.ResponseWriter, seal name) {
	body, err := seal.box().Open(nil, nil, r.body, nil)
	if err != nil {
		writeProblem(w, &claimdlq.Error{Code: claimdlq.Internal, Op: "repeat command", Err: err})
		return
	}
	maps.Copy(w.Header(), r.header)
	w.Header().Set("Idempotent-Replayed", "true")
	w.WriteHeader(r.status)
	_, _ = w.Write(body)
}

// recorder passes an answer on and keeps a copy that is not too long.
type recorder struct {
	http.ResponseWriter

	status  int
	body    []byte
	tooLong bool
}

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (r *recorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	if len(r.body)+len(b) > replyMost {
		r.tooLong, r.body = true, nil
	}
	if !r.tooLong {
		r.body = append(r.body, b...)
	}
	return r.ResponseWriter.Write(b)
}
