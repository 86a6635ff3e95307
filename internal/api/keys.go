package api

import (
	"context"
	"net/http"
	"time"

	"claimdlq"
	"claimdlq/internal/auth"
)

// Key is a term of a key: what may be said of it, never the key.
type Key struct {
	Use       string     `json:"use" enum:"payload,identity" doc:"payload wraps the data keys of payloads; identity is what keys of claims and digests are made with."`
	Term      uint32     `json:"term"`
	State     string     `json:"state"`
	Primary   bool       `json:"primary" doc:"What is new is made with it."`
	CreatedAt *time.Time `json:"created_at,omitempty"`
}

type keyList struct {
	Body struct {
		Keys []Key `json:"keys"`
	}
}

type rotateInput struct {
	Body struct {
		Because

		Use string `json:"use" enum:"payload,identity"`
	}
}

func (s *server) keyOperations() {
	add(s, operation{
		id: "list-keys", method: http.MethodGet, path: "/v1/keys", tag: "keys", perm: auth.KeysAdmin, summary: "The terms of the keyring, never a key",
	}, func(context.Context, *struct{}) (*keyList, error) { return s.keys(), nil })
	add(s, operation{
		id: "rotate-key", method: http.MethodPost, path: "/v1/keys/rotate", tag: "keys", perm: auth.KeysAdmin, command: true, patience: 15 * time.Minute,
		summary: "Make a new key; the old one is retired",
		about: sentences("Every payload's data key is wrapped anew under a new payload key; payloads themselves are not touched.",
			"One at a time. One that a crash interrupted is finished by the next."),
	}, s.rotate)
}

func (s *server) keys() *keyList {
	out := &keyList{}
	out.Body.Keys = []Key{}
	for _, t := range s.o.App.KeyTerms() {
		out.Body.Keys = append(out.Body.Keys, Key{t.Use, t.Term, t.State, t.Primary, moment(t.Created)})
	}
	return out
}

func (s *server) rotate(ctx context.Context, in *rotateInput) (*keyList, error) {
	p := who(ctx).For(in.Body.Reason)
	if err := p.May(auth.KeysAdmin, ""); err != nil {
		return nil, err
	}
	if !s.rotating.TryLock() {
		return nil, &claimdlq.Error{Code: claimdlq.Unavailable, Op: "rotate key", On: "one is being rotated", Hint: "wait for it"}
	}
	defer s.rotating.Unlock()
	if err := s.o.App.RotateKeys(ctx, p.By(), in.Body.Use == "identity", func(int, int) {}); err != nil {
		return nil, err
	}
	return s.keys(), nil
}
