package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claimdlq"
	"claimdlq/alert"
	"claimdlq/classify"
	"claimdlq/internal/config"
	"claimdlq/retry"
)

const partners = `
streams:
  ncpdp:
    target: https://switch.example/ncpdp
    authorization_file: env:SWITCH
    fallback: https://other.example/ncpdp
    fallback_authorization_file: env:OTHER
    workers: 16
    policy: {hold_max: 30m, max_receive: 1}
    breaker: {consecutive: 20, min_samples: 50, tier: retail}
  837:
    target: https://clearinghouse.example/837
    status: https://clearinghouse.example/status?isa13={isa13}
partners:
  012345: {stream: ncpdp, workers: 2, breaker: {window: 10}}
  012345:pcn1: {stream: ncpdp, target: https://payer.example/d0, breaker: {tier: specialty}}
  "99999999:P": {stream: ncpdp, fallback: https://third.example/, stopped: true, idempotent_resend: false}
  PAYER: {stream: "837", workers: 4}
  30:PAYER: {stream: "837", target: https://direct.example/837}
  123456: {stream: 837}
`

func TestRoute_TheMostSpecificNameWins(t *testing.T) {
	t.Parallel()
	c := good(t, partners, "SWITCH=Basic s", "OTHER=Basic o")
	for in, want := range map[string]string{
		"ncpdp 012345:pcn1": "012345:pcn1", "ncpdp 012345:PCN1": "012345", "ncpdp 012345:": "012345", "ncpdp 012345": "012345", "ncpdp 543210:pcn1": "",
		"ncpdp 99999999:P": "99999999:P", "ncpdp 99999999:Q": "", "837 ZZ:PAYER": "PAYER", "837 30:PAYER": "30:PAYER", "837 PAYER": "PAYER", "837 ZZ:OTHER": "",
		"837 ZZ:123456": "123456", "ncpdp 123456:A": "", "837 012345:X": "", "837 INVALID": "",
	} {
		stream, partner, _ := strings.Cut(in, " ")
		r, ok := c.Route(stream, partner)
		if !ok || r.Partner != want || r.Stream != stream {
			t.Errorf("%s: %q of %s, %v; want %q", in, r.Partner, r.Stream, ok, want)
		}
	}
	if _, ok := c.Route("other", "x"); ok {
		t.Error("a stream that there is not has a route")
	}
	if n := len(c.Routes()); n != 8 {
		t.Errorf("%d routes", n)
	}
}

func TestPartner_TakesFromItsStreamWhatIsNotItsOwn(t *testing.T) {
	t.Parallel()
	c := good(t, partners, "SWITCH=Basic s", "OTHER=Basic o")
	stream := c.Streams["ncpdp"].Route
	if stream.Breaker.HoldMax != 30*time.Minute || stream.Breaker.SlowAfter != retry.SlowRetail || stream.Workers != 16 || c.Policies()["ncpdp"].MaxReceiveLow != 1 {
		t.Errorf("%+v", stream)
	}
	want := stream
	want.Partner, want.Workers, want.Breaker.Window, want.Breaker.MinSamples = "012345", 2, 10, 10
	if d := cmp.Diff(want, c.Partners["012345"], shown); d != "" {
		t.Error(d)
	}

	// A target of its own: what belongs to the stream's target stays there, its
	// password and its fallback, which is another party, before all.
	own := c.Partners["012345:pcn1"]
	want = stream
	want.Partner, want.Target, want.Fallback, want.Breaker.SlowAfter = "012345:pcn1", "https://payer.example/d0", "", retry.SlowSpecialty
	want.Authorization, want.FallbackAuthorization = own.Authorization, own.FallbackAuthorization
	if d := cmp.Diff(want, own, shown); d != "" {
		t.Error(d)
	}
	if own.Authorization.IsSet() || own.FallbackAuthorization.IsSet() {
		t.Error("another party is sent the stream's password")
	}
	third := c.Partners["99999999:P"]
	if string(third.Authorization.Reveal()) != "Basic s" || third.FallbackAuthorization.IsSet() || !third.Stopped || third.IdempotentResend {
		t.Errorf("%+v", third)
	}
	direct, payer := c.Partners["30:PAYER"], c.Partners["PAYER"]
	if direct.Status != "" || payer.Status != c.Streams["837"].Status || payer.Workers != 4 || direct.Workers != 1 {
		t.Errorf("%+v, %+v", direct, payer)
	}
}

func TestPartner_TheOnlyStreamNeedNotBeSaid(t *testing.T) {
	t.Parallel()
	c := good(t, "streams: {'837': {target: 'https://a.example'}}\npartners: {PAYER: {stopped: true}}")
	if r, ok := c.Route("837", "ZZ:PAYER"); !ok || !r.Stopped {
		t.Errorf("%+v", r)
	}
	c = good(t, "partners: {'012345': {stream: ncpdp, stopped: true}}")
	if r, ok := c.Route("ncpdp", "012345:A"); ok || !r.Stopped {
		t.Errorf("%+v: stopped, and has no target", r)
	}
}

func TestPartner_NamesAreThoseOfRecords(t *testing.T) {
	t.Parallel()
	for in, ok := range map[string]bool{
		"ncpdp 012345": true, "ncpdp 012345:A": true, "ncpdp 01234567:0123456789": true, "ncpdp 01234": false, "ncpdp 012345:": false, "ncpdp 01234A": false,
		"ncpdp 012345:01234567890": false, "ncpdp 012345:A B": false, "ncpdp 012345:A:B": false, "ncpdp PAYER": false,
		"837 PAYER": true, "837 ZZ:PAYER": true, "837 123456789012345": true, "837 1234567890123456": false, "837 Z:PAYER": false, "837 ZZ:": false, "837 ": false, "837 ZZ:A:B": false,
	} {
		stream, name, _ := strings.Cut(in, " ")
		file := "partners: {'" + name + "': {stream: '" + stream + "', target: 'https://a.example'}}"
		if ok {
			good(t, file)
		} else {
			one(t, file, "partners.")
		}
	}
}

func TestOverrides_BecomeRulesOfTheirPartner(t *testing.T) {
	t.Parallel()
	c := good(t, `streams: {ncpdp: {target: 'https://a.example', overrides: [{code: 99, class: TRANSIENT, budget: low}]}}
partners:
  "012345":
    overrides:
      - {code: "85", class: TRANSIENT, ambiguous: true, budget: window}
      - prefix: already on system
        class: ALREADY_PAID
  012345:P1:
    overrides: [{code: M3, class: POISON}]
`)
	want := []classify.NCPDPOverride{
		{Code: "99", Class: classify.NCPDPTransient, Budget: classify.BudgetLow},
		{BIN: "012345", Code: "85", Class: classify.NCPDPTransient, Ambiguous: true, Budget: classify.BudgetWindow},
		{BIN: "012345", Prefix: "already on system", Class: classify.NCPDPAlreadyPaid},
		{BIN: "012345", PCN: "P1", Code: "M3", Class: classify.NCPDPPoison},
	}
	if d := cmp.Diff(want, c.Overrides()); d != "" {
		t.Error(d)
	}
	rules, err := c.NCPDPRules()
	if err != nil {
		t.Fatal(err)
	}
	r := rules.Classify(classify.NCPDPAnswer{
		Code: [2]byte{'B', '1'}, Header: 'A', Found: true, Status: 'R', Rejects: [][]byte{[]byte("M3")}, BIN: []byte("012345"), PCN: []byte("P1"),
	})
	if r.Class != classify.NCPDPPoison || !r.Overridden {
		t.Errorf("%+v", r)
	}
	c.Overrides()[0].Code = "00"
	if c.Overrides()[0].Code != "99" {
		t.Error("a caller can change the configuration")
	}
}

func TestOverrides_EachThatIsNoRuleIsNamed(t *testing.T) {
	t.Parallel()
	got := faults(t, `streams:
  ncpdp:
    target: https://a.example
    overrides:
      - {code: "99", class: TRANSIENT}
      - {code: "99", prefix: `+canary+`, class: TERMINAL}
      - {class: TERMINAL}
      - {code: "99", class: CAPTURED}
      - {code: "99", class: TRANSIENT, budget: large}
      - {code: "99"}
      - {prefix: `+canary+`, class: TERMINAL, budget: low}
      - {cod: "99", class: TERMINAL}
      - just a word
`)
	for i, want := range []string{
		"[1] (line 6): either a code or a prefix", "[2] (line 7): either", "[3].class (line 8): must be TERMINAL", "[4].budget (line 9): must be normal, low or window",
		"[5] (line 10): class must be", "[6] (line 11): ambiguous and budget go with TRANSIENT", "[7].cod (line 12): there is no such key; did you mean code?", "[8] (line 13): must be a mapping",
	} {
		if i >= len(got) || !strings.HasPrefix(got[i], "streams.ncpdp.overrides"+want) {
			t.Errorf("want %s in %q", want, got)
		}
	}
	if len(got) != 8 {
		t.Errorf("%q", got)
	}
}

func TestPolicy_EveryLeverIsRead(t *testing.T) {
	t.Parallel()
	c := good(t, `streams: {ncpdp: {policy: {max_receive: 7, max_receive_low: 3, replay_cap: 4, base: 1s, cap: 1m30s, jitter: true, hold_max: 2h, retention: 1d12h, ack_deadline: 90m}}}`)
	want := claimdlq.Policy{
		MaxReceive: 7, MaxReceiveLow: 3, ReplayCap: 4, Base: time.Second, Cap: 90 * time.Second, Jitter: true, HoldMax: 2 * time.Hour, Retention: 36 * time.Hour, AckDeadline: 90 * time.Minute,
	}
	if d := cmp.Diff(want, c.Policies().For("ncpdp")); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(claimdlq.DefaultPolicy(), c.Policies().For("837")); d != "" {
		t.Error(d)
	}
}

func TestSpans_AtTheirBounds(t *testing.T) {
	t.Parallel()
	for in, ok := range map[string]bool{
		"1h": true, "59m59s": false, "3650d": true, "3650d1s": false, "99999999999d": false, "1d": true, "d": false, "1.5d": false, "-1d": false, "-5h": false,
		"1dd": false, "1d-1h": false, "2562047h47m16s": false, "14": false, "14 d": false, "106751d": false, "5124095h": false,
	} {
		_, err := parse("streams: {ncpdp: {policy: {retention: '" + in + "'}}}")
		if (err == nil) != ok {
			t.Errorf("%s: %v", in, err)
		}
	}
	for in, ok := range map[string]bool{
		"1KiB": true, "1024": true, "1023": false, "4GiB": true, "4294967297": false, "9223372036854775807GiB": false, "-1": false, "1 MiB": true, "1mb": false, "MiB": false,
	} {
		if _, err := parse("intake: {max_body: '" + in + "'}"); (err == nil) != ok {
			t.Errorf("%s: %v", in, err)
		}
	}
}

func TestListen_WhatOthersCanReachNeedsATokenAndACertificate(t *testing.T) {
	t.Parallel()
	cert, key := pair(t)
	for listen, local := range map[string]bool{
		"127.0.0.1:8837": true, "localhost:0": true, "[::1]:8837": true, "127.9.9.9:1": true, "0.0.0.0:8837": false, ":8837": false, "[::]:8837": false, "claims.example:443": false, "10.0.0.1:80": false,
	} {
		file := "listen: '" + listen + "'\n"
		if _, err := parse(file); (err == nil) != local {
			t.Errorf("%s alone: %v", listen, err)
		}
		good(t, file+"token_file: env:T\ntls: {cert: "+cert+", key: "+key+"}", "T="+canary)
		good(t, file+"token_file: env:T\ntls: {off: true}", "T="+canary)
	}
	one(t, "tls: {off: true, cert: "+cert+", key: "+key+"}", "tls.off")
	_, other := pair(t)
	one(t, "tls: {cert: "+cert+", key: "+other+"}", "the key that belongs to it")
	for _, bad := range []string{"8837", "localhost", "a:b", "a:65536", "a:-1", ""} {
		one(t, "listen: '"+bad+"'\ntoken_file: "+write(t, "t", canary)+"\ntls: {off: true}", "HOST:PORT")
	}
}

func TestAlarms_ChangeTheRulesOfAName(t *testing.T) {
	t.Parallel()
	c := good(t, "alarms: {every: 1m, rules: {dlq_increase: {threshold: 50, window: 2m, for: 30s}, retry_rate: {threshold: 10%}, dlq_oldest_age: {threshold: 4h}, parked: {off: true}}}")
	rules, err := alert.Rules(alert.Options{Streams: map[string]alert.Levels{"837": {}}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Alarms.Apply(rules)
	if err != nil {
		t.Fatal(err)
	}
	var want []alert.Rule
	for _, r := range rules {
		switch r.Name {
		case alert.AlarmIncrease:
			r.Threshold, r.Window, r.For = 50, 2*time.Minute, 30*time.Second
		case alert.AlarmRetries:
			r.Threshold = 0.1
		case alert.AlarmAge:
			r.Threshold = 4 * 3600
		case alert.AlarmParked:
			continue
		}
		want = append(want, r)
	}
	if d := cmp.Diff(want, got); d != "" || len(got) >= len(rules) || c.Alarms.Every != time.Minute {
		t.Error(d)
	}
}

func TestTimelyFiling_APartnersOwnElseItsStreams(t *testing.T) {
	t.Parallel()
	c := good(t, `
streams:
  837: {target: https://clearinghouse.example/837, timely_filing_days: 365, shred_after: {accepted: 180d, answers: 90d}}
  ncpdp: {target: https://switch.example/ncpdp, shred_after: {paid: 720h}}
partners:
  PAYER: {stream: "837", timely_filing_days: 90}
  OTHER: {stream: "837", workers: 2}
  NONE: {stream: "837", timely_filing_days: 0}
`)
	for partner, want := range map[string]uint16{"ZZ:PAYER": 90, "ZZ:OTHER": 365, "ZZ:NONE": 0, "ZZ:ELSE": 365} {
		if r, _ := c.Route("837", partner); r.TimelyFilingDays != want {
			t.Errorf("%s: %d days, want %d", partner, r.TimelyFilingDays, want)
		}
	}
	if r, _ := c.Route("ncpdp", "012345:A"); r.TimelyFilingDays != 0 {
		t.Errorf("%d days where nothing is said", r.TimelyFilingDays)
	}
	day := 24 * time.Hour
	if got := c.Policies()["837"].ShredAfter; got != (claimdlq.ShredAfter{Accepted: 180 * day, Answers: 90 * day}) {
		t.Errorf("837: %+v", got)
	}
	if got := c.Policies()["ncpdp"].ShredAfter; got != (claimdlq.ShredAfter{Paid: 30 * day}) {
		t.Errorf("ncpdp: %+v", got)
	}
}

func TestTimelyFiling_WhatIsWrongIsNamed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"streams: {837: {timely_filing_days: 3651}}":         "streams.837.timely_filing_days",
		"streams: {837: {timely_filing_days: 90d}}":          "streams.837.timely_filing_days",
		"streams: {837: {shred_after: {paid: 59m}}}":         "streams.837.shred_after.paid",
		"streams: {ncpdp: {shred_after: {answers: 30d}}}":    "streams.ncpdp.shred_after.answers",
		"streams: {ncpdp: {shred_after: {quarantined: 1d}}}": "streams.ncpdp.shred_after.quarantined",
	} {
		_, err := config.Parse("c.yaml", []byte(text), nil, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
