package serve

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/alert"
)

func TestRefusals_AreCountedByCauseAndSaidOnceAMinute(t *testing.T) { // promise 8
	t.Parallel()
	var log bytes.Buffer
	now := time.Date(2026, 7, 16, 12, 0, 0, 0, time.UTC)
	r := newRefusals(slog.New(slog.NewTextHandler(&log, nil)), func() time.Time { return now })
	said := func() int { return strings.Count(log.String(), "Claims are refused") }
	for range 3 {
		r.add(alert.CauseBusy, io.EOF)
	}
	r.add(alert.CauseMemory, io.EOF)
	r.add("", io.EOF) // who asked has gone
	if said() != 2 {
		t.Fatalf("said %d times: %s", said(), log.String())
	}
	var f alert.Intake
	if r.figures(&f); len(f.Refused) != 2 || f.Refused[alert.CauseBusy] != 3 || !f.Refusing[alert.CauseBusy] || !f.Refusing[alert.CauseMemory] {
		t.Errorf("%+v", f)
	}
	now = now.Add(time.Minute)
	if r.figures(&f); f.Refused[alert.CauseBusy] != 3 || f.Refusing[alert.CauseBusy] {
		t.Errorf("a minute later: %+v", f)
	}
	r.add(alert.CauseBusy, io.EOF)
	if said() != 3 || !strings.Contains(log.String(), "cause=busy count=3") { // the two that were not said, and this one
		t.Errorf("said %d times: %s", said(), log.String())
	}
}

func TestProcess_WhatCannotBeKeptIsRefusedByTheDisk(t *testing.T) { // promise 8
	t.Parallel()
	log := slog.New(slog.DiscardHandler)
	p := &process{refused: newRefusals(log, time.Now), s: Setup{Log: log, Now: time.Now}}
	full := &claimdlq.Error{Code: claimdlq.Unavailable, Op: "write journal", On: "disk full"}
	for _, err := range []error{full, full, &claimdlq.Error{Code: claimdlq.Unavailable, Err: context.Canceled}, &claimdlq.Error{Code: claimdlq.Refused}} {
		p.ended(err)
	}
	var f alert.Intake
	if p.refused.figures(&f); f.Refused[alert.CauseDisk] != 2 || !errors.Is(p.ready(), full) {
		t.Errorf("%+v, ready: %v", f, p.ready())
	}
	if p.ended(nil); p.ready() != nil {
		t.Error("after a claim was kept it is not ready")
	}
}
