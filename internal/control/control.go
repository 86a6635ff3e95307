package control

import (
	"context"
	"io"
	"path/filepath"

	"claimdlq"
)

// Name is the socket's name in a data directory.
const Name = "serve.sock"

// Path returns where the socket of a data directory is.
func Path(dataDir string) string { return filepath.Join(dataDir, Name) }

// Allowed are the variables of the environment that a client sends. Any other is
// left out, and the server takes no other.
var Allowed = []string{
	"CLAIMDLQ_TARGET", "CLAIMDLQ_STATUS", "NO_COLOR", "TERM", "LANG", "LC_ALL", "TZ",
}

// Request is a command line that is run for another process.
type Request struct {
	// Args is the command line without the program's name. At most 64 Ki arguments.
	Args []string `json:"args"`
	// Dir is the client's working directory: an absolute path. File arguments that
	// are relative begin there; see File.
	Dir string `json:"dir"`
	// Env holds variables of the client's environment, of the names in Allowed only.
	Env map[string]string `json:"env,omitempty"`
	// TTY says that the client's standard error is a terminal, of Width columns (0 to
	// 10,000; 0 is unknown).
	TTY   bool `json:"tty,omitempty"`
	Width int  `json:"width,omitempty"`

	// Actor is the client's login name, without a prefix, and UID its number. The server asks the
	// kernel for them; what a client sends is never looked at.
	Actor string `json:"-"`
	UID   uint32 `json:"-"`
}

// File returns a file argument as the client means it.
func (r Request) File(name string) string {
	if name == "" || name == "-" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(r.Dir, name)
}

// Streams are the client's standard streams. They are safe for concurrent use. When
// the client is gone, reading ends with an error and writing fails; after the command
// has returned both do.
type Streams struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// RunFunc runs one command line and returns its exit code, 0 to 255. It must return
// soon after ctx is cancelled; context.Cause says whether the client was interrupted
// (ErrInterrupted), is gone (ErrGone), or the server stops (ErrStopping).
type RunFunc func(ctx context.Context, r Request, s Streams) int

// Why a command's context is cancelled.
var (
	ErrInterrupted error = &claimdlq.Error{Code: claimdlq.Unavailable, Op: "run command", On: "interrupted"}
	ErrGone        error = &claimdlq.Error{Code: claimdlq.Unavailable, Op: "run command", On: "the client is gone"}
	ErrStopping    error = &claimdlq.Error{Code: claimdlq.Unavailable, Op: "run command", On: "the server stops", Hint: "give the same command again"}
)

// allowed returns what of env may be sent.
func allowed(env map[string]string) map[string]string {
	out := map[string]string{}
	for _, name := range Allowed {
		if v, ok := env[name]; ok {
			out[name] = v
		}
	}
	return out
}
