// Package web is the console: its pages as they were built, in the program, and the
// handler that serves them, and the runbooks under /docs. It is a client of the API like any other and holds no
// data. Its source is in ui; `make console` builds it anew.
package web

import (
	"bytes"
	"crypto/rand"
	"embed"
	"encoding/base64"
	"io/fs"
	"net/http"
	"path"
	"strings"

	"claimdlq"
	"claimdlq/docs"
)

//go:embed all:dist
var dist embed.FS

// placeholder is where the page has the nonce of its Content-Security-Policy.
const placeholder = "CSP_NONCE"

// policy lets the page load what comes from its own origin and nothing else. Style
// elements that the page makes have the nonce.
const policy = "default-src 'none'; script-src 'self' 'nonce-" + placeholder + "'; style-src 'self' 'nonce-" + placeholder + "'; " +
	"img-src 'self' data:; connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Handler serves the console at / and below: built files under /assets, which may be
// kept for ever because their names change with them, and the page for every other
// path, which is kept by nobody. It answers GET and HEAD. It sets of the headers that
// guard an answer only those that differ from what who serves it sets on every one: what
// the page may load, and what may be kept. Errors: Internal, if the program was built
// without the pages.
func Handler() (http.Handler, error) {
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		return nil, &claimdlq.Error{Code: claimdlq.Internal, Op: "open console", Err: err}
	}
	page, err := fs.ReadFile(files, "index.html")
	if err != nil {
		return nil, &claimdlq.Error{Code: claimdlq.Internal, Op: "open console", Hint: "build it (make console), then the program", Err: err}
	}
	static := http.FileServerFS(files)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "the console is read with GET", http.StatusMethodNotAllowed)
			return
		}
		name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
		if book, ok := strings.CutPrefix(name, "docs/"); ok {
			serveRunbook(w, book)
			return
		}
		if info, err := fs.Stat(files, name); err == nil && !info.IsDir() && name != "index.html" {
			w.Header().Set("Cache-Control", cacheOf(name))
			static.ServeHTTP(w, r)
			return
		}
		if strings.HasPrefix(name, "assets/") {
			http.NotFound(w, r)
			return
		}
		servePage(w, page)
	}), nil
}

// serveRunbook answers with a runbook, as text.
func serveRunbook(w http.ResponseWriter, name string) {
	b, err := fs.ReadFile(docs.Runbooks, name)
	if err != nil {
		http.Error(w, "there is no such runbook", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write(b) //nolint:gosec // a file of the program, as plain text
}

// cacheOf says how long a browser may keep a file.
func cacheOf(name string) string {
	if strings.HasPrefix(name, "assets/") {
		return "public, max-age=31536000, immutable"
	}
	return "public, max-age=3600"
}

// servePage answers with the page, under a nonce of its own.
func servePage(w http.ResponseWriter, page []byte) {
	b := make([]byte, 18)
	_, _ = rand.Read(b) // it never fails
	nonce := base64.RawStdEncoding.EncodeToString(b)
	h := w.Header()
	h.Set("Content-Security-Policy", strings.ReplaceAll(policy, placeholder, nonce))
	h.Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(bytes.ReplaceAll(page, []byte(placeholder), []byte(nonce)))
}
