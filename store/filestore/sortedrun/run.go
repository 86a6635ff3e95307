package sortedrun

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"sync"
	"sync/atomic"

	"claimdlq"
)

// run is one immutable file, open for reading.
type run struct {
	file   File
	name   string
	number uint64
	bytes  int64
	count  uint64
	end    uint64 // of the blocks
	first  Key
	last   Key
	index  []indexEntry
	filter filter
	prefix bool         // the filter is of the first halves of keys
	refs   atomic.Int64 // views that hold it
}

func openRun(fsys FS, dir string, number uint64) (*run, error) {
	r := &run{number: number, name: runName(number)}
	f, err := fsys.OpenFile(filepath.Join(dir, r.name), os.O_RDONLY, 0)
	if os.IsNotExist(err) {
		return nil, &claimdlq.Error{Code: claimdlq.Corrupt, Op: "open run", On: r.name, Err: err}
	}
	if err != nil {
		return nil, ioError("open run", r.name, err)
	}
	r.file = f
	if err := r.load(); err != nil {
		_ = f.Close()
		return nil, err
	}
	return r, nil
}

// load reads footer, index and filter.
func (r *run) load() error {
	size, err := r.file.Size()
	if err != nil {
		return ioError("open run", r.name, err)
	}
	r.bytes = size
	at := size - int64(footerSize)
	if at < 0 {
		return r.corrupt("footer", 0)
	}
	b, err := r.read(make([]byte, footerSize), at)
	if err != nil {
		return err
	}
	f, ok := decodeFooter(b, r.number, uint64(at))
	if !ok {
		return r.corrupt("footer", uint64(at))
	}
	r.count, r.end, r.first, r.last, r.prefix = f.count, f.indexOffset, f.first, f.last, f.prefix
	index, err := r.read(make([]byte, f.indexLength), int64(f.indexOffset))
	if err != nil {
		return err
	}
	if checksum(r.number, f.indexOffset, index) != f.indexSum || !r.loadIndex(index) {
		return r.corrupt("index", f.indexOffset)
	}
	at = int64(f.indexOffset + f.indexLength)
	bits, err := r.read(make([]byte, f.filterLength), at)
	if err != nil {
		return err
	}
	if checksum(r.number, uint64(at), bits) != f.filterSum {
		return r.corrupt("filter", uint64(at))
	}
	r.filter = decodeFilter(bits)
	return nil
}

// loadIndex reports whether the blocks that the index names follow each other
// from the file's start to their end.
func (r *run) loadIndex(b []byte) bool {
	r.index = make([]indexEntry, len(b)/indexSize)
	for i := range r.index {
		e := &r.index[i]
		copy(e.first[:], b[i*indexSize:])
		e.offset = binary.LittleEndian.Uint64(b[i*indexSize+keySize:])
		if i == 0 && (e.offset != 0 || e.first != r.first) {
			return false
		}
		if i > 0 && (!less(r.index[i-1].first, e.first) || e.offset <= r.index[i-1].offset+blockHead) {
			return false
		}
	}
	return r.end > r.index[len(r.index)-1].offset+blockHead
}

func (r *run) read(b []byte, at int64) ([]byte, error) {
	if n, err := r.file.ReadAt(b, at); n < len(b) {
		return nil, ioError("read run", r.name, err)
	}
	return b, nil
}

func (r *run) corrupt(what string, at uint64) error {
	return &claimdlq.Error{
		Code: claimdlq.Corrupt, Op: "read run", On: fmt.Sprintf("%s: %s at byte %d", r.name, what, at),
		Hint: "restore the file from a backup",
	}
}

// block reads the entries of block i into buf, which is grown as needed.
func (r *run) block(i int, buf *[]byte) ([]byte, error) {
	from, to := r.index[i].offset, r.end
	if i+1 < len(r.index) {
		to = r.index[i+1].offset
	}
	n := to - from
	if n > maxBlock {
		return nil, r.corrupt("block", from)
	}
	if uint64(cap(*buf)) < n {
		*buf = make([]byte, n)
	}
	b, err := r.read((*buf)[:n], int64(from))
	if err != nil {
		return nil, err
	}
	entries := b[blockHead:]
	if binary.LittleEndian.Uint32(b) != uint32(len(entries)) ||
		binary.LittleEndian.Uint32(b[4:]) != checksum(r.number, from, entries) {
		return nil, r.corrupt("block", from)
	}
	return entries, nil
}

// find returns the last block that starts at or below k; -1 if none does.
func (r *run) find(k Key) int {
	return sort.Search(len(r.index), func(i int) bool { return less(k, r.index[i].first) }) - 1
}

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// mayHold reports whether some key may begin with prefix.
func (r *run) mayHold(prefix uint64) bool {
	if prefix < binary.BigEndian.Uint64(r.first[:8]) || prefix > binary.BigEndian.Uint64(r.last[:8]) {
		return false
	}
	return !r.prefix || r.filter.has(hashOfPrefix(prefix))
}

func (r *run) get(k Key) (value []byte, ok bool, err error) {
	if less(k, r.first) || less(r.last, k) || !r.filter.has(filterHash(k, r.prefix)) {
		return nil, false, nil
	}
	i := r.find(k)
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	b, err := r.block(i, buf)
	if err != nil {
		return nil, false, err
	}
	for len(b) > 0 {
		e, rest, whole := nextEntry(b)
		if !whole {
			return nil, false, r.corrupt("block", r.index[i].offset)
		}
		if !less(e.key, k) {
			if e.key != k {
				return nil, false, nil
			}
			return append(make([]byte, 0, len(e.value)), e.value...), true, nil
		}
		b = rest
	}
	return nil, false, nil
}

// verify reads the whole run.
func (r *run) verify(ctx context.Context) error {
	var starts []uint32
	var buf []byte
	var count uint64
	var last Key
	for i := range r.index {
		if err := ctx.Err(); err != nil {
			return ioError("verify run", r.name, err)
		}
		b, err := r.block(i, &buf)
		if err != nil {
			return err
		}
		var ok bool
		starts, ok = startsOf(b, starts)
		if !ok || entryAt(b, 0).key != r.index[i].first || count > 0 && !less(last, entryAt(b, 0).key) {
			return r.corrupt("block", r.index[i].offset)
		}
		for _, start := range starts {
			last = entryAt(b, start).key
			if !r.filter.has(filterHash(last, r.prefix)) {
				return r.corrupt("filter", r.end)
			}
		}
		count += uint64(len(starts))
	}
	if count != r.count || last != r.last {
		return r.corrupt("footer", uint64(r.bytes)-uint64(footerSize))
	}
	return nil
}
