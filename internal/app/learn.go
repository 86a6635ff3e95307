package app

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"claimdlq"
	"claimdlq/audit"
	"claimdlq/sizing"
	"claimdlq/store"
)

// learnPage is how many records are read at a time.
const learnPage = 1000

// Learn reads the directory's own history, its records and its audit log, for the sizing
// of its streams. It calls read, if not nil, after so many records more.
func (a *App) Learn(ctx context.Context, read func(n int)) (sizing.Learned, error) {
	l := sizing.NewLearner()
	if _, err := a.Checkpoint(ctx); err != nil { // so that the log holds every entry
		return sizing.Learned{}, err
	}
	for before := claimdlq.ID(0); ; {
		if err := ctx.Err(); err != nil {
			return sizing.Learned{}, err
		}
		rs, err := a.Store.List(ctx, store.Filter{}, before, learnPage)
		if err != nil {
			return sizing.Learned{}, err
		}
		for i := range rs {
			l.Record(rs[i])
		}
		if read != nil {
			read(len(rs))
		}
		if len(rs) < learnPage {
			break
		}
		before = rs[len(rs)-1].ID
	}
	err := a.learnEntries(ctx, l)
	return l.Learned(), err
}

func (a *App) learnEntries(ctx context.Context, l *sizing.Learner) error {
	r, w := io.Pipe()
	go func() {
		_, err := audit.Export(ctx, w, a.auditDir, audit.Filter{})
		_ = w.CloseWithError(err)
	}()
	defer func() { _ = r.Close() }()
	for d := json.NewDecoder(r); ; {
		var line struct {
			claimdlq.Entry

			Checkpoint string `json:"checkpoint"`
		}
		switch err := d.Decode(&line); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case line.Checkpoint == "":
			l.Entry(line.Entry)
		}
	}
}
