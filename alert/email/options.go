package email

import (
	"cmp"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/mail"
	"strconv"
	"time"

	"claimdlq"
	"claimdlq/internal/loopback"
)

// TLS is how a connection to the mail server is encrypted.
type TLS string

// The ways.
const (
	// StartTLS begins plain and must be encrypted before anything is said: port 587.
	StartTLS TLS = "starttls"
	// Implicit is encrypted from the first byte: port 465.
	Implicit TLS = "implicit"
	// None is for a mail server on this machine.
	None TLS = "none"
)

// Options tune a Sender. Server, From, To and Now are required.
type Options struct {
	// Server is HOST:PORT.
	Server string
	// TLS is how it is spoken to. Default: StartTLS.
	TLS TLS
	// User and Password sign in at the server, both or none; the strongest way it offers
	// is used. Default: none.
	User     string
	Password []byte
	// From is an address, To 1 to 20 of them.
	From string
	To   []string
	// Console is the console's address, such as https://dlq.example, for links. Default:
	// none; then a mail has the path alone.
	Console string
	// Group is how long the first event waits for others. Default: 30 s.
	Group time.Duration
	// Timeout bounds a mail from connecting to the last answer. Default: 30 s.
	Timeout time.Duration
	// FirstWait is the wait after a mail that failed; each further wait is twice the one
	// before, up to MaxWait. Default: 10 s, 10 min.
	FirstWait, MaxWait time.Duration
	// GiveUp is after how long an event that was never taken is dropped. Default: 24 h.
	GiveUp time.Duration
	// TLSConfig replaces what is known of the server: TLS 1.2 or later, its name by the
	// system's authorities.
	TLSConfig *tls.Config
	// Now is the clock.
	Now func() time.Time
	// Log is told of what is dropped. Default: nothing is logged.
	Log *slog.Logger
}

const (
	maxTo    = 20
	maxQueue = 256 // events that wait for one recipient
)

func (o Options) withDefaults() Options {
	o.TLS = cmp.Or(o.TLS, StartTLS)
	o.Group, o.Timeout = cmp.Or(o.Group, 30*time.Second), cmp.Or(o.Timeout, 30*time.Second)
	o.FirstWait, o.MaxWait = cmp.Or(o.FirstWait, 10*time.Second), cmp.Or(o.MaxWait, 10*time.Minute)
	o.GiveUp = cmp.Or(o.GiveUp, 24*time.Hour)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	host, _, _ := net.SplitHostPort(o.Server)
	o.TLSConfig = cmp.Or(o.TLSConfig, &tls.Config{MinVersion: tls.VersionTLS12, ServerName: host})
	return o
}

// validate returns every fault at once, each with code Invalid.
func (o Options) validate() error {
	var errs []error
	want := func(ok bool, hint string) {
		if !ok {
			errs = append(errs, &claimdlq.Error{Code: claimdlq.Invalid, Op: "read e-mail receiver", Hint: hint})
		}
	}
	host, port, err := net.SplitHostPort(o.Server)
	_, perr := strconv.ParseUint(port, 10, 16)
	want(err == nil && perr == nil && host != "", "the mail server is HOST:PORT")
	want(o.TLS == StartTLS || o.TLS == Implicit || o.TLS == None, "it is spoken to by starttls, implicit or none")
	want(o.TLS != None || loopback.Host(host), "without TLS only to a mail server on this machine")
	want((o.User == "") == (len(o.Password) == 0), "user and password go together")
	want(Address(o.From), "the sender is one address")
	want(len(o.To) >= 1 && len(o.To) <= maxTo, "there are 1 to 20 recipients")
	for _, to := range o.To {
		want(Address(to), "a recipient is one address")
	}
	want(o.Group >= 0 && o.Timeout > 0 && o.FirstWait > 0 && o.GiveUp > 0 && o.MaxWait >= o.FirstWait, "times are above 0, and the longest wait is not shorter than the first")
	want(o.Now != nil, "a clock is required")
	return errors.Join(errs...)
}

// Address reports whether the text is one plain address, such as desk@example.org.
func Address(s string) bool {
	a, err := mail.ParseAddress(s)
	return err == nil && a.Address == s && a.Name == "" && len(s) <= 254
}
