package serve

import (
	"io"
	"net/http"
	"time"
)

// A body has a minute, and another second for each 10 KiB of it: who sends slower than
// that holds what others wait for.
const (
	bodyTime  = time.Minute
	bodyPace  = 10 << 10
	replyTime = 30 * time.Second // to take an answer, or a part of one
)

// pacer reads a body against its deadline.
type pacer struct {
	r     io.Reader
	c     *http.ResponseController
	began time.Time
	n     int64
}

// paced returns the body with a deadline that moves with what has come.
func (s *server) paced(w http.ResponseWriter, body io.Reader) io.Reader {
	return &pacer{r: body, c: http.NewResponseController(w), began: s.o.Now()}
}

// Read implements io.Reader.
func (p *pacer) Read(b []byte) (int, error) {
	// A writer that knows no deadlines, as in tests, has none.
	_ = p.c.SetReadDeadline(p.began.Add(bodyTime + time.Duration(p.n/bodyPace)*time.Second))
	n, err := p.r.Read(b)
	if p.n += int64(n); err != nil {
		_ = p.c.SetReadDeadline(time.Time{})
	}
	return n, err
}
