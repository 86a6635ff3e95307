package config

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"claimdlq"
	"claimdlq/alert/email"
)

//go:embed example.yaml
var example []byte

// Example returns a configuration with every key, its default and what it is for,
// as a file to begin with.
func Example() []byte { return slices.Clone(example) }

// maxFile is larger than any configuration is.
const maxFile = 1 << 20

// Load reads the file at path ("" is none), then what env, as of os.Environ, says,
// then flags, whose keys are paths such as "listen" or "streams.ncpdp.target".
//
// Errors: NotFound (no such file), Unavailable (it cannot be read), Invalid (the
// configuration has faults; the text lists all of them, one a line).
func Load(path string, env []string, flags map[string]any) (Config, error) {
	if path == "" {
		return Parse("", nil, env, flags)
	}
	file, err := readFile(path)
	if err != nil {
		code := claimdlq.Unavailable
		if errors.Is(err, os.ErrNotExist) {
			code = claimdlq.NotFound
		}
		return Config{}, &claimdlq.Error{Code: code, Op: "read configuration", On: path, Err: err}
	}
	return Parse(path, file, env, flags)
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxFile+1))
}

// Parse is Load for a file that is in memory; path says where it is from. It reads
// the secrets and looks whether the folders exist.
func Parse(path string, file []byte, env []string, flags map[string]any) (Config, error) {
	r := &reader{given: map[string]*node{}, dir: filepath.Dir(path), env: variables(env), config: defaults()}
	r.x12.route, r.ncpdp.route = defaultRoute(StreamX12), defaultRoute(StreamNCPDP)
	r.x12.policy, r.ncpdp.policy = claimdlq.DefaultPolicy(), claimdlq.DefaultPolicy()

	if len(file) > maxFile {
		r.faults.add(Fault{What: "the file must not be larger than " + saysize(maxFile)})
		return Config{}, r.faults.err(path)
	}
	schema := r.schema()
	root := parseYAML(file, &r.faults)
	r.layEnv(root, schema)
	r.layFlags(root, schema, flags)
	if root.kind != none {
		schema.read(r, root)
	}
	r.finish()
	if err := r.faults.err(path); err != nil {
		return Config{}, err
	}
	return r.config, nil
}

func defaults() Config {
	return Config{
		Data: "claimdlq-data", Listen: "127.0.0.1:8837", Log: Log{Level: "info", Format: "text"},
		Intake:  Intake{MaxBody: 64 << 20, MaxWaiting: 10_000_000, MemoryPercent: 75, BatchMessages: 10_000},
		SignIn:  SignIn{Idle: 15 * time.Minute, Longest: 12 * time.Hour, ReplayClaims: 100, ReplayDollars: 10_000},
		Workers: 64, Streams: map[string]Stream{}, Partners: map[string]Route{},
		Alarms: Alarms{Every: 15 * time.Second, Rules: map[string]AlarmRule{}, Email: Email{TLS: email.StartTLS}},
	}
}

func defaultRoute(stream string) Route {
	if stream == StreamX12 {
		return Route{Stream: stream, ContentType: "application/EDI-X12", Workers: 1}
	}
	return Route{Stream: stream, ContentType: "application/x-ncpdp", IdempotentResend: true}
}

const envPrefix = "CLAIMDLQ_"

// elsewhere are variables that other parts of the program read.
var elsewhere = []string{"CLAIMDLQ_CONFIG", "CLAIMDLQ_TARGET", "CLAIMDLQ_STATUS", "CLAIMDLQ_AUTHORIZATION"}

// variables returns the environment as a map; the last of two of one name counts.
func variables(env []string) map[string]string {
	m := make(map[string]string, len(env))
	for _, kv := range env {
		if name, v, ok := strings.Cut(kv, "="); ok && v != "" {
			m[name] = v
		}
	}
	return m
}

// layEnv lays the environment over the tree.
func (r *reader) layEnv(root *node, schema object) {
	paths := map[string][]string{}
	schema.leaves(func(path []string) {
		paths[strings.ToUpper(strings.Join(path, "_"))] = path
	})
	names := sortedKeys(paths)
	referred := r.references(root)
	for _, name := range sortedKeys(r.env) {
		rest, ours := strings.CutPrefix(name, envPrefix)
		path, known := paths[rest]
		switch {
		case !ours:
		case known:
			root.set(path, r.env[name], name)
		case slices.Contains(elsewhere, name), orchestrated.MatchString(name), referred[name]:
		default:
			what := "no key has a variable of this name"
			if meant := near(rest, names); meant != "" {
				what += "; did you mean " + envPrefix + meant + "?"
			}
			r.faults.add(Fault{Where: bounded(name), What: what})
		}
	}
}

// orchestrated matches what Kubernetes makes for services whose names begin with
// claimdlq.
var orchestrated = regexp.MustCompile(`^CLAIMDLQ_(\w+_)?(SERVICE_(HOST|PORT)|PORT$|PORT_\d+_(TCP|UDP|SCTP))`)

// references returns the variables that the file or the environment names as env:NAME.
func (r *reader) references(root *node) map[string]bool {
	out := map[string]bool{}
	note := func(text string) {
		if name, ok := strings.CutPrefix(text, "env:"); ok {
			out[name] = true
		}
	}
	var walk func(n *node)
	walk = func(n *node) {
		note(n.text)
		for _, c := range n.items {
			walk(c)
		}
	}
	walk(root)
	for _, v := range r.env {
		note(v)
	}
	return out
}

// layFlags lays the command line over the tree.
func (r *reader) layFlags(root *node, schema object, flags map[string]any) {
	paths := map[string][]string{}
	schema.leaves(func(path []string) { paths[strings.Join(path, ".")] = path })
	for _, name := range sortedKeys(flags) {
		path, known := paths[name]
		if !known {
			r.faults.add(Fault{Path: bounded(name), Where: "command line", What: "there is no such key"})
			continue
		}
		root.set(path, fmt.Sprint(flags[name]), "command line")
	}
}

// bounded keeps a name fit for an error.
func bounded(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
	return s[:min(len(s), 100)]
}

func sortedSet(words []string) []string { return slices.Compact(slices.Sorted(slices.Values(words))) }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
