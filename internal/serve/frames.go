package serve

import (
	"bufio"
	"errors"
	"io"
	"strconv"

	"claimdlq"
	"claimdlq/wire/ncpdp"
)

const (
	stx = 0x02
	etx = 0x03
)

// frames reads pharmacy messages out of a stream: each from STX to ETX. Line breaks
// and repeated ETX between them are nothing.
type frames struct {
	r  *bufio.Reader
	at int64 // of the next byte
}

func newFrames(r io.Reader) *frames { return &frames{r: bufio.NewReaderSize(r, 256<<10)} }

// next returns the next message, frame included, in memory of its own. It returns
// io.EOF at the end, and an error with code Invalid, which names the byte, for what is
// no frame: the stream cannot be followed from there.
func (f *frames) next() ([]byte, error) {
	for {
		b, err := f.r.ReadByte()
		if err != nil {
			return nil, err
		}
		f.at++
		switch b {
		case '\r', '\n', etx:
			continue
		case stx:
			return f.message()
		}
		return nil, f.bad("no message begins here: it must begin with STX (0x02)")
	}
}

func (f *frames) message() ([]byte, error) {
	out := []byte{stx}
	for {
		part, err := f.r.ReadSlice(etx)
		f.at += int64(len(part))
		if len(out)+len(part) > ncpdp.MaxMessage {
			return nil, f.bad("a message is longer than 1 MiB")
		}
		out = append(out, part...)
		switch {
		case err == nil:
			return out, nil
		case errors.Is(err, io.EOF):
			return nil, f.bad("the stream ends inside a message: it was not taken in")
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// more reports whether the next byte is here already.
func (f *frames) more() bool { return f.r.Buffered() > 0 }

func (f *frames) bad(why string) error {
	return &claimdlq.Error{Code: claimdlq.Invalid, Op: "read stream at byte " + strconv.FormatInt(f.at, 10), On: why, Hint: "send what was not answered again, from the next STX on"}
}
