package job

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"io/fs"
	"os"

	"claimdlq"
	"claimdlq/internal/atomicfile"
)

// A plan's file is a head, the items, newest record first because that is how a store
// lists them, the plan as JSON without its digest, and a foot: the length of the JSON,
// the number of items, the SHA-256 of all before the foot, and a mark.
const (
	planHead = "claimdlq-plan-1\n"
	planFoot = "plan-end"
	itemSize = 40
	footSize = 4 + 8 + 32 + len(planFoot)
	maxMeta  = 64 << 20
	ioBuffer = 64 << 10
)

func (it *Item) encode(b []byte) {
	le := binary.LittleEndian
	le.PutUint64(b, uint64(it.Record))
	le.PutUint64(b[8:], uint64(it.Cents))
	le.PutUint32(b[16:], it.Revision)
	le.PutUint32(b[20:], it.Claims)
	le.PutUint32(b[24:], uint32(it.Cause))
	le.PutUint32(b[28:], it.Replays)
	le.PutUint32(b[32:], it.Attempts)
	le.PutUint16(b[36:], it.PayloadRevision)
	b[38], b[39] = byte(it.State), 0
}

func (it *Item) decode(b []byte) {
	le := binary.LittleEndian
	*it = Item{
		Record: claimdlq.ID(le.Uint64(b)), Cents: int64(le.Uint64(b[8:])),
		Revision: le.Uint32(b[16:]), Claims: le.Uint32(b[20:]), Cause: int(le.Uint32(b[24:])),
		Replays: le.Uint32(b[28:]), Attempts: le.Uint32(b[32:]), PayloadRevision: le.Uint16(b[36:]), State: claimdlq.State(b[38]),
	}
}

// planWriter writes a plan's file in one go.
type planWriter struct {
	f   *atomicfile.File
	w   *bufio.Writer
	sum hash.Hash
	n   int
	buf [itemSize]byte
}

func createPlan(path string) (*planWriter, error) {
	f, err := atomicfile.Create(path, 0o600)
	if err != nil {
		return nil, err
	}
	p := &planWriter{f: f, sum: sha256.New()}
	p.w = bufio.NewWriterSize(io.MultiWriter(f, p.sum), ioBuffer)
	_, err = p.w.WriteString(planHead)
	return p, err
}

func (p *planWriter) add(it *Item) error {
	it.encode(p.buf[:])
	p.n++
	_, err := p.w.Write(p.buf[:])
	return err
}

// commit makes the plan durable and fills its digest in.
func (p *planWriter) commit(plan *Plan) error {
	plan.Digest = Hash{}
	meta, err := json.Marshal(plan)
	if err != nil {
		return err
	}
	if _, err := p.w.Write(meta); err != nil {
		return err
	}
	if err := p.w.Flush(); err != nil {
		return err
	}
	p.sum.Sum(plan.Digest[:0])
	le := binary.LittleEndian
	foot := le.AppendUint32(nil, uint32(len(meta)))
	foot = le.AppendUint64(foot, uint64(p.n))
	foot = append(append(foot, plan.Digest[:]...), planFoot...)
	if _, err := p.f.Write(foot); err != nil {
		return err
	}
	return p.f.Commit()
}

func (p *planWriter) abort() { p.f.Abort() }

// planFile is an open plan.
type planFile struct {
	f    *os.File
	plan Plan
}

var errPlan = &claimdlq.Error{Code: claimdlq.Corrupt, Op: "read replay plan", Hint: "plan anew"}

// openPlan opens a plan, and with verify compares all of it with its digest. Errors:
// Corrupt, Unavailable.
func openPlan(path string, verify bool) (*planFile, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, ioError("read replay plan", err)
	}
	p := &planFile{f: f}
	if err := p.read(verify); err != nil {
		_ = f.Close()
		return nil, err
	}
	return p, nil
}

func (p *planFile) read(verify bool) error {
	info, err := p.f.Stat()
	if err != nil {
		return ioError("read replay plan", err)
	}
	size := info.Size() - int64(footSize)
	foot := make([]byte, footSize)
	if size < int64(len(planHead)) {
		return errPlan
	}
	if _, err := p.f.ReadAt(foot, size); err != nil {
		return ioError("read replay plan", err)
	}
	le := binary.LittleEndian
	length, n := int64(le.Uint32(foot)), le.Uint64(foot[4:])
	if string(foot[44:]) != planFoot || length > maxMeta || n > maxItems || size != int64(len(planHead))+int64(n)*itemSize+length {
		return errPlan
	}
	meta := make([]byte, length)
	if _, err := p.f.ReadAt(meta, size-length); err != nil {
		return ioError("read replay plan", err)
	}
	if json.Unmarshal(meta, &p.plan) != nil || uint64(p.plan.Items) != n || p.plan.Digest != (Hash{}) {
		return errPlan
	}
	copy(p.plan.Digest[:], foot[12:])
	if !verify {
		return nil
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(p.f, 0, size)); err != nil {
		return ioError("read replay plan", err)
	}
	if !bytes.Equal(sum.Sum(nil), p.plan.Digest[:]) {
		return errPlan
	}
	return nil
}

// items appends up to limit items from the given index on.
func (p *planFile) items(out []Item, from, limit int) ([]Item, error) {
	k := min(limit, p.plan.Items-from)
	if k <= 0 || from < 0 {
		return out, nil
	}
	b := make([]byte, k*itemSize)
	at := int64(len(planHead)) + int64(p.plan.Items-from-k)*itemSize
	if _, err := p.f.ReadAt(b, at); err != nil {
		return out, ioError("read replay plan", err)
	}
	for i := range k {
		var it Item
		it.decode(b[(k-1-i)*itemSize:])
		it.Index = from + i
		out = append(out, it)
	}
	return out, nil
}

func (p *planFile) close() { _ = p.f.Close() }

// ioError says what a failed file operation means. What it was about is no path.
func ioError(op string, err error) error {
	code := claimdlq.Unavailable
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		code = claimdlq.Corrupt
	}
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	return &claimdlq.Error{Code: code, Op: op, Err: err}
}
