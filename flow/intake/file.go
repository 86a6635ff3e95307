package intake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"claimdlq"
	"claimdlq/wire/x12"
)

// file is one file being taken in.
type file struct {
	in     *Intake
	o      *Options
	lanes  *lanes
	ctx    context.Context
	by     claimdlq.By
	ids    []*claimdlq.Identity // cloned: one goroutine's
	result Result

	claims claims       // of the set being read
	set    setReader    // of the set being read
	x      *interchange // being read, or nil
	junk   *kept        // being read, or nil
	batch  batch
	dead   *DeadLetter // what another pipeline hands over; nil for claims to be sent
}

func (in *Intake) open(ctx context.Context, by claimdlq.By, name string) *file {
	f := &file{in: in, o: &in.o, lanes: &in.lanes, ctx: ctx, by: by, result: Result{File: name}}
	for _, id := range in.o.Identities {
		f.ids = append(f.ids, id.Clone())
	}
	f.claims.ids = f.ids
	f.batch.keys = map[claimdlq.Key]bool{}
	return f
}

func (f *file) now() time.Time { return f.o.Now().UTC() }

func (f *file) read(r io.Reader) error {
	defer f.leave()
	sc := x12.NewScanner(r, x12.Options{Rules: f.o.Rules, OnClaim: f.claims.add})
	for {
		ev, err := sc.Next()
		if errors.Is(err, io.EOF) {
			return f.end()
		}
		if err == nil {
			err = f.ctx.Err()
		}
		if err != nil {
			return &claimdlq.Error{Code: claimdlq.Unavailable, Op: "read file", Hint: "give the file again; nothing is taken in twice", Err: err}
		}
		if err := f.event(ev); err != nil {
			return err
		}
	}
}

// leave gives up what an error left open. Nothing of it was acknowledged.
func (f *file) leave() {
	f.set.abort()
	f.o.Guard.Free(f.batch.held)
	if f.junk != nil {
		f.junk.unit.abort()
	}
	if f.x != nil {
		f.x.loose.abort()
		f.x.leave()
	}
}

func (f *file) event(ev x12.Event) error {
	if e, ok := ev.(*x12.Junk); ok {
		return f.addJunk(e)
	}
	if err := f.endJunk(); err != nil {
		return err
	}
	switch e := ev.(type) {
	case *x12.InterchangeStart:
		return f.startInterchange(e)
	case *x12.Loose:
		return f.addLoose(e)
	case *x12.GroupStart:
		return f.startGroup(e)
	case *x12.SetPart:
		return f.set.part(f, e.Raw)
	case *x12.Set:
		return f.addSet(e)
	case *x12.GroupEnd:
		return f.endGroup(e)
	case *x12.InterchangeEnd:
		return f.endInterchange(e)
	case *x12.Junk: // handled above
	}
	return nil
}

func (f *file) end() error {
	if err := f.endJunk(); err != nil {
		return err
	}
	if f.result.Interchanges == 0 && f.result.Claims == 0 { // nothing, or blanks
		if err := f.keepUnreadable(&kept{digests: newDigests(f.ids), detail: claimdlq.NewDetail("EMPTY_FILE")}); err != nil {
			return err
		}
		f.fault("the file is empty: EMPTY_FILE")
	}
	return f.flush()
}

// fault says what is wrong with the file; the first is kept.
func (f *file) fault(format string, args ...any) {
	if f.result.Error == "" {
		f.result.Error = fmt.Sprintf(format, args...)
	}
}

// ackFile refuses a file of acknowledgments while nothing of it was taken in.
func (f *file) ackFile() error {
	return &claimdlq.Error{
		Code: claimdlq.Refused, Op: "take in file", On: "it holds acknowledgments",
		Hint: "give it to: claimdlq acks FILE",
	}
}
