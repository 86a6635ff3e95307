package api

import (
	"context"
	"net/http"
	"time"

	"claimdlq/internal/auth"
)

// Token is an API token as it may be shown.
type Token struct {
	ID          string            `json:"id"`
	Owner       string            `json:"owner"`
	Name        string            `json:"name"`
	Permissions []auth.Permission `json:"permissions"`
	Partners    []string          `json:"partners"`
	CreatedAt   time.Time         `json:"created_at"`
	CreatedBy   string            `json:"created_by"`
	ExpiresAt   time.Time         `json:"expires_at"`
	RevokedAt   *time.Time        `json:"revoked_at,omitempty"`
	LastUsed    *time.Time        `json:"last_used,omitempty" doc:"To the hour."`
	Text        string            `json:"text,omitempty" doc:"The token itself: in the answer that made it, and never again."`
}

func toToken(t auth.Token) Token {
	return Token{
		ID: t.ID, Owner: t.Owner, Name: t.Name, Permissions: append([]auth.Permission{}, t.Permissions...), Partners: append([]string{}, t.Partners...),
		CreatedAt: t.CreatedAt, CreatedBy: t.CreatedBy, ExpiresAt: t.ExpiresAt, RevokedAt: moment(t.RevokedAt), LastUsed: moment(t.LastUsed),
	}
}

type tokenOutput struct{ Body Token }

type tokenList struct {
	Body struct {
		Tokens []Token `json:"tokens"`
	}
}

func (s *server) tokenOperations() {
	op := func(id, method, path, summary string) operation {
		return operation{id: id, method: method, path: path, tag: "tokens", perm: permSelf, summary: summary, command: method != http.MethodGet, may: true}
	}
	add(s, op("list-tokens", http.MethodGet, "/v1/tokens", "One's own tokens; with users.admin all of them"), func(ctx context.Context, _ *struct{}) (*tokenList, error) {
		out := &tokenList{}
		out.Body.Tokens = []Token{}
		for _, t := range s.o.Desk.Tokens(who(ctx)) {
			out.Body.Tokens = append(out.Body.Tokens, toToken(t))
		}
		return out, nil
	})
	create := op("create-token", http.MethodPost, "/v1/tokens", "Make a token: for oneself, or with users.admin for a machine")
	create.status = http.StatusCreated
	add(s, create, s.createToken)
	add(s, op("revoke-token", http.MethodDelete, "/v1/tokens/{id}", "End a token at once: one's own, or with users.admin any"), func(ctx context.Context, in *struct {
		ID string `path:"id" maxLength:"64"`
	},
	) (*tokenOutput, error) {
		t, err := s.o.Desk.RevokeToken(who(ctx), in.ID).Do(ctx, s.audit)
		return &tokenOutput{toToken(t)}, err
	})
}

func (s *server) createToken(ctx context.Context, in *struct {
	Body struct {
		Owner       string   `json:"owner,omitempty" maxLength:"80" doc:"Default: oneself."`
		Name        string   `json:"name" minLength:"1" maxLength:"64"`
		Permissions []string `json:"permissions" maxItems:"64" nullable:"false"`
		Partners    []string `json:"partners" maxItems:"64" nullable:"false"`
		Days        int      `json:"days,omitempty" minimum:"1" maximum:"366" default:"90"`
	}
},
) (*tokenOutput, error) {
	b := &in.Body
	n := auth.NewToken{Owner: b.Owner, Name: b.Name, Partners: b.Partners, Life: time.Duration(b.Days) * 24 * time.Hour}
	if n.Owner == "" {
		n.Owner = who(ctx).Actor
	}
	for _, p := range b.Permissions {
		n.Permissions = append(n.Permissions, auth.Permission(p))
	}
	t, err := s.o.Desk.CreateToken(who(ctx), n).Do(ctx, s.audit)
	if err != nil {
		return nil, err
	}
	out := &tokenOutput{toToken(t.Token)}
	out.Body.Text = t.Text.Reveal()
	return out, nil
}
