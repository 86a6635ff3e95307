package cli

import (
	"io"
	"os"

	"github.com/schollz/progressbar/v3"
)

// bar returns a progress bar on standard error, or nothing to see where standard
// error is no terminal. max below 0 is unknown.
func (s *session) bar(what string, limit int64, bytes bool) *progressbar.ProgressBar {
	w := io.Discard
	if s.onTerminal() {
		w = s.env.Stderr
	}
	o := []progressbar.Option{
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription(what),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionThrottle(100e6),
		progressbar.OptionSetWidth(30),
		progressbar.OptionShowCount(),
		progressbar.OptionSetSpinnerChangeInterval(0), // no goroutine: it turns when something was done
	}
	if bytes {
		o = append(o, progressbar.OptionShowBytes(true))
	}
	return progressbar.NewOptions64(limit, o...)
}

// sizeOf returns the size of a regular file, or -1.
func sizeOf(r io.Reader) int64 {
	f, ok := r.(*os.File)
	if !ok {
		return -1
	}
	if fi, err := f.Stat(); err == nil && fi.Mode().IsRegular() {
		return fi.Size()
	}
	return -1
}
