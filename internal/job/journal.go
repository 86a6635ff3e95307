package job

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"time"

	"claimdlq"
	"claimdlq/internal/atomicfile"
)

// A journal is frames: length, CRC-32C of the body, body. A body is a kind and
//
//	E  an event, as JSON
//	T  an index: items below it may be released from now on
//	R  indices with their results and ends, six bytes each
//
// One append is one frame and one flush, so that a crash can tear the last frame only.
const (
	frameHead  = 8
	maxFrame   = 64 << 10
	markSize   = 6
	marksFrame = (maxFrame - 1) / markSize

	kindEvent = 'E'
	kindTaken = 'T'
	kindMarks = 'R'
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// event is a line of a job's history.
type event struct {
	What   string         `json:"what"`
	At     time.Time      `json:"at"`
	By     string         `json:"by,omitempty"`
	Why    string         `json:"why,omitempty"` // of an act: each record's entry repeats it
	Code   StopCode       `json:"code,omitempty"`
	Of     string         `json:"of,omitempty"` // a partner
	Rate   float64        `json:"rate,omitempty"`
	Counts map[string]int `json:"counts,omitempty"`
	// Rules are the rule versions under which it goes on.
	Rules map[string]string `json:"rules,omitempty"`
}

// The events.
const (
	evApprove = "approve"
	evRun     = "run"
	evPause   = "pause"
	evResume  = "resume"
	evStop    = "stop"
	evCancel  = "cancel"
	evMaxRate = "max_rate"
	evRate    = "rate"
	evCanary  = "canary_passed"
	evDry     = "dry_run"
	evDone    = "done"
)

// mark is what became of one item. An End of 0 says nothing about its end.
type mark struct {
	index  uint32
	result Result
	end    End
}

// journal appends to a job's history. It is for one goroutine at a time.
type journal struct {
	f    *os.File
	dead error
	buf  []byte
	// step, in tests, may end the process before the named step.
	step func(string) error
}

// openJournal opens or makes a job's journal and hands its frames over in order. A
// torn end is cut off. Errors: Corrupt, Unavailable.
func openJournal(path string, each func(kind byte, body []byte) error) (*journal, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, ioError("read replay journal", err)
	}
	j := &journal{f: f}
	if err := j.recover(each); err != nil {
		_ = f.Close()
		return nil, err
	}
	if err := atomicfile.SyncDir(filepath.Dir(path)); err != nil {
		_ = f.Close()
		return nil, ioError("open replay journal", err)
	}
	return j, nil
}

// readJournal hands the frames of a journal over, and changes nothing.
func readJournal(path string, each func(kind byte, body []byte) error) error {
	f, err := os.Open(path)
	if err != nil {
		return ioError("read replay journal", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return ioError("read replay journal", err)
	}
	_, err = readFrames(f, info.Size(), each)
	return err
}

func (j *journal) recover(each func(kind byte, body []byte) error) error {
	info, err := j.f.Stat()
	if err != nil {
		return ioError("read replay journal", err)
	}
	good, err := readFrames(j.f, info.Size(), each)
	if err != nil {
		return err
	}
	if good == info.Size() {
		_, err = j.f.Seek(good, io.SeekStart)
		return err
	}
	if err := j.f.Truncate(good); err != nil {
		return ioError("cut replay journal", err)
	}
	if _, err := j.f.Seek(good, io.SeekStart); err != nil {
		return ioError("read replay journal", err)
	}
	return j.sync()
}

// readFrames hands frames over and returns where the good ones end. What follows them
// must be a torn frame: no longer than one, and with no whole frame in it.
func readFrames(r io.ReaderAt, size int64, each func(kind byte, body []byte) error) (int64, error) {
	buf := make([]byte, frameHead+maxFrame)
	var at int64
	for {
		n, err := r.ReadAt(buf[:min(int64(len(buf)), size-at)], at)
		if err != nil && err != io.EOF {
			return at, ioError("read replay journal", err)
		}
		body := frame(buf[:n])
		if body == nil {
			if size-at > frameHead+maxFrame || holdsFrame(buf[:n]) {
				return at, &claimdlq.Error{Code: claimdlq.Corrupt, Op: "read replay journal", On: fmt.Sprintf("offset %d", at), Hint: "plan anew: what the job has released it will not release again"}
			}
			return at, nil
		}
		if err := each(body[0], body[1:]); err != nil {
			return at, err
		}
		at += int64(frameHead + len(body))
	}
}

// frame returns the body of the frame that b begins with, nil if there is none.
func frame(b []byte) []byte {
	if len(b) < frameHead {
		return nil
	}
	n := int(binary.LittleEndian.Uint32(b))
	if n < 1 || n > maxFrame || len(b) < frameHead+n {
		return nil
	}
	body := b[frameHead : frameHead+n]
	if crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(b[4:]) {
		return nil
	}
	return body
}

func holdsFrame(b []byte) bool {
	for i := 1; i+frameHead < len(b); i++ {
		if frame(b[i:]) != nil {
			return true
		}
	}
	return false
}

func (j *journal) event(e event) error {
	b, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return j.append(kindEvent, b)
}

func (j *journal) taken(upto int) error {
	return j.append(kindTaken, binary.LittleEndian.AppendUint32(nil, uint32(upto)))
}

func (j *journal) marks(ms []mark) error {
	for len(ms) > 0 {
		n := min(len(ms), marksFrame)
		b := make([]byte, 0, n*markSize)
		for _, m := range ms[:n] {
			b = append(binary.LittleEndian.AppendUint32(b, m.index), byte(m.result), byte(m.end))
		}
		if err := j.append(kindMarks, b); err != nil {
			return err
		}
		ms = ms[n:]
	}
	return nil
}

func decodeMarks(b []byte, f func(mark)) bool {
	if len(b)%markSize != 0 {
		return false
	}
	for ; len(b) > 0; b = b[markSize:] {
		f(mark{binary.LittleEndian.Uint32(b), Result(b[4]), End(b[5])})
	}
	return true
}

// append makes one frame durable. After an error nobody knows what is on the disk, and
// nothing more is appended: a restart reads what is there. Errors: Unavailable.
func (j *journal) append(kind byte, payload []byte) error {
	if j.dead != nil {
		return j.dead
	}
	body := j.encode(kind, payload)
	if len(body) > frameHead+maxFrame {
		return &claimdlq.Error{Code: claimdlq.Internal, Op: "write replay journal", On: "a frame that is too long"}
	}
	if err := j.write(body); err != nil {
		j.dead = ioError("write replay journal", err)
		return j.dead
	}
	return nil
}

// encode returns the frame, which is good until the next.
func (j *journal) encode(kind byte, payload []byte) []byte {
	body := append(append(j.buf[:0], make([]byte, frameHead)...), kind)
	body = append(body, payload...)
	j.buf = body
	binary.LittleEndian.PutUint32(body, uint32(len(body)-frameHead))
	binary.LittleEndian.PutUint32(body[4:], crc32.Checksum(body[frameHead:], castagnoli))
	return body
}

func (j *journal) write(b []byte) error {
	if j.step != nil {
		if err := j.step("journal"); err != nil {
			_, _ = j.f.Write(b[:len(b)/2]) // a crash tears it
			return err
		}
	}
	if _, err := j.f.Write(b); err != nil {
		return err
	}
	return j.sync()
}

func (j *journal) sync() error {
	if err := j.f.Sync(); err != nil {
		return fmt.Errorf("%w: %w", atomicfile.ErrSync, err)
	}
	return nil
}

func (j *journal) close() error { return j.f.Close() }
