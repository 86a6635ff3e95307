package serve

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"claimdlq"
	"claimdlq/alert"
	"claimdlq/flow/intake"
	"claimdlq/phi"
	"claimdlq/wire/ncpdp"
)

// claim takes one transmission or one X12 file in: 202 with what became of each
// claim in it, once that is durable. Whether a claim was held for a fault is in the
// answer, not in the status: it is safe either way. With Prefer: wait=SECONDS it
// stays until the claims are at rest: settled, held, or with the payer.
func (s *server) claim(w http.ResponseWriter, r *http.Request) {
	body, err := s.read(w, r) // before there is a place: a slow client holds none
	if err != nil {
		fail(w, err)
		return
	}
	if !pharmacy(body) {
		s.gated(func(w http.ResponseWriter, r *http.Request) { s.file(w, r, bytes.NewReader(body)) })(w, r)
		return
	}
	got, err := s.message(r, body)
	if err != nil {
		fail(w, err)
		return
	}
	s.o.Flow.Attempt.Wake()
	status := http.StatusAccepted
	if d := patience(r); d > 0 {
		if got, err = s.settled(r.Context(), got, d); err != nil {
			fail(w, err)
			return
		}
		status = http.StatusOK
	}
	answer(w, status, got)
}

// message takes one transmission in.
func (s *server) message(r *http.Request, body []byte) (intake.Receipt, error) {
	if err := s.enter(r.Context(), s.gate); err != nil {
		return intake.Receipt{}, err
	}
	defer s.gate.leave()
	got, err := s.o.Flow.Intake.Message(r.Context(), by(r), phi.Wrap(body), intake.MessageOptions{Bulk: r.URL.Query().Has("bulk")})
	return got, s.ended(err)
}

// read reads a body that fits in memory.
func (s *server) read(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	in := s.paced(w, http.MaxBytesReader(w, r.Body, s.o.MaxBody))
	if n := r.ContentLength; n >= 0 && n <= s.o.MaxBody {
		body := make([]byte, n)
		_, err := io.ReadFull(in, body)
		return body, cut(err)
	}
	body, err := io.ReadAll(in)
	return body, cut(err)
}

// cut says what a body that ended early is. What the limit says stays as it is.
func cut(err error) error {
	if err == nil {
		return nil
	}
	if _, tooLarge := err.(*http.MaxBytesError); tooLarge { //nolint:errorlint // MaxBytesReader returns it bare
		return err
	}
	return &claimdlq.Error{Code: claimdlq.Invalid, Op: "read body", On: "it ended early", Hint: "nothing of it was kept: send it again"}
}

// pharmacy reports whether the body is one NCPDP transmission, or several where one
// belongs, which intake refuses.
func pharmacy(b []byte) bool {
	if ncpdp.IsBatch(b) {
		return false
	}
	kind, _ := ncpdp.Sense(b[:min(len(b), 64)])
	return kind != ncpdp.KindUnknown || ncpdp.Several(b)
}

// patience is how long the client wants to wait, at most a minute (RFC 7240).
func patience(r *http.Request) time.Duration {
	for part := range strings.SplitSeq(r.Header.Get("Prefer"), ",") {
		v, ok := strings.CutPrefix(strings.TrimSpace(part), "wait=")
		if n, err := strconv.ParseUint(v, 10, 16); ok && err == nil {
			return min(time.Duration(n)*time.Second, time.Minute)
		}
	}
	return 0
}

// lookEvery is how often a waiting request looks at its records.
const lookEvery = 5 * time.Millisecond

// settled waits until no record is queued or being delivered.
func (s *server) settled(ctx context.Context, got intake.Receipt, d time.Duration) (intake.Receipt, error) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		open := false
		for i := range got.Records {
			t := &got.Records[i]
			if t.ID == 0 {
				continue
			}
			r, err := s.o.Store.Get(context.WithoutCancel(ctx), t.ID)
			if err != nil {
				return got, err
			}
			t.State, t.Disposition, t.Detail = r.State, r.Disposition, r.Detail
			open = open || r.State == claimdlq.StateQueued || r.State == claimdlq.StateLeased
		}
		if !open {
			return got, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return got, nil
		}
	}
}

// batch takes a file in: an NCPDP batch, an X12 interchange, or several messages
// one after the other.
func (s *server) batch(w http.ResponseWriter, r *http.Request) {
	s.file(w, r, s.paced(w, http.MaxBytesReader(w, r.Body, s.o.MaxFile)))
}

func (s *server) file(w http.ResponseWriter, r *http.Request, in io.Reader) {
	res, err := s.o.Flow.Intake.File(r.Context(), by(r), "", in)
	s.o.Flow.Attempt.Wake()
	if s.ended(err) != nil {
		fail(w, err)
		return
	}
	answer(w, http.StatusAccepted, res)
}

// deadLetter takes what another pipeline gave up on.
func (s *server) deadLetter(w http.ResponseWriter, r *http.Request) {
	d, err := deadLetterOf(r)
	if err != nil {
		fail(w, err)
		return
	}
	res, err := s.o.Flow.Intake.DeadLetter(r.Context(), by(r), s.paced(w, http.MaxBytesReader(w, r.Body, s.o.MaxFile)), d)
	if s.ended(err) != nil {
		fail(w, err)
		return
	}
	answer(w, http.StatusAccepted, res)
}

func deadLetterOf(r *http.Request) (d intake.DeadLetter, err error) {
	q := r.URL.Query()
	bad := func(what, hint string) error {
		return &claimdlq.Error{Code: claimdlq.Invalid, Op: "read dead letter", On: what, Hint: hint}
	}
	d.Reason = claimdlq.RetriesExhausted
	if v := q.Get("reason"); v != "" {
		if d.Reason, err = claimdlq.ParseReason(v); err != nil {
			return d, bad("reason", "FATAL_SYNTAX, RETRIES_EXHAUSTED, SEMANTIC_REJECT or OVERFLOW")
		}
	}
	d.Detail = claimdlq.NewDetail(q.Get("detail"))
	if d.Detail.IsZero() || d.Detail.String() != q.Get("detail") {
		return d, bad("detail", "say the last error as a code, such as detail=HTTP_503: capital letters, digits and _ : . -")
	}
	switch d.Reason {
	case claimdlq.FatalSyntax:
		d.Class = claimdlq.Poison
	case claimdlq.SemanticReject:
		d.Class = claimdlq.Terminal
	case claimdlq.ReasonNone, claimdlq.RetriesExhausted, claimdlq.OutcomeUnknown, claimdlq.Overflow, claimdlq.Expired:
		d.Class = claimdlq.Transient
	}
	if v := q.Get("attempts"); v != "" {
		n, err := strconv.ParseUint(v, 10, 16)
		if err != nil {
			return d, bad("attempts", "how often it was delivered: a number up to 65535")
		}
		d.Attempts = uint32(n)
	}
	if v := q.Get("ambiguous"); v != "" {
		if d.Ambiguous, err = strconv.ParseBool(v); err != nil {
			return d, bad("ambiguous", "true where the payer may have acted on it")
		}
	}
	return d, nil
}

// acknowledge takes a file of the payer's answers.
func (s *server) acknowledge(w http.ResponseWriter, r *http.Request) {
	res, err := s.o.Flow.Settle.Acks(r.Context(), by(r), "", s.paced(w, http.MaxBytesReader(w, r.Body, s.o.MaxFile)))
	if errors.Is(err, claimdlq.Unavailable) && !errors.Is(err, context.Canceled) { // there may be room for answers where there is none for claims
		s.o.Refused(alert.CauseDisk, err)
	}
	if err != nil {
		fail(w, err)
		return
	}
	answer(w, http.StatusOK, res)
}
