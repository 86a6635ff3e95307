package audit

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"claimdlq"
	"claimdlq/internal/atomicfile"
)

// Options say how a log is opened.
type Options struct {
	// CheckpointEvery is after how many entries the log is signed. Default: 4096.
	CheckpointEvery int
	// FileBytes is the size at which the next file of entries is begun. Opening
	// reads the last one. Default: 32 MiB.
	FileBytes int64
	// Fatal is called when an fsync has failed and must not return. Default: a line
	// on standard error and exit status 70.
	Fatal func(error)
}

// Log is an audit log that is being written. It is safe for concurrent use; one
// process may have it open.
type Log struct {
	dir    string
	signer note.Signer
	o      Options
	disk   disk

	mu      sync.Mutex
	f       *os.File // the last file of entries; nil before the first entry
	offset  int64    // its length
	hashes  *os.File
	notes   *os.File
	noteEnd int64
	chain   tlog.Hash
	tree    tree
	signed  uint64 // size that the last checkpoint signs
	last    []byte // the last checkpoint
	dead    error

	lineBuf, hashBuf []byte // of appendTo
	pendingHashes    []byte // while the log is being opened
}

// disk is the system calls whose failure has to be tested.
type disk struct {
	writeAt func(f *os.File, b []byte, off int64) error
	sync    func(f *os.File) error
}

var realDisk = disk{
	writeAt: func(f *os.File, b []byte, off int64) error { _, err := f.WriteAt(b, off); return err },
	sync:    (*os.File).Sync,
}

// Open opens the log in dir to append to it, making the directory on first use.
// A tail that a crash tore is cut off: the store still has those entries. Errors:
// Corrupt (signed entries are damaged; see Verify), Unavailable.
func Open(dir string, signer note.Signer) (*Log, error) { return OpenWith(dir, signer, Options{}) }

// OpenWith is Open with options.
func OpenWith(dir string, signer note.Signer, o Options) (*Log, error) {
	if o.CheckpointEvery <= 0 {
		o.CheckpointEvery = 4096
	}
	if o.FileBytes <= 0 {
		o.FileBytes = 32 << 20
	}
	if o.Fatal == nil {
		o.Fatal = die
	}
	if err := atomicfile.MkdirAll(dir, dirPerm); err != nil {
		return nil, unavailable("open audit log", err)
	}
	l := &Log{dir: dir, signer: signer, o: o, disk: realDisk, chain: genesis}
	if err := l.resume(); err != nil {
		_ = l.release()
		return nil, err
	}
	return l, nil
}

// Size returns how many entries the log holds durably, which is the sequence
// number of the last one.
func (l *Log) Size() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return uint64(l.tree.n)
}

// Append makes the entries durable. They must follow each other and the log;
// those that it holds already are passed over. Errors: Corrupt (a gap: entries
// were lost on the way), Unavailable (nothing was appended; try again).
func (l *Log) Append(entries []claimdlq.Entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead != nil {
		return unavailable("append to audit log", l.dead)
	}
	for len(entries) > 0 && entries[0].Seq <= uint64(l.tree.n) {
		entries = entries[1:]
	}
	for len(entries) > 0 {
		n, err := l.appendTo(entries)
		if err != nil {
			return err
		}
		entries = entries[n:]
	}
	if uint64(l.tree.n)-l.signed >= uint64(l.o.CheckpointEvery) {
		_, err := l.checkpoint()
		return err
	}
	return nil
}

// What leaves and nodes of the tree are hashed with (RFC 6962, section 2.1).
const (
	leafPrefix = 0
	nodePrefix = 1
)

// appendTo appends as many entries as go into one file; the state of the log
// changes only once they are durable.
func (l *Log) appendTo(entries []claimdlq.Entry) (int, error) {
	if err := l.roll(); err != nil {
		return 0, err
	}
	t, chain := l.tree.clone(), l.chain
	// What precedes a line in memory, a newline that is not written yet, is where the
	// prefix of its leaf goes while it is hashed.
	lines, hashes := l.lineBuf[:0], l.hashBuf[:0]
	lines = append(lines, '\n')
	n := 0
	var at clock
	for i := range entries {
		e := &entries[i]
		if e.Seq != uint64(t.n)+1 {
			return 0, &claimdlq.Error{
				Code: claimdlq.Corrupt, Op: "append to audit log", On: fmt.Sprintf("entry %d", t.n+1),
				Hint: "it is missing: restore the audit directory from its backup",
			}
		}
		start := len(lines)
		lines, chain = appendLine(lines, e, chain, &at)
		lines[start-1] = leafPrefix
		leaf := sha256.Sum256(lines[start-1:])
		lines[start-1] = '\n'
		for _, h := range t.add(leaf) {
			hashes = append(hashes, h[:]...)
		}
		lines = append(lines, '\n')
		if n++; l.offset+int64(len(lines)-1) >= l.o.FileBytes {
			break
		}
	}
	l.lineBuf, l.hashBuf = lines, hashes
	lines = lines[1:]
	if err := l.disk.writeAt(l.f, lines, l.offset); err != nil {
		_ = l.f.Truncate(l.offset)
		return 0, unavailable("append to audit log", err)
	}
	if err := l.disk.writeAt(l.hashes, hashes, tlog.StoredHashCount(l.tree.n)*tlog.HashSize); err != nil {
		_ = l.f.Truncate(l.offset)
		return 0, unavailable("append to audit log", err)
	}
	if err := l.sync(l.f); err != nil {
		return 0, err
	}
	l.tree, l.chain, l.offset = t, chain, l.offset+int64(len(lines))
	return n, nil
}

// roll begins the next file of entries if there is none or it is full.
func (l *Log) roll() error {
	if l.f != nil && l.offset < l.o.FileBytes {
		return nil
	}
	f, err := os.OpenFile(segmentPath(l.dir, uint64(l.tree.n)+1), os.O_RDWR|os.O_CREATE, filePerm)
	if err != nil {
		return unavailable("append to audit log", err)
	}
	if err := atomicfile.SyncDir(l.dir); err != nil {
		_ = f.Close()
		return l.failed(err)
	}
	if l.f != nil {
		_ = l.f.Close()
	}
	l.f, l.offset = f, 0
	return nil
}

// Checkpoint signs the log as it is and returns the signed note, which an auditor
// keeps. An empty log has none. If nothing was appended it is the last one.
func (l *Log) Checkpoint() ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead != nil {
		return nil, unavailable("sign audit log", l.dead)
	}
	return l.checkpoint()
}

func (l *Log) checkpoint() ([]byte, error) {
	if uint64(l.tree.n) == l.signed {
		return l.last, nil
	}
	msg, err := sign(Head{uint64(l.tree.n), l.tree.root()}, l.signer)
	if err != nil {
		return nil, err
	}
	if err := l.sync(l.hashes); err != nil {
		return nil, err
	}
	if err := l.disk.writeAt(l.notes, append(msg, '\n'), l.noteEnd); err != nil {
		return nil, unavailable("sign audit log", err)
	}
	if err := l.sync(l.notes); err != nil {
		return nil, err
	}
	l.noteEnd += int64(len(msg)) + 1
	l.signed, l.last = uint64(l.tree.n), msg
	return msg, nil
}

// Close signs the log and releases its files.
func (l *Log) Close() error {
	_, err := l.Checkpoint()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead == nil {
		l.dead = os.ErrClosed
	}
	return errors.Join(err, l.release())
}

func (l *Log) release() error {
	var errs []error
	for _, f := range []*os.File{l.f, l.hashes, l.notes} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	l.f, l.hashes, l.notes = nil, nil, nil
	return errors.Join(errs...)
}

// sync fsyncs f. After a failure nobody knows what is on the disk.
func (l *Log) sync(f *os.File) error {
	if err := l.disk.sync(f); err != nil {
		return l.failed(fmt.Errorf("%w: %w", atomicfile.ErrSync, err))
	}
	return nil
}

func (l *Log) failed(err error) error {
	if errors.Is(err, atomicfile.ErrSync) {
		l.dead = err
		l.o.Fatal(err)
	}
	return unavailable("write audit log", err)
}

// die is the default Fatal.
func die(err error) {
	fmt.Fprintln(os.Stderr, "claimdlq: audit log stops:", err)
	os.Exit(70)
}

func (l *Log) path(name string) string { return filepath.Join(l.dir, name) }
