package ncpdp

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed names.txt
var namesText string

var theNames = sync.OnceValue(func() map[string]string {
	t := map[string]string{}
	for line := range strings.Lines(namesText) {
		if id, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok && id != "#" {
			t[id] = name
		}
	}
	return t
})

// SegmentTitle returns what people call a segment, such as Patient for 01. Empty for one
// that the standard has not.
func SegmentTitle(id string) string { return theNames()["AM"+id] }

// FieldTitle returns what people call a field: its number, its id and its name, such as
// 407-D7 Product/Service ID. Empty for one that the dictionary has not.
func FieldTitle(id string) string {
	d, ok := Lookup(IDOf(id))
	if !ok {
		return ""
	}
	return strings.TrimSpace(d.Number + "-" + id + " " + theNames()[id])
}
