package filestore

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"unsafe"

	"claimdlq"
)

// loaded is a snapshot that has been read into an index.
type loaded struct {
	x    *index
	meta snapshotMeta
	end  int64 // the journal was at least this long when it was written
}

// loadSnapshot reads the snapshot; any error means that the journal must be
// replayed from its beginning.
func (s *Store) loadSnapshot() (l *loaded, err error) {
	f, err := s.o.FS.OpenFile(filepath.Join(s.dir, snapshotName), os.O_RDONLY, filePerm)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	list, err := listSections(f)
	if err != nil {
		return nil, err
	}
	l = &loaded{x: newIndex()}
	if err := l.read(f, list); err != nil {
		l.x.free()
		return nil, err
	}
	return l, nil
}

// sectionAt is a section of a snapshot file.
type sectionAt struct {
	kind uint32
	off  int64 // of its header
	size int64 // of its content
}

// listSections walks the headers. The last section must be the end, and tell how
// many there are.
func listSections(f File) ([]sectionAt, error) {
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	var list []sectionAt
	var h [sectionHeader]byte
	for off := int64(0); off < size; {
		if _, err := f.ReadAt(h[:], off); err != nil {
			return nil, errSnapshot
		}
		n := binary.LittleEndian.Uint64(h[4:])
		if n > uint64(size-off-sectionHeader) {
			return nil, errSnapshot
		}
		list = append(list, sectionAt{binary.LittleEndian.Uint32(h[:]), off, int64(n)})
		off += sectionHeader + int64(n)
	}
	if len(list) < 4 || list[0].kind != sectionMeta || list[len(list)-1].kind != sectionEnd {
		return nil, errSnapshot
	}
	return list, nil
}

// load reads a section's content into buf and checks it.
func (a sectionAt) load(f File, buf []byte) ([]byte, error) {
	n := sectionHeader + int(a.size)
	if cap(buf) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	if _, err := f.ReadAt(buf, a.off); err != nil && !isEOF(err) {
		return nil, err
	}
	if binary.LittleEndian.Uint32(buf[12:]) != sectionSum(buf) {
		return nil, fmt.Errorf("%w: section at %d", errSnapshot, a.off)
	}
	return buf, nil
}

func (l *loaded) read(f File, list []sectionAt) error {
	var bulk []sectionAt
	for _, a := range list {
		if a.kind >= sectionRows && a.kind <= sectionPrints {
			bulk = append(bulk, a)
			continue
		}
		b, err := a.load(f, nil)
		if err != nil {
			return err
		}
		if err := l.small(a.kind, newDecoder(b[sectionHeader:]), uint64(len(list))); err != nil {
			return err
		}
	}
	return l.bulk(f, bulk)
}

// small reads the sections that are not bulk.
func (l *loaded) small(kind uint32, d *decoder, sections uint64) error {
	switch kind {
	case sectionMeta:
		return l.meta.decode(d)
	case sectionCauses:
		return l.x.causes.decode(d)
	case sectionQueues:
		return l.x.subs.queues.decode(d)
	case sectionChunks:
		l.meta.chunks = decodeChunks(d)
	case sectionSteps:
		for range d.upTo(uint64(len(d.b))) {
			l.meta.steps = append(l.meta.steps, d.int())
		}
	case sectionEnd:
		if d.uint() != sections-1 {
			return errSnapshot
		}
		l.end = d.int()
	default:
		return errSnapshot
	}
	return d.end()
}

func (m *snapshotMeta) decode(d *decoder) error {
	mark := d.bytes(4)
	if *(*uint32)(unsafe.Pointer(&mark[0])) != byteOrderMark || d.byte() != snapshotFormat {
		return errSnapshot
	}
	m.end, m.num, m.group = d.int(), d.uint(), d.uint()
	copy(m.last[:], d.bytes(len(m.last)))
	lastSeq := d.uint()
	m.totals, m.gone = d.base()
	m.totals.lastSeq = lastSeq
	m.lanes = map[string]uint32{}
	for range d.upTo(uint64(len(d.b))) {
		last := d.fixed32()
		m.lanes[d.string()] = last
	}
	return d.end()
}

func decodeChunks(d *decoder) (out []chunkInfo) {
	for range d.upTo(uint64(len(d.b))) {
		c := chunkInfo{num: d.uint(), base: d.int(), lastSeq: d.uint(), items: d.int(), prints: d.bool()}
		for range d.upTo(uint64(len(d.b))) {
			c.marks = append(c.marks, mark{d.uint(), d.int()})
		}
		out = append(out, c)
	}
	return out
}

func (c *causes) decode(d *decoder) error {
	for range d.upTo(uint64(len(d.b))) {
		k := causeKey{
			state: claimdlq.State(d.byte()), reason: claimdlq.Reason(d.byte()), format: claimdlq.Format(d.byte()), rejected: d.bool(),
			detail: d.detail(), partner: d.string(), stream: d.string(),
		}
		if d.bad || int(k.state) >= stateCount {
			return errSnapshot
		}
		c.id(k)
	}
	return d.end()
}

// bulk reads the large sections with as many goroutines as there are processors.
func (l *loaded) bulk(f File, list []sectionAt) error {
	work := make(chan sectionAt)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			var buf []byte
			sums := l.x.newSummer()
			for a := range work {
				p, err := l.part(f, a, &buf, sums)
				mu.Lock()
				if !l.x.addPart(&p) {
					err = errSnapshot
				}
				if err != nil && failed == nil {
					failed = err
				}
				if err == nil && p.rows != nil {
					sums.addTo(l.x, p.rows, p.n)
				}
				mu.Unlock()
			}
		})
	}
	for _, a := range list {
		work <- a
	}
	close(work)
	wg.Wait()
	if failed != nil {
		return failed
	}
	l.x.addUp()
	return nil
}

// part is a section of rows or submissions that has been read.
type part struct {
	n    int
	rows *block
	subs *subBlock
}

// part reads one bulk section. Shards of tables go to their place at once: each
// has one of its own.
func (l *loaded) part(f File, a sectionAt, buf *[]byte, sums *summer) (p part, err error) {
	b, err := a.load(f, *buf)
	if err != nil {
		return p, err
	}
	*buf = b
	d := &decoder{b: b, off: sectionHeader}
	p.n = int(d.fixed32())
	if p.n > maxRows>>blockBits && a.kind != sectionSubs {
		return p, errSnapshot
	}
	switch a.kind {
	case sectionRows:
		p.rows, err = l.rows(d, sums)
	case sectionSubs:
		p.subs = &subBlock{}
		if copy(p.subs.raw(), d.bytes(len(p.subs.raw()))); d.bad || p.n > maxRows/subRows || !p.subs.sound(len(l.x.subs.queues.list)) {
			err = errSnapshot
		}
	case sectionPrints:
		err = l.prints(d, p.n)
	case sectionKeys:
		err = readShard(d, &l.x.keys, p.n)
	case sectionRefs:
		err = readShard(d, &l.x.refs, p.n)
	case sectionSubRefs:
		err = readShard(d, &l.x.subs.refs, p.n)
	}
	if err == nil && d.bad {
		err = errSnapshot
	}
	return p, err
}

// sound reports whether every state is one, and every queue one of as many.
func (b *subBlock) sound(queues int) bool {
	for i, s := range b.state {
		if int(s) >= subStates || int(b.queue[i]) >= queues {
			return false
		}
	}
	return true
}

func readShard(d *decoder, t *hashtab, n int) error {
	slots, lists := int(d.fixed32()), int(d.fixed32())
	if n >= hashShards || slots > len(d.b)/8 || lists > len(d.b)/4 {
		return errSnapshot
	}
	s := &t.shards[n]
	s.mem.free()
	*s = hashShard{}
	if slots == 0 {
		return nil
	}
	s.allocate(slots)
	copy(bytesOf(s.slots), d.bytes(slots*8))
	for range lists {
		k := int(d.fixed32())
		if k > (len(d.b)-d.off)/4 {
			return errSnapshot
		}
		l := make([]uint32, k)
		copy(bytesOf(l), d.bytes(k*4))
		s.lists = append(s.lists, l)
	}
	for _, v := range s.slots {
		if v == 0 {
			continue
		}
		if s.n++; uint32(v)&listFlag != 0 && int(uint32(v)&^listFlag) >= lists {
			return errSnapshot
		}
	}
	if s.n >= len(s.slots) {
		return errSnapshot
	}
	return nil
}

func (l *loaded) prints(d *decoder, n int) error {
	if n >= fpShards {
		return errSnapshot
	}
	for d.off < len(d.b) && !d.bad {
		l.x.seen.shards[n].put(fpSlot{d.fixed64(), d.fixed64(), d.fixed64()})
	}
	return nil
}

func (l *loaded) rows(d *decoder, sums *summer) (*block, error) {
	rows, offs := int(d.fixed32()), int(d.fixed32())
	if rows > blockRows || (offs != rows && (offs != 0 || rows != blockRows)) {
		return nil, errSnapshot
	}
	b := &block{columns: newColumns(rows)}
	if offs > 0 {
		b.offs = make([]uint16, offs)
		copy(bytesOf(b.offs), d.bytes(offs*2))
	}
	if rows == 0 {
		return nil, errSnapshot
	}
	copy(b.mem.b, d.bytes(rows*columnBytes))
	err := sums.sum(b)
	if d.bad {
		err = errSnapshot
	}
	return b, err
}
