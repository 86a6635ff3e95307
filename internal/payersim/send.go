package payersim

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"claimdlq/wire/x12"
	"claimdlq/wire/x12ack"
)

// File is one acknowledgment: an interchange of its own.
type File struct {
	Name string // such as 999-000000007.x12; it names nobody
	Kind string // ta1, 999 or 277ca
	Body []byte
}

// send writes the acknowledgments of the nth interchange and returns those that
// go out now; the rest waits in the box. It holds p.mu.
func (p *Payer) send(a *answers, n int) ([]File, error) {
	how, _ := p.currentScript().first("interchange", n, "acks")
	if p.currentScript().answer == "none" || how.code == "none" {
		return p.later(n), nil
	}
	files, err := p.write(a)
	if err != nil {
		return nil, err
	}
	switch how.code {
	case "twice":
		again := slices.Clone(files)
		for i := range again {
			again[i].Name = "again-" + again[i].Name
		}
		p.box.put(again, time.Time{}, n+1)
	case "unknown":
		more, err := p.write(strange(a))
		if err != nil {
			return nil, err
		}
		files = append(files, more...)
	}
	if how.code == "late" || p.currentScript().answer == "box" {
		p.box.put(files, p.o.Now().Add(how.wait), n+how.count)
		return p.later(n), nil
	}
	return append(files, p.later(n)...), nil
}

// later takes out of the box what was to go out by now, unless the other side
// collects it.
func (p *Payer) later(n int) []File {
	if p.currentScript().answer == "box" {
		return nil
	}
	now := p.o.Now()
	return p.box.take(func(f *boxed) bool { return f.due(now, n) })
}

// Collect takes the acknowledgments that wait out of the box, oldest first.
func (p *Payer) Collect() []File {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, n := p.o.Now(), p.ledger.stats.Interchanges
	return p.box.take(func(f *boxed) bool { return f.due(now, n) })
}

// write makes TA1, 999 and 277CA as the script wants them. A TA1 that rejects is
// sent whether one was asked for (ISA14) or not.
func (p *Payer) write(a *answers) ([]File, error) {
	var files []File
	keep := func(kind string, f func(w *bytes.Buffer, n x12.Numbers) error) error {
		n, body := p.numbers(), new(bytes.Buffer)
		if err := f(body, n); err != nil {
			return fmt.Errorf("write %s: %w", kind, err)
		}
		if body.Len() > 0 {
			files = append(files, File{Name: fmt.Sprintf("%s-%09d.x12", kind, n.ISA13), Kind: kind, Body: body.Bytes()})
			p.number = p.number%999_999_999 + 1
		}
		return nil
	}
	start, end := &a.ic.start, &a.ic.end
	if p.currentScript().ta1 && (start.AckWanted || end.TA1 == "R") {
		if err := keep("ta1", func(w *bytes.Buffer, n x12.Numbers) error { return x12ack.WriteTA1(w, start, end, n) }); err != nil {
			return nil, err
		}
	}
	if end.TA1 == "R" {
		return files, nil
	}
	if p.currentScript().set999 {
		if err := keep("999", func(w *bytes.Buffer, n x12.Numbers) error {
			writer, err := x12ack.NewWriter999(w, start, n)
			if err != nil {
				return err
			}
			a.events(writer)
			_, err = writer.Close()
			return err
		}); err != nil {
			return nil, err
		}
	}
	if !p.currentScript().claim277 {
		return files, nil
	}
	for _, b := range a.batches {
		if err := keep("277ca", func(w *bytes.Buffer, n x12.Numbers) error {
			b.Reference = fmt.Sprintf("PAY%09d", n.ISA13)
			return x12ack.Write277CA(w, b, n)
		}); err != nil {
			return nil, err
		}
	}
	return files, nil
}

func (p *Payer) numbers() x12.Numbers {
	now := p.o.Now().UTC()
	return x12.Numbers{ISA13: p.number, GS06: p.number, Date: now.Format("20060102"), Time: now.Format("1504")}
}

// strange returns the answers to an interchange that nobody sent.
func strange(a *answers) *answers {
	ic := *a.ic
	ic.start.ISA13, ic.start.Number, ic.start.AckWanted = "999999990", 999999990, true
	ic.groups = nil
	for _, g := range a.ic.groups {
		other := *g
		other.start.Control, other.start.Number = "999999990", 999999990
		ic.groups = append(ic.groups, &other)
	}
	out := &answers{ic: &ic}
	for _, b := range a.batches {
		b.Submitted.ISA13, b.BHT03 = ic.start.ISA13, []byte("NOBODYSENTTHIS")
		out.batches = append(out.batches, b)
	}
	return out
}

// box holds acknowledgments that are to be collected, or to go out later.
type box struct {
	files []boxed
	bytes int64
}

type boxed struct {
	File
	at time.Time // not earlier
	n  int       // not before the interchange of this number
}

func (f *boxed) due(now time.Time, n int) bool { return n >= f.n && !now.Before(f.at) }

// put keeps files until the time has come and the nth interchange too.
func (b *box) put(files []File, at time.Time, n int) {
	for _, f := range files {
		b.files = append(b.files, boxed{f, at, n})
		b.bytes += int64(len(f.Body))
	}
}

// take takes out what want selects.
func (b *box) take(want func(*boxed) bool) (out []File) {
	kept := b.files[:0]
	for i := range b.files {
		f := b.files[i]
		if want(&f) {
			out = append(out, f.File)
			b.bytes -= int64(len(f.Body))
			continue
		}
		kept = append(kept, f)
	}
	clear(b.files[len(kept):])
	b.files = kept
	return out
}
