package auth

import (
	"crypto/rand"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"slices"
	"time"

	"claimdlq"
	"claimdlq/internal/atomicfile"
)

// Options say how a Desk works. Of a public address and plain HTTP, one has to be given
// where a browser comes through a proxy: see CheckOrigin.
type Options struct {
	// Dir is where the files are; it is made on first use. One process has it.
	Dir string
	// Now is the clock.
	Now func() time.Time
	// Argon are the parameters of new password hashes; older ones that are weaker are
	// made again when their owner signs in. Default: see Argon.
	Argon Argon
	// Hashing is how many passwords are looked at at a time, each with Argon's memory.
	// Default: 2.
	Hashing int
	// Idle ends a session that nobody used, Absolute any. Default: 15 min, 12 h.
	Idle, Absolute time.Duration
	// Elevation is how long a break-glass lasts. Default: 15 min.
	Elevation time.Duration
	// CodeFor lists the roles that need one-time codes: who has one of them and no code
	// yet may do nothing but enrol. Default: none.
	CodeFor []Role
	// Issuer is what an authenticator shows beside the login. Default: claimdlq.
	Issuer string
	// LoopbackHTTP says that the listener is plain HTTP on a loopback address: cookies of
	// such requests are not Secure. Requests from elsewhere are treated as without it.
	LoopbackHTTP bool
	// Origins are the public addresses of the console, such as https://dlq.example.org.
	// Default: https and the request's host; with LoopbackHTTP, http and a loopback host.
	Origins []string
	// Address returns where a request comes from, for counting failures. Default: the
	// connection's remote address. Behind a proxy it has to be given.
	Address func(*http.Request) netip.Addr
	// Second says from where on a replay needs a second person. Both are given, or none.
	// Default: as the directory was last served, else DefaultSecond.
	Second Second
	// ApprovalFor is how long an approval waits and lasts, from when it was asked for.
	// Default: 24 h.
	ApprovalFor time.Duration
	// OIDC is the provider to sign in through. Default: none.
	OIDC *OIDC
}

func (o Options) withDefaults() Options {
	set := func(d *time.Duration, to time.Duration) {
		if *d == 0 {
			*d = to
		}
	}
	if o.Argon == (Argon{}) {
		o.Argon = defaultArgon
	}
	if o.Hashing == 0 {
		o.Hashing = 2
	}
	set(&o.Idle, 15*time.Minute)
	set(&o.Absolute, 12*time.Hour)
	set(&o.Elevation, 15*time.Minute)
	set(&o.ApprovalFor, 24*time.Hour)
	if o.Issuer == "" {
		o.Issuer = "claimdlq"
	}
	if o.Address == nil {
		o.Address = remote
	}
	return o
}

func (o Options) validate() error {
	const op = "open accounts"
	switch {
	case o.Dir == "" || o.Now == nil:
		return invalid(op, "a directory and a clock are needed")
	case !o.Argon.valid():
		return invalid(op, "argon2id takes 1 to 20 passes, at least 8 KiB for each thread, and at most 1 GiB")
	case min(o.Idle, o.Absolute, o.Elevation, o.ApprovalFor) < 0 || o.Hashing < 0 || min(o.Second.Claims, o.Second.Cents) < 0 || (o.Second.Claims == 0) != (o.Second.Cents == 0):
		return invalid(op, "times and numbers must not be negative")
	case slices.ContainsFunc(o.CodeFor, func(r Role) bool { return !r.Known() }):
		return invalid(op, "one-time codes are asked for roles that are not there")
	}
	for _, origin := range o.Origins {
		if _, ok := parseOrigin(origin); !ok {
			return invalid(op, "an origin is https:// and a host, or http:// and a loopback host, without a path")
		}
	}
	return nil
}

// Desk is where everybody signs in and is recognised. It is safe for concurrent use,
// starts nothing and needs no end but Flush.
type Desk struct {
	o         Options
	users     *file[userFile]
	tokens    *file[tokenFile]
	approvals *file[approvalFile]
	second    *file[secondFile]
	sessions  *sessions
	throttle  *throttle
	hasher    *hasher
	noCode    []byte // a secret of one-time codes that nobody has
	used      lastUse
	origins   []string
	flowKey   []byte // seals sign-ins at the provider that are under way
	spent     spent
}

// Open opens the accounts, tokens and approvals in a directory. Errors: Invalid (the
// options), Corrupt (a file), Refused (others can read a file), Unavailable.
func Open(o Options) (*Desk, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	if err := atomicfile.MkdirAll(o.Dir, dirPerm); err != nil {
		return nil, &claimdlq.Error{Code: claimdlq.Unavailable, Op: "open accounts", Err: cause(err)}
	}
	if err := atomicfile.Sweep(o.Dir); err != nil {
		return nil, &claimdlq.Error{Code: claimdlq.Unavailable, Op: "open accounts", Err: cause(err)}
	}
	d := &Desk{
		o:        o,
		sessions: &sessions{idle: o.Idle, absolute: o.Absolute, m: map[digest]session{}},
		throttle: &throttle{m: map[string]watched{}},
		hasher:   newHasher(o.Argon, o.Hashing),
		noCode:   newCodeSecret(),
		flowKey:  make([]byte, secretBytes),
	}
	_, _ = rand.Read(d.flowKey)
	for _, origin := range o.Origins {
		text, _ := parseOrigin(origin)
		d.origins = append(d.origins, text)
	}
	var err error
	if d.users, err = openFile(filepath.Join(o.Dir, "users.json"), "users", checkUsers); err != nil {
		return nil, err
	}
	if d.tokens, err = openFile(filepath.Join(o.Dir, "tokens.json"), "tokens", checkTokens); err != nil {
		return nil, err
	}
	if d.approvals, err = openFile(filepath.Join(o.Dir, "approvals.json"), "approvals", checkApprovals); err != nil {
		return nil, err
	}
	if d.second, err = openFile(filepath.Join(o.Dir, "second.json"), "the rule of two persons", checkSecond); err != nil {
		return nil, err
	}
	return d, d.keepSecond()
}

func remote(r *http.Request) netip.Addr {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	a, _ := netip.ParseAddr(host)
	return a.Unmap()
}

// addressKey counts the failures from one place: an IPv4 address, or the /64 of an
// IPv6 one, which one household can walk through.
func addressKey(a netip.Addr) key {
	if a.Is6() {
		if p, err := a.WithZone("").Prefix(64); err == nil {
			a = p.Addr()
		}
	}
	return key{"address " + a.String(), freeAddress, leakAddress}
}

// loginKey counts the failures of one login, whether it exists or not. What cannot be
// a login shares one count.
func loginKey(login string) key {
	if !loginOK(login) {
		login = ""
	}
	return key{"login " + login, freeLogin, 0}
}
