package payersim

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"

	"claimdlq"
)

// ledger is what the payer remembers of what it accepted.
type ledger struct {
	file *os.File // nil: memory only

	byKey  map[Key]int // index into list
	list   []AcceptedClaim
	billed map[string]int // provider, member and CLM01 of original claims: times accepted
	seen   map[string]seen
	stats  Stats
}

// seen is an interchange that was received.
type seen struct {
	status string // accepted or rejected
	claims int
}

// AcceptedClaim is one claim that the payer accepted.
type AcceptedClaim struct {
	Key         string `json:"key"`
	CLM01       string `json:"clm01"`
	AmountCents int64  `json:"amount_cents"`
	Lane        string `json:"lane"`
	ISA13       uint32 `json:"isa13"` // that it first came with
	Control     string `json:"payer_control"`
	Count       int    `json:"count"` // times it was accepted; more than 1 is a double payment
}

// entry is a line of the journal: one interchange, so that all of it or nothing
// survives a crash.
type entry struct {
	Lane   string       `json:"lane"`
	ISA13  uint32       `json:"isa13"`
	Status string       `json:"status"`
	Claims []entryClaim `json:"claims,omitempty"`
}

type entryClaim struct {
	Key    string `json:"key"`
	CLM01  string `json:"clm01"`
	Cents  int64  `json:"cents"`
	Billed string `json:"billed,omitempty"`
}

func newLedger() *ledger {
	return &ledger{byKey: make(map[Key]int), billed: make(map[string]int), seen: make(map[string]seen)}
}

func seenKey(lane string, isa13 uint32) string {
	return lane + "/" + strconv.FormatUint(uint64(isa13), 10)
}

// openLedger reads the journal at path and goes on in it. A line that a crash cut
// short was never answered, and is dropped.
func openLedger(path string) (*ledger, error) {
	l := newLedger()
	if path == "" {
		return l, nil
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, journalError(claimdlq.Unavailable, err)
	}
	l.file = f
	good, err := l.load(f)
	if err == nil {
		err = f.Truncate(good)
	}
	if err == nil {
		_, err = f.Seek(good, io.SeekStart)
	}
	if err != nil {
		_ = f.Close()
		return nil, journalError(claimdlq.Corrupt, err)
	}
	return l, nil
}

// load applies every whole line and returns where they end.
func (l *ledger) load(r io.Reader) (int64, error) {
	b := bufio.NewReaderSize(r, 1<<20)
	var good int64
	for {
		line, err := b.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return good, nil
		}
		if err != nil {
			return 0, err
		}
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			return 0, errors.New("a line cannot be read")
		}
		l.apply(e)
		good += int64(len(line))
	}
}

// add makes an interchange durable and then counts it.
func (l *ledger) add(e entry) error {
	if l.file != nil {
		b, err := json.Marshal(e)
		if err == nil {
			_, err = l.file.Write(append(b, '\n'))
		}
		if err == nil {
			err = l.file.Sync()
		}
		if err != nil {
			return journalError(claimdlq.Unavailable, err)
		}
	}
	l.apply(e)
	return nil
}

func (l *ledger) apply(e entry) {
	l.seen[seenKey(e.Lane, e.ISA13)] = seen{e.Status, len(e.Claims)}
	for _, c := range e.Claims {
		var k Key
		_, _ = hex.Decode(k[:], []byte(c.Key[:min(len(c.Key), 2*len(k))]))
		l.stats.Accepted++
		if c.Billed != "" {
			if l.billed[c.Billed]++; l.billed[c.Billed] > 1 {
				l.stats.RepeatedCLM01++
			}
		}
		if i, ok := l.byKey[k]; ok {
			l.list[i].Count++
			l.stats.DoubleAccepted++
			continue
		}
		l.byKey[k] = len(l.list)
		l.list = append(l.list, AcceptedClaim{
			Key: c.Key, CLM01: c.CLM01, AmountCents: c.Cents, Lane: e.Lane, ISA13: e.ISA13, Control: control(k), Count: 1,
		})
	}
}

// control is the payer's claim number (277CA REF*1K).
func control(k Key) string { return "ICN" + strings.ToUpper(k.String()[:12]) }

func (l *ledger) close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

func journalError(code claimdlq.Code, err error) error {
	if p, ok := errors.AsType[*os.PathError](err); ok {
		err = p.Err
	}
	return &claimdlq.Error{Code: code, Op: "keep the payer's journal", Err: err}
}

// duplicates returns the claims accepted more than once.
func (l *ledger) duplicates() []AcceptedClaim {
	var d []AcceptedClaim
	for _, c := range l.list {
		if c.Count > 1 {
			d = append(d, c)
		}
	}
	return d
}

// fingerprint identifies an original claim by who bills it under which number.
func (c *claim) fingerprint(component byte) string {
	if !c.original(component) {
		return ""
	}
	var b bytes.Buffer
	for _, s := range []string{c.npi, c.member, c.clm01} {
		b.WriteString(strconv.Itoa(len(s)) + ":" + s)
	}
	return b.String()
}
