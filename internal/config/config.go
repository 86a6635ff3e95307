package config

import (
	"maps"
	"slices"
	"strings"
	"time"

	"claimdlq"
	"claimdlq/alert"
	"claimdlq/classify"
	"claimdlq/retry"
)

// The streams.
const (
	StreamX12   = "837"
	StreamNCPDP = "ncpdp"
)

// Config is a configuration without faults, every default filled in. It holds no
// secret and no message text that printing it would show.
type Config struct {
	// Data is the data directory (data). Default: claimdlq-data.
	Data string
	// Listen is the address of intake, metrics and health (listen).
	// Default: 127.0.0.1:8837, which other machines cannot reach.
	Listen string
	// PayloadListen is the address of a listener of their own for the operations that
	// carry content of claims (payload_listen). Default: none; they are at Listen.
	PayloadListen string
	TLS           TLS
	// Token is the bearer token that intake asks for (token_file), at least 16
	// characters. It must be given where Listen is not a loopback address. Default:
	// none; then whoever can reach Listen may hand in claims.
	Token  Secret
	SignIn SignIn
	Log    Log
	// Intake bounds what is taken in.
	Intake Intake
	// Workers is how many deliveries may be under way at the same time, over all
	// streams and partners (workers): 1 to 4096. Default: 64.
	Workers int
	// Streams always holds 837 and ncpdp.
	Streams map[string]Stream
	// Partners holds the partners with settings of their own, by the name in the
	// file, whatever is not theirs taken from their stream. Use Route to find one.
	Partners map[string]Route
	Alarms   Alarms

	overrides hidden[[]classify.NCPDPOverride]
}

// TLS is how Listen speaks (tls). An address that other machines can reach needs a
// certificate, or Off: claims are PHI on the wire too (45 CFR 164.312(e)(1)).
type TLS struct {
	// Cert and Key are PEM files (tls.cert, tls.key), both or none. Default: none.
	Cert, Key string
	// Off says that something in front of Listen encrypts (tls.off). Default: false.
	Off bool
	// SelfSigned makes a certificate at each start, for this machine alone
	// (tls.self_signed): Listen has to be a loopback address. Default: false.
	SelfSigned bool
}

// Encrypts reports whether the process itself speaks TLS.
func (t TLS) Encrypts() bool { return t.Cert != "" || t.SelfSigned }

// Log is what is logged to standard error (log).
type Log struct {
	// Level is debug, info, warning, error or off (log.level). Default: info.
	Level string
	// Format is text or json (log.format). Default: text.
	Format string
}

// Intake bounds what is taken in (intake).
type Intake struct {
	// MaxBody is the largest body of one request, in bytes (intake.max_body): 1 KiB
	// to 4 GiB. Default: 64 MiB.
	MaxBody int64
	// MaxWaiting is how many records may be unresolved before intake answers "later"
	// (intake.max_waiting): 1 to 1,000,000,000. Default: 10,000,000.
	MaxWaiting uint64
	// MemoryPercent is how much of the memory limit may be in use before intake
	// answers "later" (intake.memory_percent): 1 to 100. Default: 75.
	MemoryPercent int
	// BatchMessages is how many messages one batch may hold (intake.batch_messages):
	// 1 to 1,000,000. Default: 10,000.
	BatchMessages int
}

// Stream is one stream (streams.837, streams.ncpdp). Its Route is that of every
// partner without one of its own.
type Stream struct {
	Route
	// Policy are the levers (policy): max_receive 1 to 1000, max_receive_low 1 to
	// max_receive, replay_cap 1 to 100, base and cap 1ms to 24h, base no longer than
	// cap, jitter, hold_max 1s to 30d, retention 1h to 3650d, ack_deadline 1m to 365d.
	// Its ShredAfter is what shred_after says, each 1h to 3650d: paid, accepted, reversed,
	// rejected, withdrawn, and for 837 answers. Default: claimdlq.DefaultPolicy.
	Policy claimdlq.Policy
	// Folder is watched for input files (folder). Default: none.
	Folder string
}

// Route is where claims go and how. A partner takes from its stream what it does
// not say itself; but one with a target of its own takes no status, authorization
// or fallback: they belong to the stream's target.
type Route struct {
	// Stream is 837 or ncpdp (partners.NAME.stream). Default: the only stream that
	// the file has.
	Stream string
	// Partner is the name in the file, "" where the stream's route is meant.
	Partner string
	// Target is an address or an existing folder (target): https, or http to this
	// machine. Default: none; claims are held.
	Target string
	// Status says where to ask what became of a delivery (status): an address with
	// {isa13}, {sender}, {receiver} or {name} in it, or, where Target is a folder, the
	// folder into which taken files are moved. Default: none.
	Status string
	// ContentType is that of what is posted (content_type).
	// Default: application/EDI-X12 and application/x-ncpdp.
	ContentType string
	// Authorization is the value of the header of that name (authorization_file).
	// Default: none.
	Authorization Secret
	// Fallback takes, while the breaker is open, what was never sent (fallback); as
	// Target. Default: none; such claims wait.
	Fallback string
	// FallbackAuthorization is the fallback's (fallback_authorization_file). It is
	// never Target's: that would show one party's password to another. Default: none.
	FallbackAuthorization Secret
	// Workers is how many deliveries to one partner may be under way at the same time
	// (workers): 1 to 4096. Default: 1 for 837, whose files have an order, and as many
	// as there are for ncpdp.
	Workers int
	// Stopped delivers nothing; claims are held (stopped). Default: false.
	Stopped bool
	// IdempotentResend: after a delivery of unknown fate the identical bytes may be
	// sent again (idempotent_resend). Default: true for ncpdp, false for 837.
	IdempotentResend bool
	// TimelyFilingDays is within how many days of the date of service a claim must reach
	// the payer (timely_filing_days): 0 to 3650. Default: 0, no limit.
	TimelyFilingDays uint16
	// Breaker is filled in (breaker): consecutive 1 to 1,000,000, window 1 to 1024,
	// failure_percent 1 to 100, min_samples 1 to window, slow_after up to 10m or tier
	// (retail: 800ms, specialty: 1200ms), open and max_open 1ms to 24h. HoldMax is the
	// policy's. Default: retry.Options.
	Breaker retry.Options
}

// Alarms is the built-in evaluator of alarms (alarms).
type Alarms struct {
	// Every is how often the rules are looked at (alarms.every): 1s to 1h. Default: 15s.
	Every time.Duration
	// Rules holds what differs from the rules' own defaults, by name (alarms.rules); see
	// Apply.
	Rules map[string]AlarmRule
	// ConsoleURL is the console's address, for links in what is sent
	// (alarms.console_url). Default: the first of sign_in.origins.
	ConsoleURL string
	Webhook    Webhook
	Email      Email
}

// AlarmRule changes the rules of one name, as package alert has them. What is nil
// keeps the rule's own default.
type AlarmRule struct {
	// Threshold is what rings it, in the rule's own unit: above 0, a part such as 5%, or
	// a time such as 4h, which is seconds (threshold).
	Threshold *float64
	// Window is over how long it is measured (window): 1s to 1d; only rules that have
	// one. For is how long it must be so before it rings (for): 0s to 1d.
	Window, For *time.Duration
	// Severity says who is told, page or ticket (severity).
	Severity *alert.Severity
	// Off silences it (off). Default: false.
	Off bool
}

// Route returns where the claims of a partner go, the partner being named as records
// have it: BIN:PCN, or ISA07:ISA08. The partner's own route is found by the whole
// name, then by BIN or ISA08 alone, then it is the stream's. False where there is no
// target: claims are held.
func (c Config) Route(stream, partner string) (Route, bool) {
	names := []string{partner}
	if first, last, ok := strings.Cut(partner, ":"); ok {
		if stream == StreamNCPDP {
			names = append(names, first)
		} else {
			names = append(names, last)
		}
	}
	for _, name := range names {
		if r, ok := c.Partners[name]; ok && r.Stream == stream {
			return r, r.Target != ""
		}
	}
	r := c.Streams[stream].Route
	return r, r.Target != ""
}

// Routes returns every route there is: the streams' and then the partners', by name.
func (c Config) Routes() []Route {
	var rs []Route
	for _, name := range slices.Sorted(maps.Keys(c.Streams)) {
		rs = append(rs, c.Streams[name].Route)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Partners)) {
		rs = append(rs, c.Partners[name])
	}
	return rs
}

// Policies returns the policy of each stream.
func (c Config) Policies() claimdlq.Policies {
	ps := claimdlq.Policies{}
	for name, s := range c.Streams {
		ps[name] = s.Policy
	}
	return ps
}

// Overrides returns the partners' own classification rules (overrides), which are
// good ones. Their prefixes must not be shown: messages hold names.
func (c Config) Overrides() []classify.NCPDPOverride { return slices.Clone(c.overrides.get()) }

// NCPDPRules returns the overrides as classification reads them.
func (c Config) NCPDPRules() (*classify.NCPDPRules, error) {
	return classify.NewNCPDPRules(c.overrides.get())
}
