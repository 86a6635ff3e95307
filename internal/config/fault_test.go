package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimdlq/internal/config"
)

func TestParse_NamesEveryFaultAtOnce(t *testing.T) {
	t.Parallel()
	got := faults(t, `data: [a, b]
listen: 8837
log:
  level: loud
intake: {max_body: 1TB, memory_percent: 101}
workers: many
streams:
  ncpdp:
    target: ftp://payer.example
    policy:
      max_receive: 0
      base: 2 seconds
      jitter: maybe
      retention: 10m
    breaker: 5
  "837":
    trget: x
partners:
  12345: {stream: ncpdp, target: "https://payer.example"}
  ZZ:PAYER: {stream: "838", target: "https://payer.example"}
alarms:
  every: 0s
  rules:
    dlq_dept: {threshold: 1}
    parked: {threshold: -1, severity: shout}
  email: {server: mail.example, to: ["Desk <desk@example.org>"], severities: [page, loud], user: x}
sign_in:
  origins: ["https://dlq.example/console"]
  codes_for: [king]
  idle: 13h
  oidc:
    issuer: http://login.example
    redirect: https://dlq.example/elsewhere
    roles: {staff: [analyst, boss], other: viewer}
payload_listen: here
colour: red
`, "CLAIMDLQ_WORKERS=0")
	want := []string{
		"data (line 1): must be one value",
		"listen (line 2): must be HOST:PORT, such as 127.0.0.1:8837",
		"log.level (line 4): must be one of debug, info, warning, error, off",
		"intake.max_body (line 5): must be a size in bytes, or such as 512KiB, 64MiB, 2GiB",
		"intake.memory_percent (line 5): must be a whole number from 1 to 100",
		"streams.ncpdp.target (line 9): must be an address that begins with https://, or with http:// on this machine",
		"streams.ncpdp.policy.max_receive (line 11): must be a whole number from 1 to 1000",
		"streams.ncpdp.policy.base (line 12): must be a time such as 800ms, 30s, 5m, 1h30m or 14d",
		"streams.ncpdp.policy.jitter (line 13): must be true or false",
		"streams.ncpdp.policy.retention (line 14): must be a time from 1h to 3650d",
		"streams.ncpdp.breaker (line 15): must be a mapping; its keys are consecutive, window, failure_percent, min_samples, slow_after, tier, open, max_open",
		"streams.837.trget (line 17): there is no such key; did you mean target?",
		"partners.12345 (line 19): a pharmacy payer is BIN or BIN:PCN: six or eight digits, and up to ten characters",
		`partners."ZZ:PAYER".stream (line 20): must be one of 837, ncpdp`,
		"alarms.every (line 22): must be a time from 1s to 1h",
		"alarms.rules.dlq_dept (line 24): there is no such key; did you mean dlq_depth?",
		"alarms.rules.parked.threshold (line 25): must be a number above 0, a part such as 5%, or a time such as 4h",
		"alarms.rules.parked.severity (line 25): must be page or ticket",
		"alarms.email.server (line 26): must be HOST:PORT, such as 127.0.0.1:8837",
		"alarms.email.to[0] (line 26): must be an address such as desk@example.org",
		"alarms.email.severities[1] (line 26): must be page or ticket",
		"alarms.email.user (line 26): goes with password_file",
		`sign_in.origins[0] (line 28): must be an address without a path, such as https://dlq.example`,
		"sign_in.codes_for[0] (line 29): must be one of viewer, operator, analyst, approver, admin",
		"sign_in.idle (line 30): must be a time from 1m to 12h",
		"sign_in.oidc.issuer (line 32): must begin with https://: nothing leaves this machine unencrypted",
		"sign_in.oidc.redirect (line 33): must be the console's public address and /v1/session/oidc/callback",
		"sign_in.oidc.roles.staff[1] (line 34): must be one of viewer, operator, analyst, approver, admin",
		"sign_in.oidc.roles.other (line 34): must be a list: lines that begin with -",
		"payload_listen (line 35): must be HOST:PORT, such as 127.0.0.1:8837",
		"colour (line 36): there is no such key; there are data, listen, payload_listen, tls, token_file, sign_in, log, intake, workers, streams, partners, alarms",
		"workers (CLAIMDLQ_WORKERS): must be a whole number from 1 to 4096",
		"sign_in.oidc.client_id: must be said",
		"sign_in.oidc.roles_claim: must be said",
		"alarms.email.from: must be said",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestParse_KeysAgainstEachOther(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	token := write(t, "token", canary)
	for file, words := range map[string]string{
		"streams: {ncpdp: {policy: {max_receive: 3, max_receive_low: 4}}}":                                        "max_receive_low|not be more than max_receive, which is 3",
		"streams: {ncpdp: {policy: {base: 2m}}}":                                                                  "policy.base|2m and 1m",
		"streams: {ncpdp: {policy: {cap: 1s}}}":                                                                   "policy.cap|2s and 1s",
		"streams: {ncpdp: {breaker: {tier: retail, slow_after: 1s}}}":                                             "breaker.tier|one of them",
		"streams: {ncpdp: {breaker: {window: 10, min_samples: 11}}}":                                              "min_samples|which is 10",
		"streams: {ncpdp: {breaker: {open: 1h, max_open: 1m}}}":                                                   "max_open|which is 1h",
		"streams: {ncpdp: {status: " + dir + "}}":                                                                 "status|goes with target",
		"streams: {ncpdp: {fallback: 'https://a.example'}}":                                                       "fallback|goes with target",
		"streams: {ncpdp: {authorization_file: " + token + "}}":                                                   "authorization_file|goes with target",
		"streams: {ncpdp: {target: " + dir + ", authorization_file: " + token + "}}":                              "authorization_file|target is a folder",
		"streams: {ncpdp: {target: 'https://a.example', fallback: 'https://a.example'}}":                          "fallback|must not be the target",
		"streams: {'837': {target: 'https://a.example', status: " + dir + "}}":                                    "status|a folder where target is one",
		"streams: {'837': {target: " + dir + ", folder: " + dir + "/.}}":                                          "streams.837.folder|that of streams.837.target",
		"streams: {'837': {folder: " + dir + "}, ncpdp: {folder: " + dir + "}}":                                   "streams.ncpdp.folder|that of streams.837.folder",
		"streams: {'837': {folder: " + dir + "}}\npartners: {PAYER: {target: " + dir + "}}":                       "streams.837.folder|partners.PAYER.target",
		"streams: {'837': {target: 'https://a.example', status: 'https://a.example/{claim}'}}":                    "status|{isa13}, {sender}, {receiver} and {name}",
		"streams: {ncpdp: {target: 'http://payer.example'}}":                                                      "target|nothing leaves this machine unencrypted",
		"streams: {ncpdp: {target: 'https://" + canary + ":" + canary + "@payer.example'}}":                       "target|no user and password",
		"streams: {ncpdp: {target: " + canary + "}}":                                                              "target|a folder that exists",
		"streams: {ncpdp: {content_type: " + canary + "}}":                                                        "content_type|media type",
		"streams: {'837': {overrides: []}}":                                                                       "streams.837.overrides|no such key",
		"listen: 0.0.0.0:8837\ntls: {off: true}":                                                                  "token_file|other machines",
		"tls: {self_signed: true, off: true}":                                                                     "tls.self_signed",
		"listen: 10.0.0.1:8837\ntls: {self_signed: true}\ntoken_file: " + token:                                   "tls.cert|other machines",
		"listen: :8837\ntoken_file: " + token:                                                                     "tls.cert|tls.off: true",
		"tls: {cert: " + token + "}":                                                                              "tls.key|go together",
		"tls: {cert: " + token + ", key: " + token + "}":                                                          "tls.cert|PEM",
		"alarms: {webhook: {secret_file: " + token + "}}":                                                         "secret_file|goes with url",
		"alarms: {webhook: {severities: [page]}}":                                                                 "severities|goes with url",
		"alarms: {email: {server: 'mail.example:25', tls: none, from: a@b.example, to: [c@d.example]}}":           "alarms.email.tls|unencrypted",
		"alarms: {webhook: {url: 'http://alarms.example'}}":                                                       "url|https://",
		"payload_listen: 127.0.0.1:8837":                                                                          "payload_listen|another address",
		"payload_listen: 0.0.0.0:8838":                                                                            "tls.cert|reach payload_listen",
		"sign_in: {second_person: {replay_claims: 0}}":                                                            "sign_in.second_person.replay_claims|from 1 to",
		"sign_in: {second_person: {replay_dollars: -1}}":                                                          "sign_in.second_person.replay_dollars|from 1 to",
		"sign_in: {idle: 2h, longest: 1h}":                                                                        "sign_in.idle|which is 1h",
		"sign_in: {oidc: {issuer: 'https://a.example', client_id: x, roles_claim: groups, roles: {a: [viewer]}}}": "sign_in.oidc.redirect|sign_in.origins",
		"sign_in: {origins: ['https://b.example'], oidc: {issuer: 'https://a.example', client_id: x, roles_claim: groups, roles: {a: [viewer]}, redirect: 'https://a.example/v1/session/oidc/callback'}}": "sign_in.oidc.redirect|sign_in.origins",
		"sign_in: {origins: ['https://b.example'], oidc: {issuer: 'https://a.example', client_id: x, roles_claim: groups, roles: {a: [viewer]}, partners: {a: ['*x']}}}":                                  "sign_in.oidc|BIN:PCN",
		"sign_in: {origins: ['https://b.example'], oidc: {issuer: 'https://a.example', client_id: x, roles_claim: groups, roles: {a: [viewer]}, client_secret_file: 'env:NONE_SUCH'}}":                    "client_secret_file|not set",
		"alarms: {rules: {breaker_open: {window: 1m}}}":                                           "breaker_open|no window",
		"alarms: {rules: {conservation: {threshold: 2}}}":                                         "conservation|no threshold",
		"alarms: {rules: {retry_rate: {threshold: 500%}}}":                                        "retry_rate|part of the first deliveries",
		"partners: {'012345': {target: 'https://a.example'}}":                                     "stream|two streams, or none",
		"partners: {'012345': {stream: ncpdp}}":                                                   "target|neither",
		"streams: {'837': {target: 'https://a.example'}}\npartners: {PAYER: {overrides: []}}":     "overrides|ncpdp only",
		"streams: {ncpdp: {target: 'https://a.example'}}\npartners: {'012345': {policy: {}}}":     "policy|no such key",
		"streams: {ncpdp: {target: 'https://a.example'}}\npartners: {'012345:A|B': {workers: 2}}": "BIN:PCN",
	} {
		one(t, file, strings.Split(words, "|")...)
	}
}

func TestParse_FormsThatAreNotRead(t *testing.T) {
	t.Parallel()
	for file, words := range map[string]string{
		"data: &a " + canary + "\n":                            "data|anchors",
		"data: !secret " + canary + "\n":                       "data|tags",
		"data: !!binary " + canary + "\n":                      "data|tags",
		"log: {<<: {level: info}}\n":                           "<<|no such key",
		"data: /a\nlisten: ':1'\ndata: /b\ntls: {off: true}\n": "data (line 3)|line 1",
		"data: /a\n---\ndata: /b\n":                            "one YAML document",
		"- a\n":                                                "must be a mapping",
		canary + "\n":                                          "must be a mapping",
		"data: 'x\n" + canary + "\n":                           "not readable as YAML|line",
		"data: " + canary + ": x\n":                            "not readable as YAML",
		"log: *" + canary + "\n":                               "not readable as YAML",
		"? [a]\n: b\n":                                         "one plain word",
		"log: " + strings.Repeat("{a: ", 20) + strings.Repeat("}", 20) + "\n": "too deep",
		"\x00":                      "not readable as YAML",
		strings.Repeat("#", 2<<20):  "not be larger than 1MiB",
		"'" + canary + "\u00e9': 1": "?|no such key",
	} {
		got := faults(t, file, "CLAIMDLQ_TOKEN_FILE=env:TOKEN", "TOKEN="+canary)
		if len(got) == 0 {
			continue
		}
		for _, w := range strings.Split(words, "|") {
			if !strings.Contains(strings.Join(got, "\n"), w) {
				t.Errorf("%q is not said of %.60q: %q", w, file, got)
			}
		}
	}
}

// A value in a wrong place may be a secret: no fault quotes one.
func TestParse_NoFaultShowsAValue(t *testing.T) {
	t.Parallel()
	for _, path := range config.Leaves() {
		for _, v := range []string{canary + " x", "[" + canary + "]", "{x: " + canary + "}", "'https://u:" + canary + "@h'", "'env:" + canary + "'"} {
			file := ""
			for i, key := range path {
				file += strings.Repeat("  ", i) + fmt.Sprintf("%q:", key)
				if i < len(path)-1 {
					file += "\n"
				}
			}
			_, err := config.Parse("", []byte(file+" "+v+"\n"), nil, nil)
			if path[0] == "data" && err == nil {
				continue // any text is a path
			}
			if err == nil || strings.Contains(err.Error(), canary) {
				t.Errorf("%s: %s: %v", strings.Join(path, "."), v, err)
			}
		}
	}
	file := "streams: {ncpdp: {overrides: [{prefix: " + canary + ", class: NOPE}, {prefix: " + canary + ", code: '99', class: TERMINAL}, " + canary + "]}}"
	if got := faults(t, file); len(got) != 3 {
		t.Errorf("%q", got)
	}
}

func TestParse_FaultsAreBounded(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&b, "key%d: 1\n", i)
	}
	_, err := config.Parse("", []byte(b.String()), nil, nil)
	if n := len(config.Faults(err)); n != config.MaxFaults || !strings.Contains(err.Error(), "and 4900 more") || len(err.Error()) > 40_000 {
		t.Errorf("%d faults, %.100v", n, err)
	}
}

func TestNear_FindsWhatWasMeant(t *testing.T) {
	t.Parallel()
	words := []string{"target", "status", "workers", "max_receive", "max_receive_low", "tls"}
	for in, want := range map[string]string{
		"targt": "target", "tagret": "target", "Target": "target", "maxreceive": "max_receive", "max-receive-low": "max_receive_low",
		"tsl": "tls", "": "", "x": "", "colour": "", "worker": "workers", strings.Repeat("target", 100): "",
	} {
		if got := config.Near(in, words...); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{partners, "", "a: &a [*a]", "streams: {ncpdp: {overrides: [{}]}}", "partners: {'1': {breaker: {}}}", "alarms: {rules: {parked: {for: 1d}}}", "? {}\n: {}", "a: !!x"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		c, err := config.Parse("x.yaml", file, nil, nil)
		if (err == nil) != (len(c.Streams) == 2) || err != nil && len(config.Faults(err)) == 0 {
			t.Errorf("%+v, %v", c, err)
		}
		if err != nil && len(err.Error()) > 1<<16 {
			t.Errorf("an error of %d bytes", len(err.Error()))
		}
	})
}
