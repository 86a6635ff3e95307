// Package logging prints log records in the one line the field knows, or as
// JSON with the same fields:
//
//	2026-07-16 10:04:11 | ERROR   | x12.dlq | DLQ enqueue | key=000000123:0001 | reason=FATAL_SYNTAX | rule=v2026.07 | detail=IK4:SV102
//
// Attributes pass an allow-list: one whose key is not on it is printed as
// [dropped], so that a careless line cannot carry a claim's content into a log.
// The logger's name is the attribute "logger". Times are UTC.
package logging

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"sync"
)

// Options tune a Handler. The zero value logs at level INFO as text.
type Options struct {
	// Level is the lowest level that is printed. Default: INFO.
	Level slog.Leveler
	// JSON prints one JSON object per line instead of text.
	JSON bool
}

// Handler is a slog.Handler. It is safe for concurrent use; each record is one Write.
type Handler struct {
	mu    *sync.Mutex
	w     io.Writer
	opts  Options
	attrs []slog.Attr
}

// New returns a Handler that writes to w.
func New(w io.Writer, o Options) *Handler {
	if o.Level == nil {
		o.Level = slog.LevelInfo
	}
	return &Handler{mu: &sync.Mutex{}, w: w, opts: o}
}

// Enabled implements slog.Handler.
func (h *Handler) Enabled(_ context.Context, l slog.Level) bool { return l >= h.opts.Level.Level() }

// WithAttrs implements slog.Handler.
func (h *Handler) WithAttrs(as []slog.Attr) slog.Handler {
	n := *h
	n.attrs = slices.Concat(h.attrs, as)
	return &n
}

// WithGroup implements slog.Handler. Lines are flat: the group's name is not printed.
func (h *Handler) WithGroup(string) slog.Handler { return h }

// Handle implements slog.Handler.
func (h *Handler) Handle(_ context.Context, r slog.Record) error {
	l := line{at: r.Time.UTC(), level: levelName(r.Level), logger: defaultLogger, msg: clean(r.Message, maxMessage)}
	for _, a := range h.attrs {
		l.add(a)
	}
	r.Attrs(func(a slog.Attr) bool {
		l.add(a)
		return true
	})
	var out []byte
	if h.opts.JSON {
		out = l.json()
	} else {
		out = l.text()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	_, err := h.w.Write(out)
	return err
}

// levelName spells a level as the field's own logs do.
func levelName(l slog.Level) string {
	switch {
	case l >= slog.LevelError:
		return "ERROR"
	case l >= slog.LevelWarn:
		return "WARNING"
	case l >= slog.LevelInfo:
		return "INFO"
	}
	return "DEBUG"
}
