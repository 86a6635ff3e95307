package auth

import (
	"cmp"
	"crypto/rand"
	"encoding/base64"
	"slices"
	"strings"
	"sync"
	"time"

	"claimdlq"
)

const (
	tokenPrefix = "cdlq_" // a scanner for leaked secrets finds it
	fileTokens  = 1       // version of tokens.json
	maxTokens   = 10000
	maxName     = 64
	// The life of a token.
	defaultLife = 90 * 24 * time.Hour
	longestLife = 366 * 24 * time.Hour
	// keepDead is how long a token that is over is still listed.
	keepDead = 90 * 24 * time.Hour
	// useCoarse is how exactly the last use is kept.
	useCoarse = time.Hour
)

// Token is an API token as it may be shown; the token itself is shown once.
type Token struct {
	ID    string `json:"id"`    // TK-..., for the audit log
	Owner string `json:"owner"` // the account whose roles and partners bound it, at every use
	Name  string `json:"name"`
	// Permissions and Partners are what it may do, of what its owner may.
	Permissions []Permission `json:"permissions"`
	Partners    []string     `json:"partners"`
	CreatedAt   time.Time    `json:"created_at"`
	CreatedBy   string       `json:"created_by"`
	ExpiresAt   time.Time    `json:"expires_at"`
	RevokedAt   time.Time    `json:"revoked_at,omitzero"`
	LastUsed    time.Time    `json:"last_used,omitzero"` // to the hour
}

type token struct {
	Token
	Digest string `json:"digest"` // SHA-256 of its 256 random bits
}

type tokenFile struct {
	Version int     `json:"version"`
	Tokens  []token `json:"tokens"` // by digest
}

func (f *tokenFile) find(dg string) (int, bool) {
	return slices.BinarySearchFunc(f.Tokens, dg, func(t token, s string) int { return cmp.Compare(t.Digest, s) })
}

func (f *tokenFile) byID(id string) *token {
	for i := range f.Tokens {
		if f.Tokens[i].ID == id {
			return &f.Tokens[i]
		}
	}
	return nil
}

func checkTokens(f *tokenFile) error {
	bad := func(on string) error {
		return &claimdlq.Error{Code: claimdlq.Corrupt, Op: "read tokens", On: on, Hint: "restore tokens.json from its backup"}
	}
	if f.Version != fileTokens && (f.Version != 0 || len(f.Tokens) > 0) {
		return bad("version")
	}
	for i, t := range f.Tokens {
		b, err := base64.RawStdEncoding.DecodeString(t.Digest)
		if err != nil || len(b) != len(digest{}) || i > 0 && f.Tokens[i-1].Digest >= t.Digest {
			return bad("digest")
		}
		if !loginOK(t.Owner) || checkScope(t.Permissions, t.Partners) != "" {
			return bad(t.ID)
		}
	}
	return nil
}

// checkScope says what is wrong with what a token may do.
func checkScope(ps []Permission, partners []string) string {
	for _, p := range ps {
		if !p.Known() || p.PeopleOnly() {
			return "a token may have permissions that are not for people only"
		}
	}
	if len(ps) == 0 || len(ps) > len(table) {
		return "a token needs permissions"
	}
	return checkPatterns(partners)
}

// NewToken is a token to be made.
type NewToken struct {
	Owner       string        `json:"owner"`
	Name        string        `json:"name"` // printable, at most 64 bytes
	Permissions []Permission  `json:"permissions"`
	Partners    []string      `json:"partners"` // patterns, as in Access
	Life        time.Duration `json:"life"`     // Default: 90 days; at most 366
}

// IssuedToken is a token with its text, which is shown once.
type IssuedToken struct {
	Token
	Text Secret `json:"text"`
}

// CreateToken makes an API token: for oneself, or with users.admin for a Machine. An
// administrator cannot make one in another person's name. Errors: Invalid, NotFound,
// Refused, and those of May.
func (d *Desk) CreateToken(by Principal, n NewToken) Act[IssuedToken] {
	const op = "create token"
	now := d.o.Now().UTC()
	if err := d.mayToken(by, n.Owner, true); err != nil {
		return refused[IssuedToken](by.Denied(now, UsersAdmin), err)
	}
	if n.Life == 0 {
		n.Life = defaultLife
	}
	switch hint := checkScope(n.Permissions, n.Partners); {
	case hint != "":
		return refused[IssuedToken](Event{}, invalid(op, hint))
	case n.Name == "" || len(n.Name) > maxName || strings.ContainsFunc(n.Name, func(r rune) bool { return r < ' ' || r > '~' }):
		return refused[IssuedToken](Event{}, invalid(op, "a token needs a name of at most 64 printable characters"))
	case n.Life < 0 || n.Life > longestLife:
		return refused[IssuedToken](Event{}, invalid(op, "a token lives 366 days at most"))
	}
	text := random()
	dg, _ := digestOf(text)
	t := token{Digest: base64.RawStdEncoding.EncodeToString(dg[:]), Token: Token{
		ID: newID("TK-"), Owner: n.Owner, Name: n.Name, Permissions: slices.Clone(n.Permissions), Partners: nonNil(n.Partners),
		CreatedAt: now, CreatedBy: by.Actor, ExpiresAt: now.Add(n.Life),
	}}
	change := func(f *tokenFile) error {
		f.Tokens = slices.DeleteFunc(f.Tokens, func(t token) bool {
			return now.Sub(t.ExpiresAt) > keepDead || !t.RevokedAt.IsZero() && now.Sub(t.RevokedAt) > keepDead
		})
		if len(f.Tokens) >= maxTokens {
			return refuse(op, "", nil, "there are too many tokens: revoke some")
		}
		i, taken := f.find(t.Digest)
		if taken || f.byID(t.ID) != nil {
			return conflict(op, t.ID, "try again")
		}
		f.Tokens, f.Version = slices.Insert(f.Tokens, i, t), fileTokens
		return nil
	}
	if err := d.tokens.try(change); err != nil {
		return refused[IssuedToken](Event{}, err)
	}
	return Act[IssuedToken]{Event: event(now, by.Actor, ActTokenCreate, t.ID, "for "+n.Owner), do: func() (IssuedToken, error) {
		if err := d.mayToken(by, n.Owner, true); err != nil {
			return IssuedToken{}, err
		}
		return IssuedToken{t.Token, NewSecret(tokenPrefix + text)}, d.tokens.change(change)
	}}
}

// mayToken returns nil if somebody may make or revoke the tokens of an owner.
func (d *Desk) mayToken(by Principal, owner string, making bool) error {
	const op = "administer token"
	if by.local && by.Source == FromSession && by.Actor == owner {
		if by.Must != MustNothing {
			return refuse(op, "", ErrDuty, "first: "+string(by.Must))
		}
		return nil
	}
	if err := by.May(UsersAdmin, ""); err != nil {
		return err
	}
	a := d.users.get().find(owner)
	switch {
	case making && a == nil:
		return notFound(op)
	case making && !a.Machine:
		return refuse(op, owner, ErrForbidden, "it is a person's: he makes it himself")
	}
	return nil
}

// RevokeToken ends a token at once: one's own, or with users.admin any. Errors:
// NotFound, Refused (it is revoked), and those of May.
func (d *Desk) RevokeToken(by Principal, id string) Act[Token] {
	const op = "revoke token"
	now := d.o.Now().UTC()
	t := d.tokens.get().byID(id)
	if t == nil {
		return refused[Token](Event{}, notFound(op))
	}
	if err := d.mayToken(by, t.Owner, false); err != nil {
		return refused[Token](by.Denied(now, UsersAdmin), err)
	}
	var out Token
	change := func(f *tokenFile) error {
		t := f.byID(id)
		switch {
		case t == nil:
			return notFound(op)
		case !t.RevokedAt.IsZero():
			return refuse(op, id, nil, "it is revoked")
		}
		t.RevokedAt = now
		out = t.Token
		return nil
	}
	if err := d.tokens.try(change); err != nil {
		return refused[Token](Event{}, err)
	}
	return Act[Token]{Event: event(now, by.Actor, ActTokenRevoke, id, by.Reason), do: func() (Token, error) {
		err := d.tokens.change(change)
		return out, err
	}}
}

// Tokens lists one's own tokens, and with users.admin all of them.
func (d *Desk) Tokens(p Principal) []Token {
	all := p.May(UsersAdmin, "") == nil
	out := []Token{}
	for _, t := range d.tokens.get().Tokens {
		if all || p.local && p.Source == FromSession && t.Owner == p.Actor {
			t.LastUsed = d.used.after(t.ID, t.LastUsed)
			out = append(out, t.Token)
		}
	}
	slices.SortFunc(out, func(a, b Token) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// parseToken returns the digest of a token's text.
func parseToken(text string) (digest, bool) {
	rest, ok := strings.CutPrefix(text, tokenPrefix)
	if !ok {
		return digest{}, false
	}
	return digestOf(rest)
}

func (d *Desk) byToken(now time.Time, text string) (Principal, error) {
	if dg, ok := parseToken(text); ok {
		f := d.tokens.get()
		if i, ok := f.find(base64.RawStdEncoding.EncodeToString(dg[:])); ok {
			return d.ofToken(now, &f.Tokens[i])
		}
	}
	return d.ofToken(now, nil)
}

func (d *Desk) byTokenID(now time.Time, id string) (Principal, error) {
	return d.ofToken(now, d.tokens.get().byID(id))
}

// ofToken returns what a token may do: no more than its owner may now.
func (d *Desk) ofToken(now time.Time, t *token) (Principal, error) {
	gone := refuse("authenticate", "", ErrUnauthenticated, "the token is not known, expired or revoked")
	if t == nil || !t.RevokedAt.IsZero() || !now.Before(t.ExpiresAt) {
		return Principal{}, gone
	}
	a := d.users.get().find(t.Owner)
	if a == nil || a.Disabled {
		return Principal{}, gone
	}
	p := d.ofAccount(a)
	p.Source, p.TokenID, p.ExpiresAt = FromToken, t.ID, t.ExpiresAt
	p.within, p.bounded, p.Partners = p.Partners, true, slices.Clone(t.Partners)
	p.grants = p.grants.byToken() & grantsTo(t.Permissions...)
	d.used.see(t.ID, now)
	return p, nil
}

// lastUse is when tokens were used since Flush.
type lastUse struct {
	mu sync.Mutex
	m  map[string]time.Time
}

func (l *lastUse) see(id string, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.m == nil {
		l.m = map[string]time.Time{}
	}
	l.m[id] = now.UTC().Truncate(useCoarse)
}

func (l *lastUse) after(id string, stored time.Time) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at := l.m[id]; at.After(stored) {
		return at
	}
	return stored
}

// Flush makes durable when tokens were last used, if that changed. Call it every few
// minutes and at the end; without it only those times are lost.
func (d *Desk) Flush() error {
	later := func(t *token) bool { return d.used.after(t.ID, t.LastUsed).After(t.LastUsed) }
	f := d.tokens.get()
	if !slices.ContainsFunc(f.Tokens, func(t token) bool { return later(&t) }) {
		return nil
	}
	return d.tokens.change(func(f *tokenFile) error {
		for i := range f.Tokens {
			f.Tokens[i].LastUsed = d.used.after(f.Tokens[i].ID, f.Tokens[i].LastUsed)
		}
		return nil
	})
}

// newID returns an id for the audit log: a prefix and 50 random bits.
func newID(prefix string) string { return prefix + rand.Text()[:10] }

// eventName returns an actor as a detail can hold it.
func eventName(actor string) string {
	if len(actor) > maxLogin || claimdlq.NewDetail(strings.ToUpper(actor)).String() == "DETAIL_INVALID" {
		return "OTHER"
	}
	return actor
}
