package sortedrun

import (
	"encoding/binary"
	"fmt"
	"os"

	"claimdlq"
)

// indexEntry says where a block starts and with which key.
type indexEntry struct {
	first  Key
	offset uint64
}

// writer writes one run in a single pass.
type writer struct {
	file   File
	name   string
	number uint64
	o      Options
	limit  int

	pending []byte // not written yet
	offset  uint64 // of pending in the file
	block   []byte // entries of the block being filled
	index   []indexEntry
	filter  filter
	count   uint64
	first   Key
	last    Key
}

// writeSize is how much is written at a time.
const writeSize = 256 << 10

func newWriter(fsys FS, path string, number uint64, n int, o Options) (*writer, error) {
	w := &writer{name: runName(number), number: number, o: o, limit: n}
	f, err := fsys.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, ioError("create run", w.name, err)
	}
	w.file, w.filter = f, newFilter(n, o.FilterBits)
	return w, nil
}

func (w *writer) add(k Key, v []byte) error {
	switch {
	case len(v) > MaxValue:
		return w.invalid("a value of more than 64 KiB")
	case w.count > 0 && !less(w.last, k):
		return w.invalid("keys out of order")
	case w.count >= uint64(max(0, w.limit)):
		return w.invalid("more entries than announced")
	}
	if w.count == 0 {
		w.first = k
	}
	if len(w.block) == 0 {
		w.index = append(w.index, indexEntry{first: k, offset: w.offset + uint64(len(w.pending))})
	}
	w.block = appendEntry(w.block, k, v)
	w.filter.add(filterHash(k, w.o.Prefix))
	w.last = k
	w.count++
	if len(w.block) >= w.o.BlockBytes {
		return w.endBlock()
	}
	return nil
}

func (w *writer) invalid(why string) error {
	return &claimdlq.Error{Code: claimdlq.Invalid, Op: "write run", On: w.name + ": " + why}
}

func (w *writer) endBlock() error {
	if len(w.block) == 0 {
		return nil
	}
	at := w.offset + uint64(len(w.pending))
	w.pending = binary.LittleEndian.AppendUint32(w.pending, uint32(len(w.block)))
	w.pending = binary.LittleEndian.AppendUint32(w.pending, checksum(w.number, at, w.block))
	w.pending = append(w.pending, w.block...)
	w.block = w.block[:0]
	if len(w.pending) >= writeSize {
		return w.flush()
	}
	return nil
}

func (w *writer) flush() error {
	if _, err := w.file.WriteAt(w.pending, int64(w.offset)); err != nil {
		return ioError("write run", w.name, err)
	}
	w.offset += uint64(len(w.pending))
	w.pending = w.pending[:0]
	return nil
}

// finish writes the rest and flushes the file to disk.
func (w *writer) finish() error {
	if err := w.endBlock(); err != nil {
		return err
	}
	f := footer{number: w.number, count: w.count, first: w.first, last: w.last, prefix: w.o.Prefix}
	f.indexOffset = w.offset + uint64(len(w.pending))
	index := make([]byte, 0, len(w.index)*indexSize)
	for _, e := range w.index {
		index = binary.LittleEndian.AppendUint64(append(index, e.first[:]...), e.offset)
	}
	f.indexLength, f.indexSum = uint64(len(index)), checksum(w.number, f.indexOffset, index)
	bits := w.filter.encode()
	f.filterLength, f.filterSum = uint64(len(bits)), checksum(w.number, f.indexOffset+f.indexLength, bits)
	w.pending = append(append(w.pending, index...), bits...)
	w.pending = append(w.pending, f.encode(w.offset+uint64(len(w.pending)))...)
	if err := w.flush(); err != nil {
		return err
	}
	if err := w.file.Sync(); err != nil {
		return ioError("write run", w.name, fmt.Errorf("%w: %w", ErrSync, err))
	}
	return nil
}

func (w *writer) close() error { return w.file.Close() }
