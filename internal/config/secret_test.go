package config_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"claimdlq/internal/config"
)

func TestSecret_IsReadFromAFileOrTheEnvironment(t *testing.T) {
	t.Parallel()
	for name, ref := range map[string]string{
		"file": write(t, "token", canary), "file with an end of line": write(t, "token", canary+"\r\n"), "environment": "env:TOKEN", "a variable of ours": "env:CLAIMDLQ_TOKEN",
	} {
		env := "TOKEN=" + canary
		if name == "a variable of ours" {
			env = "CLAIMDLQ_TOKEN=" + canary + "\n"
		}
		c := good(t, "token_file: "+ref, env)
		if string(c.Token.Reveal()) != canary || !c.Token.IsSet() {
			t.Errorf("%s: %q", name, c.Token.Reveal())
		}
		if name != "a variable of ours" {
			continue
		}
		if _, err := config.Parse("", nil, []string{"CLAIMDLQ_TOKEN=" + canary}, nil); err == nil {
			t.Error("a variable that nothing names is passed over")
		}
		c = good(t, "", "CLAIMDLQ_TOKEN="+canary, "CLAIMDLQ_TOKEN_FILE=env:CLAIMDLQ_TOKEN")
		if string(c.Token.Reveal()) != canary {
			t.Error("named by the environment itself")
		}
	}
	if c := good(t, ""); c.Token.IsSet() || c.Token.Reveal() != nil {
		t.Error("there is one")
	}
}

func TestSecret_WhatIsNoneIsAFault(t *testing.T) {
	t.Parallel()
	for ref, words := range map[string]string{
		"env:NOT_SET":                     "is not set",
		"'env:'":                          "is not set",
		"/nowhere/at/all":                 "a file that exists",
		t.TempDir():                       "a file that exists",
		"/dev/zero":                       "a file that exists", // it would never end
		"''":                              "a file that exists",
		canary:                            "a file that exists", // the secret itself, in the wrong place
		write(t, "x", "short"):            "16 characters",
		write(t, "x", ""):                 "16 characters",
		write(t, "x", "\n"):               "16 characters",
		write(t, "x", canary+" "+canary):  "no blanks",
		write(t, "x", canary+"\n"+canary): "no blanks",
		write(t, "x", canary+"é"):         "printable ASCII",
		write(t, "x", strings.Repeat("x", 1<<15)): "16KiB",
	} {
		one(t, "token_file: "+ref, "token_file", words)
	}
	header := write(t, "x", "Bearer "+canary+"\r\nX-Other: 1")
	one(t, "streams: {ncpdp: {target: 'https://a.example', authorization_file: "+header+"}}", "one line")
	c := good(t, "streams: {ncpdp: {target: 'https://a.example', authorization_file: "+write(t, "x", "Bearer "+canary)+"}}")
	if got := string(c.Streams["ncpdp"].Authorization.Reveal()); got != "Bearer "+canary {
		t.Error(got)
	}
}

func TestConfig_PrintedAnyhowShowsNoSecretAndNoPrefix(t *testing.T) {
	t.Parallel()
	c := good(t, `token_file: env:T
streams: {ncpdp: {target: 'https://a.example', authorization_file: env:T, fallback: 'https://b.example', fallback_authorization_file: env:T}}
partners: {'012345': {authorization_file: env:T, overrides: [{prefix: `+canary+`, class: TERMINAL}]}}
alarms: {webhook: {url: 'https://c.example', secret_file: env:T}}
`, "T="+canary)
	if len(c.Overrides()) != 1 || c.Overrides()[0].Prefix != canary || string(c.Partners["012345"].Authorization.Reveal()) != canary {
		t.Fatal("there is nothing to hide")
	}
	type outer struct {
		c config.Config
		s config.Secret
		p *config.Secret
	}
	var b bytes.Buffer
	for _, v := range []any{c, &c, c.Token, &c.Token, c.Streams, c.Partners, outer{c, c.Token, &c.Token}, []config.Secret{c.Token}, map[string]config.Secret{"x": c.Token}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%p", "%T"} {
			fmt.Fprintf(&b, verb, v)
		}
		if j, err := json.Marshal(v); err == nil {
			b.Write(j)
		}
		slog.New(slog.NewTextHandler(&b, nil)).Info("m", slog.Any("v", v))
		slog.New(slog.NewJSONHandler(&b, nil)).Info("m", slog.Any("v", v))
	}
	out := b.String()
	for _, leak := range []string{canary, fmt.Sprintf("%x", canary), fmt.Sprintf("%X", canary), fmt.Sprint([]byte(canary))} {
		if strings.Contains(out, leak) {
			t.Errorf("%q is shown", leak)
		}
	}
	if !strings.Contains(out, "[secret]") {
		t.Error("nothing was printed")
	}
}
