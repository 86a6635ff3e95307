package logging_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/internal/logging"
	"claimdlq/phi"
)

var at = time.Date(2026, 7, 16, 10, 4, 11, 308e6, time.UTC)

func render(t *testing.T, o logging.Options, logger string, level slog.Level, msg string, attrs ...slog.Attr) string {
	t.Helper()
	var out bytes.Buffer
	h := logging.New(&out, o)
	r := slog.NewRecord(at, level, msg, 0)
	r.AddAttrs(attrs...)
	with := slog.Handler(h)
	if logger != "" {
		with = h.WithAttrs([]slog.Attr{slog.String("logger", logger)})
	}
	if err := with.Handle(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestHandler_LinesOfTheFieldAreExact(t *testing.T) {
	t.Parallel()
	key := slog.String("key", "000000123:0001")
	cases := []struct {
		name, logger string
		level        slog.Level
		msg          string
		attrs        []slog.Attr
		want         string
	}{
		{
			"enqueue", "x12.dlq", slog.LevelError, "DLQ enqueue",
			[]slog.Attr{key, slog.Any("reason", claimdlq.FatalSyntax), slog.String("rule", "v2026.07"), slog.Any("detail", claimdlq.NewDetail("IK4:SV102"))},
			"2026-07-16 10:04:11 | ERROR   | x12.dlq | DLQ enqueue | key=000000123:0001 | reason=FATAL_SYNTAX | rule=v2026.07 | detail=IK4:SV102\n",
		},
		{
			"replayed", "x12.dlq", slog.LevelInfo, "Replayed claim",
			[]slog.Attr{key, slog.Int("attempt", 1)},
			"2026-07-16 10:04:11 | INFO    | x12.dlq | Replayed claim | key=000000123:0001 | attempt=1\n",
		},
		{
			"suppressed", "x12.dlq", slog.LevelWarn, "Replay suppressed (already processed)",
			[]slog.Attr{key},
			"2026-07-16 10:04:11 | WARNING | x12.dlq | Replay suppressed (already processed): key=000000123:0001\n",
		},
		{
			"cap", "x12.dlq", slog.LevelError, "Poison cap hit",
			[]slog.Attr{key},
			"2026-07-16 10:04:11 | ERROR   | x12.dlq | Poison cap hit: key=000000123:0001 -> parking for escalation\n",
		},
		{
			"pharmacy", "pbm.dlq", slog.LevelInfo, "requeue",
			[]slog.Attr{key, slog.Int("delay_s", 4)},
			"2026-07-16 10:04:11 | INFO    | pbm.dlq | requeue | key=000000123:0001 | delay_s=4\n",
		},
		{
			"debug", "", slog.LevelDebug, "swept",
			[]slog.Attr{slog.Int("units", 2)},
			"2026-07-16 10:04:11 | DEBUG   | claimdlq | swept | units=2\n",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := render(t, logging.Options{}, c.logger, c.level, c.msg, c.attrs...); got != c.want {
				t.Errorf("got  %swant %s", got, c.want)
			}
		})
	}
}

func TestHandler_JSONHasTheSameFields(t *testing.T) {
	t.Parallel()
	got := render(t, logging.Options{JSON: true}, "x12.dlq", slog.LevelError, "Poison cap hit",
		slog.String("key", "000000123:0001"), slog.Int("attempt", 3))
	want := `{"time":"2026-07-16T10:04:11Z","level":"ERROR","logger":"x12.dlq",` +
		`"msg":"Poison cap hit -> parking for escalation","key":"000000123:0001","attempt":3}` + "\n"
	if got != want {
		t.Errorf("got  %swant %s", got, want)
	}
	if !json.Valid([]byte(got)) {
		t.Error("not JSON")
	}
}

func TestHandler_WhatIsNotAllowedIsDropped(t *testing.T) {
	t.Parallel()
	const canary = "CANARY-NAME"
	err := &claimdlq.Error{
		Code: claimdlq.NotFound, Op: "open file", On: "argument 2",
		Err: &os.PathError{Op: "open", Path: canary + ".x12", Err: os.ErrNotExist},
	}
	attrs := []slog.Attr{
		slog.String("name", canary),
		slog.String(canary, "x"),
		slog.Any("detail", struct{ v string }{canary}),
		slog.Any("code", []byte(canary)),
		slog.Any("error", err),
		slog.Any("outcome", errors.New(canary)),
		slog.Any("state", phi.Wrap([]byte(canary))),
		slog.Group(canary, slog.String("member", canary), slog.Int("count", 7)),
	}
	for _, o := range []logging.Options{{}, {JSON: true}} {
		got := render(t, o, "", slog.LevelInfo, "look", attrs...)
		if strings.Contains(got, canary) {
			t.Errorf("a value got out: %s", got)
		}
		if !strings.Contains(got, "open file argument 2: not_found") || !strings.Contains(got, "7") {
			t.Errorf("too much was dropped: %s", got)
		}
	}
	text := render(t, logging.Options{}, "", slog.LevelInfo, "look", slog.String("name", canary), slog.Int("count", 1))
	if want := "look | [dropped] | count=1\n"; !strings.HasSuffix(text, want) {
		t.Errorf("got %s, want the end %s", text, want)
	}
}

func TestHandler_AValueCannotBreakOutOfItsLine(t *testing.T) {
	t.Parallel()
	got := render(t, logging.Options{}, "", slog.LevelInfo, "m\nm",
		slog.String("code", "A\r\n2026-01-01 | ERROR | x | y\u2028"), slog.String("key", strings.Repeat("K", 500)))
	if strings.Count(got, "\n") != 1 || strings.Count(got, " | ") != 5 || len(got) > 400 {
		t.Errorf("got %q", got)
	}
}

func TestHandler_LevelHolds(t *testing.T) {
	t.Parallel()
	h := logging.New(&bytes.Buffer{}, logging.Options{Level: slog.LevelWarn})
	if h.Enabled(t.Context(), slog.LevelInfo) || !h.Enabled(t.Context(), slog.LevelWarn) {
		t.Error("the level is not the boundary")
	}
	if logging.New(&bytes.Buffer{}, logging.Options{}).Enabled(t.Context(), slog.LevelDebug) {
		t.Error("DEBUG is printed by default")
	}
}
