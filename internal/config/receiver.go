package config

import (
	"net"

	"claimdlq/alert"
	"claimdlq/alert/email"
	"claimdlq/internal/loopback"
)

// Webhook receives alarms (alarms.webhook).
type Webhook struct {
	// URL is an address, https or on this machine (alarms.webhook.url). Default: none.
	URL string
	// Secret signs what is sent (alarms.webhook.secret_file), at least 16 characters.
	// Default: none; then what is sent is not signed.
	Secret Secret
	// Severities are what it is told of (alarms.webhook.severities). Default: all.
	Severities []alert.Severity
}

// Email receives alarms as mail (alarms.email).
type Email struct {
	// Server is HOST:PORT of a mail server (alarms.email.server). Default: none.
	Server string
	// TLS is starttls, implicit, or none for a server on this machine
	// (alarms.email.tls). Default: starttls.
	TLS email.TLS
	// User and Password sign in there (alarms.email.user, password_file), both or none.
	User     string
	Password Secret
	// From is an address, To 1 to 20 (alarms.email.from, to).
	From string
	To   []string
	// Severities are what is mailed (alarms.email.severities). Default: all.
	Severities []alert.Severity
}

func (r *reader) receivers() object {
	a := &r.config.Alarms
	return object{
		{"every", span(&a.Every, second, hour)},
		{"console_url", text(&a.ConsoleURL, address)},
		{"rules", table((*reader).alarmRules)},
		{"webhook", object{
			{"url", text(&a.Webhook.URL, address)},
			{"secret_file", secret{&a.Webhook.Secret, longWord}},
			{"severities", words(&a.Webhook.Severities, severity)},
		}},
		{"email", object{
			{"server", text(&a.Email.Server, listenAddress)},
			{"tls", oneOf(&a.Email.TLS, email.StartTLS, email.Implicit, email.None)},
			{"user", text(&a.Email.User, plainWord)},
			{"password_file", secret{&a.Email.Password, headerValue}},
			{"from", text(&a.Email.From, mailbox)},
			{"to", words(&a.Email.To, mailbox)},
			{"severities", words(&a.Email.Severities, severity)},
		}},
	}
}

// checkReceivers checks the keys of the receivers against each other.
func (r *reader) checkReceivers() {
	a := &r.config.Alarms
	for _, key := range []string{"secret_file", "severities"} {
		r.needs("alarms.webhook", key, "url", a.Webhook.URL)
	}
	if a.ConsoleURL == "" && len(r.config.SignIn.Origins) > 0 {
		a.ConsoleURL = r.config.SignIn.Origins[0]
	}
	const at = "alarms.email"
	if !r.isGiven(at) {
		return
	}
	for _, key := range []string{"server", "from", "to"} {
		if !r.isGiven(at + "." + key) {
			r.wrongAt(at+"."+key, "must be said")
		}
	}
	r.needs(at, "user", "password_file", string(a.Email.Password.Reveal()))
	r.needs(at, "password_file", "user", a.Email.User)
	host, _, _ := net.SplitHostPort(a.Email.Server)
	if a.Email.TLS == email.None && host != "" && !loopback.Host(host) {
		r.wrongAt(at+".tls", "must be starttls or implicit: nothing leaves this machine unencrypted")
	}
	if n := len(a.Email.To); r.isGiven(at+".to") && n > 20 {
		r.wrongAt(at+".to", "must be at most 20 addresses")
	}
}

func severity(s string) string {
	if s != string(alert.Page) && s != string(alert.Ticket) {
		return "must be page or ticket"
	}
	return ""
}

func mailbox(s string) string {
	if !email.Address(s) {
		return "must be an address such as desk@example.org"
	}
	return ""
}
