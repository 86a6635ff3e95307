package web_test

import (
	"compress/gzip"
	"io/fs"
	"os"
	"testing"
)

// counter counts what is written to it.
type counter int

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

// gzipped returns how many bytes all files under dir are, each compressed.
func gzipped(t *testing.T, dir string) int {
	t.Helper()
	var n counter
	root := os.DirFS(dir)
	err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(root, path)
		if err != nil {
			return err
		}
		z := gzip.NewWriter(&n)
		if _, err := z.Write(b); err != nil {
			return err
		}
		return z.Close()
	})
	if err != nil {
		t.Fatal(err)
	}
	return int(n)
}
