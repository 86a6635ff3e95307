package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claimdlq"
	"claimdlq/alert/email"
	"claimdlq/internal/config"
	"claimdlq/retry"
)

// shown compares configurations by what they say; secrets and overrides apart.
var shown = cmp.Options{
	cmp.Comparer(func(a, b config.Secret) bool { return string(a.Reveal()) == string(b.Reveal()) }),
	cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".overrides" }, cmp.Ignore()),
}

func TestLoad_TenLinesAreEnough(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := write(t, "claimdlq.yaml", `data: /var/lib/claimdlq
listen: 127.0.0.1:8837
streams:
  ncpdp:
    target: https://adjudicator.example/ncpdp
  "837":
    target: `+folder+`
`)
	got, err := config.Load(path, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	breaker := retry.Options{}.WithDefaults()
	want := config.Config{
		Data: "/var/lib/claimdlq", Listen: "127.0.0.1:8837", Log: config.Log{Level: "info", Format: "text"},
		Intake:  config.Intake{MaxBody: 64 << 20, MaxWaiting: 10_000_000, MemoryPercent: 75, BatchMessages: 10_000},
		SignIn:  config.SignIn{Idle: 15 * time.Minute, Longest: 12 * time.Hour, ReplayClaims: 100, ReplayDollars: 10_000},
		Workers: 64, Partners: map[string]config.Route{},
		Streams: map[string]config.Stream{
			"ncpdp": {Policy: claimdlq.DefaultPolicy(), Route: config.Route{
				Stream: "ncpdp", Target: "https://adjudicator.example/ncpdp", ContentType: "application/x-ncpdp", Workers: 64, IdempotentResend: true, Breaker: breaker,
			}},
			"837": {Policy: claimdlq.DefaultPolicy(), Route: config.Route{
				Stream: "837", Target: folder, ContentType: "application/EDI-X12", Workers: 1, Breaker: breaker,
			}},
		},
		Alarms: config.Alarms{Every: 15 * time.Second, Rules: map[string]config.AlarmRule{}, Email: config.Email{TLS: email.StartTLS}},
	}
	if d := cmp.Diff(want, got, shown); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(claimdlq.Policies{"837": claimdlq.DefaultPolicy(), "ncpdp": claimdlq.DefaultPolicy()}, got.Policies()); d != "" {
		t.Error(d)
	}
	if rules, err := got.NCPDPRules(); rules == nil || err != nil || len(got.Overrides()) > 0 {
		t.Error(rules, err)
	}
}

func TestLoad_WithoutAFileThereAreDefaults(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"", "\n# nothing\n", "---\n", "data:\nstreams:\n  ncpdp:\n", "\xef\xbb\xbf"} {
		if got := good(t, file); got.Data != "claimdlq-data" || got.Listen != "127.0.0.1:8837" {
			t.Errorf("%q: %+v", file, got)
		}
	}
	c, err := config.Load("", []string{"CLAIMDLQ_DATA=/x"}, map[string]any{"workers": 3})
	if err != nil || c.Data != "/x" || c.Workers != 3 {
		t.Error(c, err)
	}
	if _, ok := c.Route("ncpdp", "012345:X"); ok {
		t.Error("there is a route without a target")
	}
}

func TestLoad_AFileThatIsNotThereIsNotFound(t *testing.T) {
	t.Parallel()
	if _, err := config.Load(filepath.Join(t.TempDir(), "x"), nil, nil); !errors.Is(err, claimdlq.NotFound) {
		t.Error(err)
	}
	if _, err := config.Load(t.TempDir(), nil, nil); !errors.Is(err, claimdlq.Unavailable) {
		t.Error(err)
	}
}

func TestLoad_FileThenEnvironmentThenFlags(t *testing.T) {
	t.Parallel()
	path := write(t, "c.yaml", "workers: 1\nlog: {level: debug, format: json}\nstreams: {ncpdp: {policy: {max_receive: 2, base: 3s}}}\n")
	env := []string{"CLAIMDLQ_WORKERS=2", "CLAIMDLQ_LOG_LEVEL=error", "CLAIMDLQ_STREAMS_NCPDP_POLICY_MAX_RECEIVE=7", "OTHER=x", "CLAIMDLQ_LISTEN=", "broken"}
	flags := map[string]any{"workers": 3, "streams.ncpdp.policy.max_receive": "8", "streams.837.policy.retention": 36 * time.Hour, "streams.837.stopped": true}
	c, err := config.Load(path, env, flags)
	if err != nil {
		t.Fatal(err)
	}
	p := c.Policies()
	if c.Workers != 3 || c.Log != (config.Log{Level: "error", Format: "json"}) || p["ncpdp"].MaxReceive != 8 || p["ncpdp"].Base != 3*time.Second ||
		p["837"].Retention != 36*time.Hour || !c.Streams["837"].Stopped || c.Listen != "127.0.0.1:8837" {
		t.Errorf("%+v", c)
	}
	_, err = config.Load(path, nil, map[string]any{"wrokers": 1, "workers": 0, "log": "x"})
	var got []string
	for _, f := range config.Faults(err) {
		got = append(got, f.String())
	}
	want := []string{
		"log (command line): there is no such key", "wrokers (command line): there is no such key",
		"workers (command line): must be a whole number from 1 to 4096",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestEnvironment_EveryKeyHasAVariableOfItsOwn(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, path := range config.Leaves() {
		name := config.Variable(path)
		if seen[name] {
			t.Errorf("%s names two keys", name)
		}
		seen[name] = true
		// A text in every key: no variable is passed over.
		_, err := config.Parse("", nil, []string{name + "=\x01" + canary}, nil)
		if slices.Equal(path, []string{"data"}) {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		fs := config.Faults(err)
		if len(fs) == 0 || fs[0].Path != strings.Join(path, ".") || fs[0].Where != name || strings.Contains(err.Error(), canary) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(seen) < 60 {
		t.Errorf("%d variables", len(seen))
	}
}

func TestEnvironment_AVariableThatNamesNoKeyIsAFault(t *testing.T) {
	t.Parallel()
	got := faults(t, "", "CLAIMDLQ_LISTNE=x", "CLAIMDLQ_QQQQQQQ=x", "CLAIMDLQ_STREAMS_NCPDP_POLICY_MAXRECEIVE=3")
	want := []string{
		"(CLAIMDLQ_LISTNE): no key has a variable of this name; did you mean CLAIMDLQ_LISTEN?",
		"(CLAIMDLQ_QQQQQQQ): no key has a variable of this name",
		"(CLAIMDLQ_STREAMS_NCPDP_POLICY_MAXRECEIVE): no key has a variable of this name; did you mean CLAIMDLQ_STREAMS_NCPDP_POLICY_MAX_RECEIVE?",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	// What others make, and what other parts of the program read.
	good(t, "", "CLAIMDLQ_PORT=tcp://10.0.0.1:8837", "CLAIMDLQ_PORT_8837_TCP=x", "CLAIMDLQ_PORT_8837_TCP_ADDR=x", "CLAIMDLQ_SERVICE_HOST=x",
		"CLAIMDLQ_SERVICE_PORT_HTTP=x", "CLAIMDLQ_METRICS_SERVICE_HOST=x", "CLAIMDLQ_METRICS_PORT=x", "CLAIMDLQ_CONFIG=x", "CLAIMDLQ_TARGET=x",
		"CLAIMDLQ_STATUS=x", "CLAIMDLQ_AUTHORIZATION=x", "CLAIMDLQX=1", "CLAIMDLQ_QQQQQQQ=")
}

// uncommented is the example with every setting in force.
func uncommented() string {
	return regexp.MustCompile(`(?m)^( *)#([a-z"-])`).ReplaceAllString(string(config.Example()), "$1$2")
}

func TestExample_IsReadAndItsCommentsAreTheDefaults(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for _, dir := range []string{"etc", "srv/sftp/payer", "srv/sftp/payer-taken", "srv/claims/pharmacy", "srv/claims/medical"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	cert, key := pair(t)
	for from, to := range map[string]string{cert: "tls.crt", key: "tls.key"} {
		if err := os.Rename(from, filepath.Join(home, "etc", to)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"token", "adjudicator", "webhook", "oidc", "mail"} {
		if err := os.WriteFile(filepath.Join(home, "etc", name), []byte(canary+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	here := strings.NewReplacer("/etc/claimdlq", home+"/etc", "/srv", home+"/srv")
	base := good(t, here.Replace(string(config.Example())))
	full := good(t, here.Replace(uncommented()), "SWITCH_AUTHORIZATION=Bearer x", "PAYER_AUTHORIZATION=Bearer y")

	if !full.Token.IsSet() || full.TLS.Cert == "" || len(full.Partners) != 2 || len(full.Overrides()) != 3 || len(full.Alarms.Rules) != 4 || !full.Alarms.Webhook.Secret.IsSet() ||
		len(full.Alarms.Webhook.Severities) != 2 || len(full.Alarms.Email.To) != 1 || !full.Alarms.Email.Password.IsSet() || full.Alarms.ConsoleURL == "" {
		t.Errorf("the comments hold less than they say: %+v", full)
	}
	if in := full.SignIn; full.PayloadListen == "" || len(in.Origins) != 1 || len(in.CodesFor) != 2 || in.OIDC == nil || len(in.OIDC.Roles) != 2 || in.OIDC.RedirectURL == "" || in.OIDC.ClientSecret.Reveal() != canary {
		t.Errorf("the comments hold less than they say: %+v", in)
	}
	full.PayloadListen, full.SignIn.Origins, full.SignIn.CodesFor, full.SignIn.OIDC = "", nil, nil, nil
	// What the comments show is the default, but for what has none.
	full.Token, full.TLS, full.Partners, full.Alarms.Rules, full.Alarms.Webhook, full.Alarms.Email, full.Alarms.ConsoleURL = base.Token, base.TLS, base.Partners, base.Alarms.Rules, base.Alarms.Webhook, base.Alarms.Email, base.Alarms.ConsoleURL
	for name, s := range full.Streams {
		if s.Policy.ShredAfter.Paid == 0 && name == "ncpdp" || s.Policy.ShredAfter.Answers == 0 && name == "837" {
			t.Errorf("the comments hold less than they say: %+v", s.Policy)
		}
		s.Policy.ShredAfter = base.Streams[name].Policy.ShredAfter
		s.Authorization, s.Fallback, s.FallbackAuthorization, s.Status, s.Folder = config.Secret{}, "", config.Secret{}, "", ""
		if name == "ncpdp" {
			s.Breaker.SlowAfter = 0
		}
		full.Streams[name] = s
	}
	if d := cmp.Diff(base, full, shown); d != "" {
		t.Error(d)
	}
}

func TestExample_HasEveryKey(t *testing.T) {
	t.Parallel()
	text := uncommented()
	for _, path := range config.Leaves() {
		key := path[len(path)-1]
		if !regexp.MustCompile(`(?m)^ *` + key + `:|[{ ]` + key + `:`).MatchString(text) {
			t.Errorf("%s is not in the example", strings.Join(path, "."))
		}
	}
	for _, key := range []string{"stream", "code", "prefix", "class", "origins", "codes_for", "scopes", "roles", "partners", "ambiguous", "budget", "threshold", "window", "for", "off", "severity", "severities", "to"} {
		if !strings.Contains(text, key+":") {
			t.Errorf("%s is not in the example", key)
		}
	}
}

func TestPaths_InTheFileBeginAtTheFile(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("paths are spelled as elsewhere")
	}
	dir := t.TempDir()
	for _, d := range []string{"out", "in"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "token"), []byte(canary), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "c.yaml")
	if err := os.WriteFile(path, []byte("data: d\ntoken_file: token\nstreams: {ncpdp: {target: out, folder: ./in}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(path, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := c.Streams["ncpdp"]
	if c.Data != filepath.Join(dir, "d") || s.Target != filepath.Join(dir, "out") || s.Folder != filepath.Join(dir, "in") || string(c.Token.Reveal()) != canary {
		t.Errorf("%+v", c)
	}
	if c, err := config.Load(path, []string{"CLAIMDLQ_DATA=d"}, nil); err != nil || c.Data != "d" {
		t.Errorf("a path of the environment begins where the process is: %q, %v", c.Data, err)
	}
}

// A configuration is copied by value; its defaults must not be shared.
func TestParse_TwoConfigurationsShareNothing(t *testing.T) {
	t.Parallel()
	a, b := good(t, ""), good(t, "")
	a.Streams["837"] = config.Stream{}
	a.Partners["x"] = config.Route{}
	if reflect.DeepEqual(b.Streams["837"], config.Stream{}) || len(b.Partners) > 0 {
		t.Error("they do")
	}
}
