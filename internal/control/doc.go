// Package control lets another process run a command line inside the process that
// has a data directory: a directory belongs to one process at a time, and while
// `serve` has it every other verb must still work.
//
// The way between them is a unix socket, serve.sock, in the data directory. Only the
// user whose process serves, and root, may connect; who acts is what the kernel says
// of the other side, never what the other side says. A command's standard input is
// fetched when the command reads it; its output is passed on as it is written, and
// waits where nobody reads it. When the client is interrupted or dies, the command's
// context is cancelled; when the server stops, so are all of them, and each still
// ends with an exit code.
//
// # Protocol
//
// A frame is one byte, its kind; four bytes, the length of what follows, the highest
// first; and that, at most MaxFrame bytes. The client begins with a frame of kind
// request (its own bound is MaxRequest): a byte, the version of the protocol, and the
// Request as JSON. Then the
// client sends input (some standard input; an empty one is its end) after each want
// of the server, and cancel at any time; the server sends output, errors (standard
// error) and want, and at last exit (one byte) or refuse (why, as text). Anything
// else ends the connection. Nothing is logged: a command line may name a claim.
package control
