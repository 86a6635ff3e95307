package testclaims

import (
	"io"
	"slices"
)

// GenerateRx writes a pharmacy file as o says: one transmission as it is, several
// each between STX and ETX, or a batch. It streams: memory does not grow with the
// file. Errors: Invalid for options that cannot be met, before anything is
// written; and w's own.
func GenerateRx(w io.Writer, o RxOptions) (RxStats, error) {
	if d := DefaultRxOptions(o); d.Claims > d.TransactionsPer {
		o.Framed = true
	}
	g, err := NewRx(o)
	if err != nil {
		return RxStats{}, err
	}
	f := rxFile{g: g, w: w, b: make([]byte, 0, flushAt+flushAt/2)}
	if g.o.Batch {
		f.header()
	}
	for n := 1; n <= g.Len() && f.stats.Bytes+int64(len(f.b)) < g.o.Bytes; n++ {
		if err := f.add(n); err != nil {
			return f.stats, err
		}
	}
	if g.o.Batch {
		f.trailer()
	}
	return f.stats, f.flush()
}

type rxFile struct {
	g     *Rx
	w     io.Writer
	b     []byte // not yet written
	last  int    // where the last detail begins in b
	ref   int    // number in the last reference
	stats RxStats
}

func (f *rxFile) flush() error {
	n, err := f.w.Write(f.b)
	f.stats.Bytes += int64(n)
	f.b, f.last = f.b[:0], 0
	return err
}

// add writes the nth transmission, with its frame in a batch.
func (f *rxFile) add(n int) error {
	g := f.g
	if len(f.b) >= flushAt { // before, so that the last detail is still here at the end
		if err := f.flush(); err != nil {
			return err
		}
	}
	f.last = len(f.b)
	if g.o.Batch {
		f.b = append(f.b, "\x02G10000000000"...)
	}
	ref := len(f.b) - refWidth
	f.b = g.Append(f.b, n)
	if g.o.Batch {
		f.reference(f.b[ref:ref+refWidth], n)
		f.b = append(f.b, '\x03')
	}
	f.count()
	return nil
}

const refWidth = 10

// reference writes 880-K5, by which the answer is found.
func (f *rxFile) reference(to []byte, n int) {
	g := f.g
	switch {
	case g.has(rxReferenceBlank):
		n = 0
	case !g.has(rxReferenceTwice):
		f.ref = n
	default:
		n = f.ref
	}
	switch {
	case n == 0:
		copy(to, "          ")
	case g.o.Canary:
		copy(to, canaryRef)
		const letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
		for i := refWidth - 1; i >= len(canaryRef); i-- {
			to[i] = letters[n%len(letters)]
			n /= len(letters)
		}
	default:
		for i := refWidth - 1; i >= 0; i-- {
			to[i] = byte('0' + n%10)
			n /= 10
		}
	}
}

// count adds what the last transmission held.
func (f *rxFile) count() {
	g, s := f.g, &f.stats
	s.Transmissions++
	s.Claims += g.place.Claim - (s.Transmissions-1)*g.o.TransactionsPer
	s.AmountCents += g.amount
	s.BadClaims += g.refused
	s.Made = append(s.Made, g.made...)
	for _, c := range g.claims {
		g.o.OnClaim(c)
	}
}

// made reports whether a fault of the file is wanted, and notes it.
func (f *rxFile) made(k rxFault) bool {
	p := &f.g.faults[k]
	if p.every != 1 && !p.at[1] {
		return false
	}
	f.stats.Made = append(f.stats.Made, RxMade{Fault: rxCatalog[k].Name, Scope: InFile, Expect: rxCatalog[k].Expect})
	return true
}

// header writes the first record of a batch, 75 bytes.
func (f *rxFile) header() {
	o := &f.g.o
	kind := byte('T')
	if f.made(rxBatchHeader) {
		kind = 'X'
	}
	f.b = append(f.b, '\x02', '0', '0', kind)
	f.b = append(f.b, fixed(o.Sender, 24)...)
	f.b = appendNumber(f.b, uint64(o.BatchNumber), 7)
	f.b = append(f.b, o.Date.Format("200601021504")...)
	f.b = append(f.b, o.FileType, '1', '2')
	f.b = append(append(f.b, fixed(o.Receiver, 24)...), '\x03')
}

// trailer writes the last record of a batch; its count is of all records.
func (f *rxFile) trailer() {
	last := slices.Clone(f.b[f.last:])
	if f.made(rxBatchJunk) {
		f.b = append(f.b, "TEST JUNK"...)
	}
	if f.made(rxTruncated) {
		f.b = f.b[:f.last+len(last)/2]
		return
	}
	if f.made(rxNoTrailer) {
		return
	}
	number, records := f.g.o.BatchNumber, f.stats.Transmissions+2
	if f.made(rxBatchNumber) {
		number = number%9_999_999 + 1
	}
	if f.made(rxBatchCount) {
		records++
	}
	f.b = append(f.b, "\x0299"...)
	f.b = appendNumber(f.b, uint64(number), 7)
	f.b = appendNumber(f.b, uint64(records), 10)
	f.b = append(append(f.b, fixed("", 35)...), '\x03')
	if f.made(rxAfterTrailer) {
		// Under another reference, or it would be refused for that.
		f.reference(last[3:3+refWidth], f.stats.Transmissions+1)
		f.b = append(f.b, last...)
	}
}

// EachRx calls put with each transmission by itself, in order, for a file of its
// own; b is valid until put returns. Errors: Invalid for options that cannot be
// met, and put's own, with which it ends.
func EachRx(o RxOptions, put func(n int, b []byte) error) (RxStats, error) {
	o.Batch = false
	g, err := NewRx(o)
	if err != nil {
		return RxStats{}, err
	}
	f := rxFile{g: g}
	for n := 1; n <= g.Len() && f.stats.Bytes < g.o.Bytes; n++ {
		f.b = g.Append(f.b[:0], n)
		if err := put(n, f.b); err != nil {
			return f.stats, err
		}
		f.stats.Bytes += int64(len(f.b))
		f.count()
	}
	return f.stats, nil
}
