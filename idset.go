package claimdlq

import (
	"iter"
	"strconv"
)

// IDSet is a set of record ids in ascending order, written as runs: "12-511,513". So
// it is kept, logged and compared as it is. The zero IDSet is empty.
type IDSet string

// NewIDSet returns the set of ids, which must ascend.
func NewIDSet(ids iter.Seq[ID]) IDSet {
	var b []byte
	first, last := ID(0), ID(0)
	put := func() {
		if first == 0 {
			return
		}
		if len(b) > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendUint(b, uint64(first), 10)
		if last > first {
			b = strconv.AppendUint(append(b, '-'), uint64(last), 10)
		}
	}
	for id := range ids {
		if id == last+1 && first != 0 {
			last = id
			continue
		}
		put()
		first, last = id, id
	}
	put()
	return IDSet(b)
}

// Runs yields the runs of the set, in order, up to the first that is none.
func (s IDSet) Runs() iter.Seq[IDRange] {
	return func(yield func(IDRange) bool) {
		for text, last := string(s), ID(0); text != ""; {
			r, rest, ok := cutRun(text)
			if !ok || r.First <= last || !yield(r) {
				return
			}
			text, last = rest, r.Last
		}
	}
}

// cutRun reads the run that begins the text, and what follows its comma.
func cutRun(text string) (r IDRange, rest string, ok bool) {
	if r.First, rest, ok = cutID(text); !ok {
		return r, rest, false
	}
	r.Last = r.First
	if len(rest) > 0 && rest[0] == '-' {
		if r.Last, rest, ok = cutID(rest[1:]); !ok || r.Last <= r.First {
			return r, rest, false
		}
	}
	if rest == "" {
		return r, "", true
	}
	return r, rest[1:], rest[0] == ',' && len(rest) > 1
}

func cutID(text string) (id ID, rest string, ok bool) {
	n := 0
	for n < len(text) && n < 19 && text[n] >= '0' && text[n] <= '9' {
		id = id*10 + ID(text[n]-'0')
		n++
	}
	return id, text[n:], n > 0 && text[0] != '0'
}

// Valid reports whether the text is a set as NewIDSet writes it.
func (s IDSet) Valid() bool {
	end, last := string(s), ID(0)
	for end != "" {
		r, rest, ok := cutRun(end)
		if !ok || (last > 0 && r.First <= last+1) {
			return false
		}
		end, last = rest, r.Last
	}
	return true
}

// Has reports whether the id is in the set.
func (s IDSet) Has(id ID) bool {
	for r := range s.Runs() {
		if id <= r.Last {
			return id >= r.First
		}
	}
	return false
}

// First returns the lowest id, 0 where there is none.
func (s IDSet) First() ID {
	for r := range s.Runs() {
		return r.First
	}
	return 0
}

// Len returns how many ids are in the set.
func (s IDSet) Len() (n int) {
	for r := range s.Runs() {
		n += int(r.Last-r.First) + 1
	}
	return n
}
