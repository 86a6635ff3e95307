package x12

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed names.txt
var namesText string

// nameTable is names.txt, read.
type nameTable struct{ names, entities, loops map[string]string }

var theNames = sync.OnceValue(func() nameTable {
	t := nameTable{map[string]string{}, map[string]string{}, map[string]string{}}
	for line := range strings.Lines(namesText) {
		key, name, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || key == "#" {
			continue
		}
		to := t.names
		switch key {
		case "entity", "loop":
			if to = t.entities; key == "loop" {
				to = t.loops
			}
			key, name, _ = strings.Cut(name, " ")
		}
		to[key] = strings.TrimSpace(name)
	}
	return t
})

// LoopName returns what a loop is about, such as Subscriber for 2010BA; for a loop of a
// provider, who that is depends on its NM1. Empty where it is not known.
func LoopName(loop string) string {
	t := theNames()
	if name := t.loops[loop]; name != "" || len(loop) < 4 {
		return name
	}
	return t.loops[loop[:4]]
}

// SegmentName returns what people call a segment in a loop, which may be empty:
// qualifier, which may be too, is the element that tells its uses apart. Empty where it
// has no name.
func SegmentName(loop, id, qualifier string) string {
	return about(lookUp(id, qualifier, ""), whomOf(loop), false)
}

// ElementName returns likewise what people call an element or, above 0, a component of
// it.
func ElementName(loop, id, qualifier string, element, component int) string {
	return about(nameOf(id, qualifier, element, component), whomOf(loop), false)
}

// whomOf returns whom a loop is about as far as its id alone says.
func whomOf(loop string) string { return strings.TrimSuffix(LoopName(loop), "'s level") }

func nameOf(id, qualifier string, element, component int) string {
	if component == 0 {
		return lookUp(id, qualifier, "-"+twoDigits(element))
	}
	at := Assignment{Element: element, Component: component}.position()
	if name := lookUp(id, qualifier, "-"+at); name != "" || id != "HI" {
		return name
	}
	return theNames().names["HI-"+Assignment{Element: component}.position()[1:]] // all its codes are alike
}

func lookUp(id, qualifier, at string) string {
	t := theNames()
	if qualifier != "" {
		if name := t.names[id+":"+qualifier+at]; name != "" {
			return name
		}
	}
	return t.names[id+at]
}

// about puts whom a name is about in the place of $.
func about(name, whom string, person bool) string {
	if one, other, ok := strings.Cut(name, "|"); ok {
		if name = other; person {
			name = one
		}
	}
	if whom != "" || !strings.Contains(name, "$") {
		return strings.ReplaceAll(name, "$", whom)
	}
	name = strings.TrimPrefix(strings.TrimPrefix(strings.ReplaceAll(name, "$'s", "$"), "$"), " ")
	if name == "" {
		return ""
	}
	return strings.ToUpper(name[:1]) + name[1:]
}
