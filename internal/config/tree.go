package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The tree is the layers laid over each other, each value as it is spelled: YAML's
// own types would read the partner 012345 as the number 5349.

type kind uint8

const (
	none kind = iota // nothing was given: a key without a value
	scalar
	mapping
	list
)

// node is one value and where it comes from.
type node struct {
	name   string // of the key
	path   string
	where  string
	line   int  // in the file; 0 elsewhere
	inFile bool // paths begin at the file's folder
	kind   kind
	text   string  // of a scalar
	items  []*node // of a mapping, in order, or a list
	index  map[string]*node
}

// at says on which line of the file the node is.
func (n *node) at(line int) { n.line, n.where = line, fmt.Sprintf("line %d", line) }

func (n *node) fault(what string) Fault {
	return Fault{Path: n.path, Where: n.where, What: what, line: n.line}
}

// maxDepth is deeper than any key is.
const maxDepth = 12

func (n *node) child(name string) *node {
	if n == nil {
		return nil
	}
	return n.index[name]
}

func (n *node) add(c *node) {
	if n.index == nil {
		n.index = map[string]*node{}
	}
	n.index[c.name] = c
	n.items = append(n.items, c)
}

var plainKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// under returns the path of a key in a mapping. A key that is no plain word is
// quoted; what cannot be a key at all may be a value in the wrong place, and is
// not shown.
func under(path, name string) string {
	switch {
	case len(name) > 64 || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r > '~' || r == '"' }):
		name = "?"
	case !plainKey.MatchString(name):
		name = `"` + name + `"`
	}
	if path == "" {
		return name
	}
	return path + "." + name
}

// parseYAML returns the tree of a file, and what is wrong with its form.
func parseYAML(file []byte, faults *faultList) *node {
	root := &node{kind: none, inFile: true}
	d := yaml.NewDecoder(bytes.NewReader(file))
	var doc, more yaml.Node
	switch err := d.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return root
	case err != nil:
		faults.add(Fault{What: "not readable as YAML: " + yamlFault(err)})
		return root
	}
	if err := d.Decode(&more); !errors.Is(err, io.EOF) {
		faults.add(Fault{What: "there must be one YAML document, and nothing behind it"})
	}
	if doc.Kind == yaml.DocumentNode && len(doc.Content) == 1 {
		b := builder{faults}
		b.fill(root, doc.Content[0], 0)
	}
	return root
}

var yamlLine = regexp.MustCompile(`line \d+`)

// yamlFault says where the parser stopped. Its own words may quote the file.
func yamlFault(err error) string {
	at := yamlLine.FindString(err.Error())
	if at == "" {
		return "look at the indentation, the colons and the quotes"
	}
	return "look at the indentation, the colons and the quotes near " + at
}

type builder struct{ faults *faultList }

func (b builder) wrong(n *node, what string) {
	b.faults.add(n.fault(what))
}

// fill makes a node of a YAML node.
func (b builder) fill(n *node, y *yaml.Node, depth int) {
	if n.line == 0 {
		n.at(y.Line)
	}
	if depth > maxDepth {
		b.wrong(n, "is too deep: no key is there")
		return
	}
	if y.Kind == yaml.AliasNode || y.Anchor != "" {
		b.wrong(n, "anchors and aliases are not read: write the value out")
		return
	}
	if y.Style&yaml.TaggedStyle != 0 {
		b.wrong(n, "tags are not read: write the value alone")
		return
	}
	switch y.Kind {
	case yaml.ScalarNode:
		if y.ShortTag() == "!!null" {
			return
		}
		n.kind, n.text = scalar, y.Value
	case yaml.SequenceNode:
		n.kind = list
		for i, item := range y.Content {
			c := &node{path: fmt.Sprintf("%s[%d]", n.path, i), inFile: true}
			b.fill(c, item, depth+1)
			n.items = append(n.items, c)
		}
	case yaml.MappingNode:
		n.kind = mapping
		b.mapping(n, y, depth)
	default:
	}
}

func (b builder) mapping(n *node, y *yaml.Node, depth int) {
	for i := 0; i+1 < len(y.Content); i += 2 {
		key := y.Content[i]
		c := &node{name: key.Value, path: under(n.path, key.Value), inFile: true}
		c.at(key.Line)
		if key.Kind != yaml.ScalarNode || key.Anchor != "" || key.Style&yaml.TaggedStyle != 0 {
			c.path = under(n.path, "?")
			b.wrong(c, "a key is one plain word")
			continue
		}
		if first := n.child(c.name); first != nil {
			b.wrong(c, "is given twice; the first is on "+first.where)
			continue
		}
		b.fill(c, y.Content[i+1], depth+1)
		n.add(c)
	}
}

// set lays a value over the tree. Where something else than a mapping is in the
// way, that is left: it is a fault that will be found.
func (n *node) set(path []string, text, where string) {
	at := n
	for _, name := range path {
		switch at.kind {
		case none:
			at.kind = mapping
		case mapping:
		default:
			return
		}
		next := at.child(name)
		if next == nil {
			next = &node{name: name, path: under(at.path, name), where: where}
			at.add(next)
		}
		at = next
	}
	at.where, at.line, at.inFile = where, 0, false
	at.kind, at.text, at.items, at.index = scalar, text, nil, nil
}
