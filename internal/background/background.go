// Package background is what replay jobs and recipes have in common: they are about the
// records that somebody selects, are files of a directory, named by when they were made,
// and go on behind the answer.
package background

import (
	"crypto/rand"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"

	"claimdlq/internal/atomicfile"
)

var idForm = regexp.MustCompile(`^[0-9]{8}-[0-9]{6}-[A-Z2-7]{6}$`)

// NewID returns a time and six random characters, such as 20260718-100000-QK3T7A. In
// order of ids is in order of time, by the second.
func NewID(now time.Time) string { return now.UTC().Format("20060102-150405") + "-" + rand.Text()[:6] }

// IsID reports whether s is spelled like an id.
func IsID(s string) bool { return idForm.MatchString(s) }

// IDs returns the ids that have a file with the extension in dir, in order. It makes dir
// where it is not, and removes what a crash left half written.
func IDs(dir, ext string) (ids []string, err error) {
	if err := atomicfile.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := atomicfile.Sweep(dir); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), ext); ok && IsID(id) {
			ids = append(ids, id)
		}
	}
	return ids, err
}

// Each calls f for 0 to n-1, up to so many at a time, until one fails or stop, where it
// is not nil, says so. It returns when all that began have ended, with the first failure.
func Each(n, atOnce int, stop func() bool, f func(i int) error) error {
	var mu sync.Mutex
	var first error
	at := 0
	take := func() int {
		mu.Lock()
		defer mu.Unlock()
		if first != nil || at == n || stop != nil && stop() {
			return -1
		}
		at++
		return at - 1
	}
	var wg sync.WaitGroup
	for range min(atOnce, n) {
		wg.Go(func() {
			for i := take(); i >= 0; i = take() {
				if err := f(i); err != nil {
					mu.Lock()
					if first == nil {
						first = err
					}
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	return first
}
