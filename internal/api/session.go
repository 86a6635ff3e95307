package api

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"claimdlq"
	"claimdlq/internal/auth"
)

// Session is who somebody is and what he may do, for a console that shows only that.
type Session struct {
	Actor         string            `json:"actor" doc:"The name in the audit log."`
	Source        string            `json:"source" enum:"session,token"`
	Roles         []auth.Role       `json:"roles"`
	Permissions   []auth.Permission `json:"permissions"`
	Partners      []string          `json:"partners" doc:"Patterns: whose things he may see."`
	Must          string            `json:"must,omitempty" doc:"What he has to do before anything else: change_password or enrol_code."`
	ElevatedUntil *time.Time        `json:"elevated_until,omitempty" doc:"When a break-glass ends."`
	ExpiresAt     *time.Time        `json:"expires_at,omitempty"`
}

func toSession(p auth.Principal) Session {
	out := Session{
		Actor: p.Actor, Source: "session", Roles: append([]auth.Role{}, p.Roles...), Permissions: append([]auth.Permission{}, p.Permissions()...),
		Partners: append([]string{}, p.Partners...), Must: string(p.Must), ElevatedUntil: moment(p.ElevatedUntil), ExpiresAt: moment(p.ExpiresAt),
	}
	if p.Source == auth.FromToken {
		out.Source = "token"
	}
	return out
}

type sessionOutput struct {
	SetCookie http.Cookie `header:"Set-Cookie"`
	Body      Session
}

type sessionSeen struct{ Body Session }

// signed is the answer to what began a session or gave it another id.
func signed(in auth.SignedIn, err error) (*sessionOutput, error) {
	if err != nil {
		return nil, err
	}
	return &sessionOutput{*in.Cookie, toSession(in.Principal)}, nil
}

func (s *server) sessionOperations() {
	op := func(id, method, path string, perm auth.Permission, summary string) operation {
		return operation{id: id, method: method, path: path, tag: "session", perm: perm, summary: summary}
	}
	add(s, op("sign-in", http.MethodPost, "/v1/session", permNone, "Sign in with login, password and one-time code"), s.signIn)
	add(s, op("get-session", http.MethodGet, "/v1/session", permSelf, "Who am I, and what may I do"),
		func(ctx context.Context, _ *struct{}) (*sessionSeen, error) {
			return &sessionSeen{toSession(who(ctx))}, nil
		})
	out := op("sign-out", http.MethodDelete, "/v1/session", permSelf, "Sign out")
	out.status = http.StatusNoContent
	add(s, out, s.signOut)
	all := op("sign-out-all", http.MethodDelete, "/v1/sessions/{actor}", permSelf, "End every session of an actor: one's own, or with users.admin anybody's")
	all.about, all.command, all.may = "API tokens stay: they are revoked one by one.", true, true
	add(s, all, s.signOutAll)
	add(s, op("change-password", http.MethodPut, "/v1/session/password", permSelf, "Change one's own password"), s.changePassword)
	enrol := op("enrol-code", http.MethodPost, "/v1/session/code", permSelf, "Make a secret for one-time codes, which is shown once")
	enrol.command, enrol.may = true, true
	add(s, enrol, s.enrolCode)
	add(s, op("confirm-code", http.MethodPut, "/v1/session/code", permSelf, "Confirm the secret with a code of it"), s.confirmCode)
	add(s, op("break-glass", http.MethodPost, "/v1/session/elevation", auth.PayloadBreakGlass, "Break the glass: look into payloads for a while, with a reason"), s.elevate)
	begin := op("begin-oidc", http.MethodGet, "/v1/session/oidc", permNone, "Sign in through OpenID Connect: redirects to the provider")
	begin.status = http.StatusFound
	begin.about = "Where that is not possible it redirects to the console with the fragment #sign-in-refused, or #no-single-sign-on where there is no provider."
	add(s, begin, s.beginOIDC)
	finish := op("finish-oidc", http.MethodGet, "/v1/session/oidc/callback", permNone, "Where the provider sends the browser back: redirects to the console")
	finish.status, finish.lenient = http.StatusSeeOther, true
	finish.about = "Who is refused comes there with the fragment #sign-in-refused; why is in the audit log."
	add(s, finish, s.finishOIDC)
}

type signInInput struct {
	Body struct {
		Login    string `json:"login" minLength:"1" maxLength:"64"`
		Password string `json:"password" minLength:"1" maxLength:"256"`
		Code     string `json:"code,omitempty" maxLength:"16" doc:"The one-time code; ignored for accounts without."`
	}
}

func (s *server) signIn(ctx context.Context, in *signInInput) (*sessionOutput, error) {
	b := &in.Body
	return signed(s.o.Desk.SignIn(ctx, request(ctx), auth.Credentials{
		Login: b.Login, Password: auth.NewSecret(b.Password), Code: auth.NewSecret(b.Code),
	}).Do(ctx, s.audit))
}

type cookieOutput struct {
	SetCookie http.Cookie `header:"Set-Cookie"`
}

func (s *server) signOut(ctx context.Context, _ *struct{}) (*cookieOutput, error) {
	c, err := s.o.Desk.SignOut(request(ctx), who(ctx)).Do(ctx, s.audit)
	if err != nil {
		return nil, err
	}
	return &cookieOutput{*c}, nil
}

type countOutput struct {
	Body struct {
		Sessions int `json:"sessions" doc:"How many were ended."`
	}
}

func (s *server) signOutAll(ctx context.Context, in *struct {
	Actor string `path:"actor" maxLength:"80"`
},
) (*countOutput, error) {
	n, err := s.o.Desk.SignOutAll(who(ctx), in.Actor).Do(ctx, s.audit)
	out := &countOutput{}
	out.Body.Sessions = n
	return out, err
}

func (s *server) changePassword(ctx context.Context, in *struct {
	Body struct {
		Old string `json:"old" maxLength:"256"`
		New string `json:"new" minLength:"12" maxLength:"256"`
	}
},
) (*sessionOutput, error) {
	return signed(s.o.Desk.ChangePassword(ctx, request(ctx), who(ctx), auth.NewSecret(in.Body.Old), auth.NewSecret(in.Body.New)).Do(ctx, s.audit))
}

type codeInput struct {
	Body struct {
		Code string `json:"code,omitempty" maxLength:"16"`
	}
}

type enrolmentOutput struct {
	Body struct {
		URL string `json:"url" doc:"For a QR code. It is a secret."`
		Key string `json:"key" doc:"The same to type. It is a secret."`
	}
}

func (s *server) enrolCode(ctx context.Context, in *codeInput) (*enrolmentOutput, error) {
	e, err := s.o.Desk.EnrolCode(who(ctx), auth.NewSecret(in.Body.Code)).Do(ctx, s.audit)
	out := &enrolmentOutput{}
	out.Body.URL, out.Body.Key = e.URL.Reveal(), e.Key.Reveal()
	return out, err
}

func (s *server) confirmCode(ctx context.Context, in *codeInput) (*sessionOutput, error) {
	return signed(s.o.Desk.ConfirmCode(request(ctx), who(ctx), auth.NewSecret(in.Body.Code)).Do(ctx, s.audit))
}

// Because is the body of what needs a reason.
type Because struct {
	Reason string `json:"reason" minLength:"1" maxLength:"200" doc:"Why, for the audit log: it must name no patient."`
}

func (s *server) elevate(ctx context.Context, in *struct{ Body Because }) (*sessionOutput, error) {
	return signed(s.o.Desk.Elevate(request(ctx), who(ctx).For(in.Body.Reason)).Do(ctx, s.audit))
}

type redirectOutput struct {
	Status    int
	Location  string      `header:"Location"`
	SetCookie http.Cookie `header:"Set-Cookie"`
}

func (s *server) beginOIDC(ctx context.Context, _ *struct{}) (*redirectOutput, error) {
	to, err := s.o.Desk.BeginOIDC(ctx, request(ctx))
	if err != nil {
		return &redirectOutput{Status: http.StatusFound, Location: toldWhy(err), SetCookie: *s.o.Desk.ForgetOIDC(request(ctx))}, nil
	}
	return &redirectOutput{http.StatusFound, to.URL, *to.Cookie}, nil
}

type finishOutput struct {
	Status    int
	Location  string        `header:"Location"`
	SetCookie []http.Cookie `header:"Set-Cookie"`
}

// toldWhy is the console's address with a fragment that says that nobody was signed in:
// a browser is on its way, and would show a person JSON. The audit log knows more.
func toldWhy(err error) string {
	if codeIs(err, claimdlq.NotFound) {
		return "/#no-single-sign-on"
	}
	return "/#sign-in-refused"
}

// finishOIDC begins a session, or says by the fragment of the console's address that
// the sign-in was refused. The provider's parameters are package auth's to read; those
// that it does not know are ignored (RFC 6749 section 4.1.2).
func (s *server) finishOIDC(ctx context.Context, _ *struct {
	Code             string `query:"code" maxLength:"2048"`
	State            string `query:"state" maxLength:"256"`
	Error            string `query:"error" maxLength:"256"`
	ErrorDescription string `query:"error_description" maxLength:"1024"`
	ErrorURI         string `query:"error_uri" maxLength:"1024"`
	SessionState     string `query:"session_state" maxLength:"256"`
	Issuer           string `query:"iss" maxLength:"512"`
	Scope            string `query:"scope" maxLength:"512"`
},
) (*finishOutput, error) {
	r := request(ctx)
	out := &finishOutput{Status: http.StatusSeeOther, Location: "/", SetCookie: []http.Cookie{*s.o.Desk.ForgetOIDC(r)}}
	in, err := s.o.Desk.FinishOIDC(ctx, r).Do(ctx, s.audit)
	if err != nil {
		out.Location = toldWhy(err)
		return out, nil
	}
	out.SetCookie = append(out.SetCookie, *in.Cookie)
	return out, nil
}

// ifMatch returns the revision that the request is about.
func ifMatch(ctx context.Context) (uint64, error) {
	const op, on = "read request", "header If-Match"
	h := request(ctx).Header.Get("If-Match")
	if h == "" {
		return 0, withStatus(http.StatusPreconditionRequired, claimdlq.Invalid, op, on, "send the ETag of what you saw")
	}
	n, err := strconv.ParseUint(strings.Trim(h, `"`), 10, 63)
	if err != nil || h != `"`+strconv.FormatUint(n, 10)+`"` {
		return 0, invalid(op, on, "send the ETag of what you saw, in its quotes")
	}
	return n, nil
}

// moved is the error for what is not what somebody saw.
func moved(op, on string) error {
	return withStatus(http.StatusPreconditionFailed, claimdlq.Conflict, op, on, "it has changed since you saw it: read it again and decide anew")
}
