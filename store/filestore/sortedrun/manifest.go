package sortedrun

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"claimdlq"
)

// manifest is the list of runs, oldest first, and the number of the next. It is
// a text that people can read:
//
//	claimdlq sorted runs 1
//	next 7
//	run 3
//	run 6
//	crc32c 1a2b3c4d
type manifest struct {
	next uint64
	runs []uint64
}

const (
	manifestName = "MANIFEST"
	manifestTemp = "MANIFEST.new"
	manifestHead = "claimdlq sorted runs 1\n"
	runSuffix    = ".run"
	// maxManifest bounds what a reader allocates.
	maxManifest = 1 << 20
)

func runName(number uint64) string { return fmt.Sprintf("%08d%s", number, runSuffix) }

// isOurs reports whether a Set made the file; others are left alone.
func isOurs(name string) bool {
	digits, ok := strings.CutSuffix(name, runSuffix)
	if !ok {
		return name == manifestTemp
	}
	_, err := strconv.ParseUint(digits, 10, 64)
	return err == nil
}

func (m manifest) needs(name string) bool {
	return slices.ContainsFunc(m.runs, func(n uint64) bool { return runName(n) == name })
}

func (m manifest) encode() []byte {
	b := []byte(manifestHead)
	b = fmt.Appendf(b, "next %d\n", m.next)
	for _, n := range m.runs {
		b = fmt.Appendf(b, "run %d\n", n)
	}
	return fmt.Appendf(b, "crc32c %08x\n", crc32.Checksum(b, castagnoli))
}

// decodeManifest reads what encode wrote; ok is false for anything else.
func decodeManifest(b []byte) (m manifest, ok bool) {
	for line := range strings.Lines(string(b)) {
		word, number, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		n, err := strconv.ParseUint(number, 10, 63)
		switch {
		case word == "next" && err == nil:
			m.next = n
		case word == "run" && err == nil:
			m.runs = append(m.runs, n)
		}
	}
	if string(m.encode()) != string(b) {
		return manifest{}, false
	}
	for i, n := range m.runs {
		if n >= m.next || slices.Contains(m.runs[:i], n) {
			return manifest{}, false
		}
	}
	return m, true
}

// readManifest reads the manifest, or makes the first one where the directory
// holds no run.
func readManifest(fsys FS, dir string) (manifest, error) {
	f, err := fsys.OpenFile(filepath.Join(dir, manifestName), os.O_RDONLY, 0)
	if os.IsNotExist(err) {
		return firstManifest(fsys, dir)
	}
	if err != nil {
		return manifest{}, ioError("read manifest", manifestName, err)
	}
	defer func() { _ = f.Close() }() // opened for reading: nothing can be lost
	size, err := f.Size()
	if err != nil {
		return manifest{}, ioError("read manifest", manifestName, err)
	}
	if size > maxManifest {
		return manifest{}, corruptManifest("too long")
	}
	b := make([]byte, size)
	if n, err := f.ReadAt(b, 0); n < len(b) && !errors.Is(err, io.EOF) {
		return manifest{}, ioError("read manifest", manifestName, err)
	}
	m, ok := decodeManifest(b)
	if !ok {
		return manifest{}, corruptManifest("checksum")
	}
	return m, nil
}

func firstManifest(fsys FS, dir string) (manifest, error) {
	names, err := fsys.Names(dir)
	if err != nil {
		return manifest{}, ioError("open runs", "", err)
	}
	for _, name := range names {
		if isOurs(name) && name != manifestTemp {
			return manifest{}, corruptManifest("missing, but there are runs")
		}
	}
	m := manifest{next: 1}
	return m, m.write(fsys, dir)
}

func corruptManifest(why string) error {
	return &claimdlq.Error{Code: claimdlq.Corrupt, Op: "read manifest", On: manifestName + ": " + why, Hint: "restore the directory from a backup"}
}

// write replaces the manifest; it is durable on return.
func (m manifest) write(fsys FS, dir string) error {
	if err := fsys.SyncDir(dir); err != nil { // names of new runs
		return ioError("write manifest", manifestName, fmt.Errorf("%w: %w", ErrSync, err))
	}
	temp := filepath.Join(dir, manifestTemp)
	f, err := fsys.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return ioError("write manifest", manifestName, err)
	}
	_, err = f.WriteAt(m.encode(), 0)
	if err == nil {
		if err = f.Sync(); err != nil {
			err = fmt.Errorf("%w: %w", ErrSync, err)
		}
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = fsys.Rename(temp, filepath.Join(dir, manifestName))
	}
	if err != nil {
		return ioError("write manifest", manifestName, err)
	}
	if err := fsys.SyncDir(dir); err != nil {
		return ioError("write manifest", manifestName, fmt.Errorf("%w: %w", ErrSync, err))
	}
	return nil
}
