package serve

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"

	"claimdlq"
	"claimdlq/internal/api"
)

// byKey is under which a request has who makes it.
type byKey struct{}

// by returns who takes claims in with the request: who has said his name at the door,
// or the door itself.
func by(r *http.Request) claimdlq.By {
	if by, ok := r.Context().Value(byKey{}).(claimdlq.By); ok {
		return by
	}
	return claimdlq.By{Actor: "system:intake:http"}
}

// guarded lets in who has the process's token, who may by an account of his own, and
// everybody where there is no token. Digests are compared, so that neither content nor
// length of the token shows in the time it takes.
func (s *server) guarded(d api.Door, h http.Handler) http.Handler {
	if !d.Permission.Known() {
		return h
	}
	want, open := sha256.Sum256(s.o.Token), len(s.o.Token) == 0
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		got := sha256.Sum256([]byte(token))
		switch {
		case !open && ok && subtle.ConstantTimeCompare(got[:], want[:]) == 1:
		case s.o.Porter != nil:
			who, err := s.o.Porter.Admit(r, d, open)
			if err != nil {
				fail(w, err)
				return
			}
			if who.Actor != "" {
				r = r.WithContext(context.WithValue(r.Context(), byKey{}, who))
			}
		case !open:
			unnamed(w)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// unnamed refuses who has not said who he is, in a process without accounts.
func unnamed(w http.ResponseWriter) {
	p := problemOf(&claimdlq.Error{Code: claimdlq.Refused, Op: "authenticate", Hint: "send the token: Authorization: Bearer"})
	p.Status, p.Title = http.StatusUnauthorized, http.StatusText(http.StatusUnauthorized)
	w.Header().Set("WWW-Authenticate", "Bearer")
	p.Write(w)
}
