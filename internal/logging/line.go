package logging

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"claimdlq"
)

const (
	defaultLogger = "claimdlq"
	dropped       = "[dropped]"
	maxMessage    = 200
	maxValue      = 120
)

// allowed are the attribute keys that may be printed. Each is a count, a code, a
// control number, a time or a name from a closed set.
var allowed = map[string]bool{
	"key": true, "reason": true, "rule": true, "detail": true, "attempt": true, // the fields of logger x12.dlq
	"code": true, "receives": true, "delay_s": true, // and those of logger pbm.dlq
	"record": true, "submission": true, "revision": true, "state": true, "hold": true, "disposition": true,
	"stream": true, "partner": true, "target": true, "outcome": true, "action": true, "stage": true,
	"records": true, "claims": true, "count": true, "bytes": true, "seq": true, "term": true, "units": true,
	"error": true, "elapsed_ms": true, "not_before": true, "pid": true, "alarm": true, "cause": true, "value": true,
}

// layouts are the messages whose text form is fixed and unlike the others: no
// bar before the fields, and words after them.
var layouts = map[string]struct{ before, after string }{
	"Replay suppressed (already processed)": {": ", ""},
	"Poison cap hit":                        {": ", " -> parking for escalation"},
}

type field struct {
	key   string
	value any // string, int64, uint64, float64 or bool
}

// line is one log record, checked and flat.
type line struct {
	at                 time.Time
	level, logger, msg string
	fields             []field
}

func (l *line) add(a slog.Attr) {
	v := a.Value.Resolve()
	switch {
	case v.Kind() == slog.KindGroup:
		for _, g := range v.Group() {
			l.add(g)
		}
	case a.Equal(slog.Attr{}):
	case a.Key == "logger":
		l.logger = clean(v.String(), maxValue)
	case !allowed[a.Key]:
		l.fields = append(l.fields, field{dropped, dropped})
	default:
		l.fields = append(l.fields, field{a.Key, plain(v)})
	}
}

// plain returns the value as a JSON scalar. A type that says nothing about how it
// may be printed is dropped: %v would print whatever it holds.
func plain(v slog.Value) any {
	switch v.Kind() {
	case slog.KindInt64:
		return v.Int64()
	case slog.KindUint64:
		return v.Uint64()
	case slog.KindFloat64:
		return v.Float64()
	case slog.KindBool:
		return v.Bool()
	case slog.KindString:
		return clean(v.String(), maxValue)
	case slog.KindDuration:
		return v.Duration().String()
	case slog.KindTime:
		return v.Time().UTC().Format(time.RFC3339)
	case slog.KindAny, slog.KindGroup, slog.KindLogValuer:
	}
	switch x := v.Any().(type) {
	case error:
		return errorText(x)
	case claimdlq.ID:
		return uint64(x)
	case claimdlq.SubmissionID:
		return uint64(x)
	case encoding.TextMarshaler:
		if b, err := x.MarshalText(); err == nil {
			return clean(string(b), maxValue)
		}
	}
	return dropped
}

// errorText says what failed and how, without the cause: a cause of the operating
// system names a path, and people put names of patients into file names.
func errorText(err error) string {
	e, ok := errors.AsType[*claimdlq.Error](err)
	if !ok {
		return string(claimdlq.Internal)
	}
	return clean(strings.TrimSpace(e.Op+" "+e.On)+": "+string(e.Code), maxValue)
}

// clean keeps a value on its line and inside its field.
func clean(s string, limit int) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '|' || r == 0x2028 || r == 0x2029 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "") + "..."
	}
	return s
}

func (l *line) text() []byte {
	b := fmt.Appendf(nil, "%s | %-7s | %s | %s", l.at.Format(time.DateTime), l.level, l.logger, l.msg)
	between, after := " | ", ""
	if lay, ok := layouts[l.msg]; ok {
		between, after = lay.before, lay.after
	}
	for _, f := range l.fields {
		b = append(b, between...)
		between = " | "
		if f.key == dropped {
			b = append(b, dropped...)
			continue
		}
		b = fmt.Appendf(b, "%s=%v", f.key, f.value)
	}
	return append(append(b, after...), '\n')
}

// json returns the line as an object with its fields in order. The message has
// its words from the text form.
func (l *line) json() []byte {
	b := []byte{'{'}
	put := func(k string, v any) {
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(append(b, scalar(k)...), ':'), scalar(v)...)
	}
	put("time", l.at.Format(time.RFC3339))
	put("level", l.level)
	put("logger", l.logger)
	put("msg", l.msg+layouts[l.msg].after)
	drops := 0
	for _, f := range l.fields {
		if f.key == dropped {
			drops++
			continue
		}
		put(f.key, f.value)
	}
	if drops > 0 {
		put("dropped", drops)
	}
	return append(b, '}', '\n')
}

// scalar encodes v as the text form spells it: "->" stays what it is.
func scalar(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil { // a float that is not a number
		return []byte(`"` + dropped + `"`)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
