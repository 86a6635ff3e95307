package ncpdp

// Change is one difference between two messages, without any value.
type Change struct {
	Transaction int    `json:"transaction"` // from 1; 0 before the first
	Segment     string `json:"segment"`     // empty in the header
	Field       string `json:"field"`       // empty where a whole segment came or went
	Occurrence  int    `json:"occurrence"`  // from 1, of the field in its segment
	Kind        string `json:"kind"`        // changed, added or removed
	OldLen      int    `json:"old_len"`
	NewLen      int    `json:"new_len"`
}

// The kinds of a Change.
const (
	Changed = "changed"
	Added   = "added"
	Removed = "removed"
)

// placed is where a field stands: its transaction and segment, the place of that
// among others like it, and the same for the field. A whole segment has no field.
type placed struct {
	transaction    uint8
	segment, field ID
	nth, occ       uint32
}

// Difference is a Change with what was there and what is there now: PHI.
type Difference struct {
	Change
	Old, New string
}

// Diff says in which fields two messages differ, for a person who approves a
// correction and may not see the claim: where and how long, never what. A field
// that only moved within its segment is no difference. Errors: Invalid where one
// of them cannot be read.
func Diff(a, b []byte) ([]Change, error) {
	ds, err := Differences(a, b)
	if err != nil || len(ds) == 0 {
		return nil, err
	}
	out := make([]Change, len(ds))
	for i := range ds {
		out[i] = ds[i].Change
	}
	return out, nil
}

// Differences is Diff with the values.
func Differences(a, b []byte) ([]Difference, error) {
	old, now := Parse(a), Parse(b)
	for _, m := range []*Message{old, now} {
		if err := m.Err(); err != nil {
			return nil, err
		}
	}
	var out []Difference
	for _, id := range []string{"A1", "A2", "A3", "A4", "A9", "F1", "B2", "B1", "D1", "AK"} {
		x, y := trim(old.at(headerFields[id])), trim(now.at(headerFields[id]))
		if string(x) != string(y) {
			out = append(out, Difference{Change{Field: id, Occurrence: 1, Kind: Changed, OldLen: len(x), NewLen: len(y)}, text(x), text(y)})
		}
	}
	was, gone := old.places()
	is, order := now.places()
	for _, p := range order {
		v, had := was[p]
		switch {
		case !had:
			out = append(out, p.difference(Added, nil, is[p]))
		case string(v) != string(is[p]):
			out = append(out, p.difference(Changed, v, is[p]))
		}
	}
	for _, p := range gone {
		if _, stays := is[p]; !stays {
			out = append(out, p.difference(Removed, was[p], nil))
		}
	}
	return out, nil
}

func (p placed) difference(kind string, before, after []byte) Difference {
	return Difference{p.change(kind, len(before), len(after)), text(before), text(after)}
}

func (p placed) change(kind string, before, after int) Change {
	c := Change{
		Transaction: int(p.transaction), Segment: segmentName(p.segment), Occurrence: int(p.occ),
		Kind: kind, OldLen: before, NewLen: after,
	}
	if p.field != idAM {
		c.Field = p.field.String()
	}
	return c
}

// places returns every segment and field with its value, and their order.
func (m *Message) places() (values map[placed][]byte, order []placed) {
	values = make(map[placed][]byte)
	count := make(map[placed]uint32)
	next := func(p placed) uint32 {
		count[p]++
		return count[p]
	}
	put := func(p placed, v []byte) {
		values[p] = v
		order = append(order, p)
	}
	for _, s := range m.segments {
		p := placed{transaction: s.Transaction, segment: s.ID, field: idAM}
		p.nth = next(p)
		put(p, nil)
		for _, f := range m.Fields(s) {
			p.field, p.occ = f.ID, 0
			p.occ = next(p)
			put(p, m.Value(f))
		}
	}
	return values, order
}
