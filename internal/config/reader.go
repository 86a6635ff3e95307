package config

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"

	"claimdlq"
	"claimdlq/classify"
)

// draft is a stream while it is read.
type draft struct {
	route  Route
	policy claimdlq.Policy
	folder string
}

// reader fills a configuration from a tree.
type reader struct {
	faults    faultList
	given     map[string]*node // by path: what was given, right or wrong
	dir       string           // the file's folder
	env       map[string]string
	config    Config
	x12       draft
	ncpdp     draft
	partner   *node // read after the streams
	oidc      oidcDraft
	overrides []classify.NCPDPOverride
}

func (r *reader) wrong(n *node, what string) {
	r.faults.add(n.fault(what))
}

// wrongAt names a fault of a key, on its own line where it was given.
func (r *reader) wrongAt(path, what string) {
	if n := r.given[path]; n != nil {
		r.wrong(n, what)
		return
	}
	r.faults.add(Fault{Path: path, What: what})
}

func (r *reader) isGiven(path string) bool { return r.given[path] != nil }

// missing names a key that is not there, below one that is.
func (r *reader) missing(n *node, key, what string) {
	f := n.fault(what)
	f.Path += "." + key
	r.faults.add(f)
}

// one reports whether the node is one value, and says so where it is not.
func (r *reader) one(n *node) bool {
	if n.kind != scalar {
		r.wrong(n, "must be one value")
	}
	return n.kind == scalar
}

func (l leaf) read(r *reader, n *node) {
	if !r.one(n) {
		return
	}
	if allowed := l(n.text); allowed != "" {
		r.wrong(n, allowed)
	}
}

func (p place) read(r *reader, n *node) {
	if !r.one(n) {
		return
	}
	s := r.resolve(n, n.text)
	if allowed := p.check(s); allowed != "" {
		r.wrong(n, allowed)
		return
	}
	*p.to = s
}

// resolve makes a path in the file begin at the file's folder.
func (r *reader) resolve(n *node, s string) string {
	if s == "" || !n.inFile || isURL(s) || filepath.IsAbs(s) {
		return s
	}
	return filepath.Join(r.dir, s)
}

func (o object) read(r *reader, n *node) {
	if n.kind != mapping {
		r.wrong(n, "must be a mapping; its keys are "+choices(o.names()))
		return
	}
	known := make(map[string]bool, len(o))
	for _, f := range o {
		known[f.name] = true
		if c := n.child(f.name); c != nil && c.kind != none {
			r.given[c.path] = c
			f.value.read(r, c)
		}
	}
	for _, c := range n.items {
		if known[c.name] {
			continue
		}
		what := "there is no such key"
		if meant := near(c.name, o.names()); meant != "" {
			what += "; did you mean " + meant + "?"
		} else {
			what += "; there are " + choices(o.names())
		}
		r.wrong(c, what)
	}
}

func (t table) read(r *reader, n *node) {
	if n.kind != mapping {
		r.wrong(n, "must be a mapping from names")
		return
	}
	t(r, n)
}

func (s sequence) read(r *reader, n *node) {
	if n.kind != list {
		r.wrong(n, "must be a list: lines that begin with -")
		return
	}
	s(r, n)
}

// maxSecret is longer than any secret is.
const maxSecret = 16 << 10

func (s secret) read(r *reader, n *node) {
	if !r.one(n) {
		return
	}
	var b []byte
	if name, ok := strings.CutPrefix(n.text, "env:"); ok {
		if b = []byte(r.env[name]); len(b) == 0 {
			r.wrong(n, "names a variable of the environment that is not set")
			return
		}
	} else {
		var err error
		if b, err = readSecret(r.resolve(n, n.text)); err != nil {
			r.wrong(n, "must be env: and a variable of the environment, or a file that exists, can be read and is not larger than 16KiB")
			return
		}
	}
	b = bytes.TrimRight(b, "\r\n")
	if allowed := s.check(b); allowed != "" {
		r.wrong(n, allowed)
		return
	}
	*s.to = Secret{hide(b)}
}

// readSecret reads a regular file: opening a pipe might wait for ever.
func readSecret(name string) ([]byte, error) {
	if regularFile(name) != "" {
		return nil, os.ErrInvalid
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxSecret+1))
	if err == nil && len(b) > maxSecret {
		err = os.ErrInvalid
	}
	return b, err
}
