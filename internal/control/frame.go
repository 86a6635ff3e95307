package control

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
)

// version is the protocol's. Another program's is refused in words.
const version = 1

const (
	// MaxFrame bounds every frame but the request's.
	MaxFrame = 64 << 10
	// MaxRequest bounds a request, which no system's command line is longer than.
	MaxRequest = 4 << 20
	// maxText bounds why a request is refused.
	maxText = 4 << 10
)

// The kinds of frames.
const (
	kindRequest byte = 'R'
	kindInput   byte = 'I' // some standard input; an empty one is its end
	kindBroken  byte = 'B' // standard input could not be read
	kindCancel  byte = 'C'
	kindOutput  byte = 'O'
	kindErrors  byte = 'E'
	kindWant    byte = 'W' // more standard input
	kindExit    byte = 'X'
	kindRefuse  byte = 'N' // a code, a line feed, why
)

var errFrame = errors.New("not a frame of this protocol")

// wire sends frames whole, whoever sends.
type wire struct {
	mu   sync.Mutex
	conn net.Conn
	buf  []byte
}

// send writes one frame. It waits where the other side does not read.
func (w *wire) send(kind byte, payload []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf = append(w.buf[:0], kind)
	w.buf = binary.BigEndian.AppendUint32(w.buf, uint32(len(payload)))
	w.buf = append(w.buf, payload...)
	_, err := w.conn.Write(w.buf)
	return err
}

// frames reads frames into memory that is used again.
type frames struct {
	r   io.Reader
	buf []byte
}

// next returns a frame of at most limit bytes; its payload is good until the next one.
func (f *frames) next(limit int) (kind byte, payload []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(f.r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	if int64(n) > int64(limit) {
		return 0, nil, errFrame
	}
	if f.buf, err = readN(f.r, f.buf[:0], int(n)); err != nil {
		return 0, nil, err
	}
	return head[0], f.buf, nil
}

// readN appends n bytes to b. Memory is taken as they come: a length alone costs nothing.
func readN(r io.Reader, b []byte, n int) ([]byte, error) {
	for len(b) < n {
		have := len(b)
		piece := min(n-have, MaxFrame)
		b = append(b, make([]byte, piece)...)
		if _, err := io.ReadFull(r, b[have:]); err != nil {
			return b[:have], err
		}
	}
	return b, nil
}

// message is a Request on the wire. File names are bytes: JSON's text would change
// those that are not UTF-8.
type message struct {
	Args  [][]byte          `json:"args"`
	Dir   []byte            `json:"dir"`
	Env   map[string]string `json:"env,omitempty"`
	TTY   bool              `json:"tty,omitempty"`
	Width int               `json:"width,omitempty"`
}

func encodeRequest(r Request) ([]byte, error) {
	m := message{Dir: []byte(r.Dir), Env: allowed(r.Env), TTY: r.TTY, Width: r.Width}
	for _, a := range r.Args {
		m.Args = append(m.Args, []byte(a))
	}
	b, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	b = append([]byte{version}, b...)
	if len(b) > MaxRequest || !valid(r) {
		return nil, errFrame
	}
	return b, nil
}

var errVersion = errors.New("another version of the protocol")

// decodeRequest reads the payload of a request frame.
func decodeRequest(b []byte) (Request, error) {
	if len(b) == 0 {
		return Request{}, errFrame
	}
	if b[0] != version {
		return Request{}, errVersion
	}
	var m message
	if err := json.Unmarshal(b[1:], &m); err != nil {
		return Request{}, errFrame
	}
	r := Request{Dir: string(m.Dir), Env: allowed(m.Env), TTY: m.TTY, Width: m.Width}
	for _, a := range m.Args {
		r.Args = append(r.Args, string(a))
	}
	if !valid(r) {
		return Request{}, errFrame
	}
	return r, nil
}

const (
	maxArgs  = 64 << 10
	maxPath  = 4096
	maxWidth = 10_000
)

func valid(r Request) bool {
	if len(r.Args) > maxArgs || len(r.Dir) > maxPath || !filepath.IsAbs(r.Dir) || r.Width < 0 || r.Width > maxWidth {
		return false
	}
	for _, s := range r.Args {
		if strings.ContainsRune(s, 0) {
			return false
		}
	}
	return !strings.ContainsRune(r.Dir, 0)
}
