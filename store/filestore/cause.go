package filestore

import (
	"cmp"

	"claimdlq"
	"claimdlq/store"
)

// causeKey is what records are filtered, grouped and counted by.
type causeKey struct {
	state    claimdlq.State
	reason   claimdlq.Reason
	format   claimdlq.Format
	rejected bool
	detail   claimdlq.Detail
	partner  string
	stream   string
}

func causeOf(r *claimdlq.Record) causeKey {
	return causeKey{
		state: r.State, reason: r.Reason, format: r.Format,
		rejected: r.Disposition == claimdlq.Rejected && r.State == claimdlq.StateSettled,
		detail:   r.Detail, partner: r.Partner, stream: r.Stream,
	}
}

// matches reports whether records of the cause pass the filter, age aside.
func (k *causeKey) matches(f *store.Filter) bool {
	return (f.State == 0 || k.state == f.State) &&
		(f.Reason == claimdlq.ReasonNone || k.reason == f.Reason) &&
		(f.Detail.IsZero() || k.detail == f.Detail) &&
		(f.Partner == "" || k.partner == f.Partner) &&
		(f.Stream == "" || k.stream == f.Stream) &&
		(f.Format == nil || k.format == *f.Format)
}

// cause counts the records that share a causeKey, and holds the bitmaps they are in.
type cause struct {
	causeKey
	records, claims int64
	oldest          oldest
	changes         uint64 // raised when a record comes or goes
	slot            streamSlot
	watch           int8 // place of its state among the watched, or -1
	// released is the number of the cause that a release leads to, and one more; 0 is not
	// known yet.
	released uint32
	// next is likewise the one that a record went to last: the next mostly goes there too.
	next  uint32
	group uint32 // number of its store.Group: causes of one group differ in format and disposition
	dims  [dimCount]*bitmap
}

// The dimensions that have bitmaps.
const (
	dimState = iota
	dimReason
	dimFormat
	dimDetail
	dimPartner
	dimStream
	dimCount
)

// causes interns causeKeys and keeps a bitmap for every value of a dimension.
type causes struct {
	ids    map[causeKey]uint32
	list   []*cause
	groups map[store.Group]uint32
	dims   [dimCount]map[any]*bitmap
}

func newCauses() causes {
	c := causes{ids: map[causeKey]uint32{}, groups: map[store.Group]uint32{}}
	for i := range c.dims {
		c.dims[i] = map[any]*bitmap{}
	}
	return c
}

// id returns the number of the cause, which it makes if there is none.
func (c *causes) id(k causeKey) uint32 {
	if id, ok := c.ids[k]; ok {
		return id
	}
	n := &cause{causeKey: k, slot: slotOf(k.stream), watch: watched(k.state)}
	key := groupKey(&k)
	group, ok := c.groups[key]
	if !ok {
		group = uint32(len(c.groups))
		c.groups[key] = group
	}
	n.group = group
	for d, v := range k.values() {
		if v == nil {
			continue
		}
		b := c.dims[d][v]
		if b == nil {
			b = &bitmap{}
			c.dims[d][v] = b
		}
		n.dims[d] = b
	}
	id := uint32(len(c.list))
	c.list = append(c.list, n)
	c.ids[k] = id
	return id
}

// after returns the number of the cause of a record that was of another before.
func (c *causes) after(before uint32, k *causeKey) uint32 {
	from := c.list[before]
	if from.next == 0 || c.list[from.next-1].causeKey != *k {
		from.next = c.id(*k) + 1
	}
	return from.next - 1
}

// values returns the value in each dimension, nil where no filter can ask for it.
func (k *causeKey) values() (v [dimCount]any) {
	v[dimState], v[dimFormat] = k.state, k.format
	if k.reason != claimdlq.ReasonNone {
		v[dimReason] = k.reason
	}
	if !k.detail.IsZero() {
		v[dimDetail] = k.detail
	}
	if k.partner != "" {
		v[dimPartner] = k.partner
	}
	if k.stream != "" {
		v[dimStream] = k.stream
	}
	return v
}

// wanted returns the bitmaps that a record must be in to pass the filter; ok is
// false if no record can.
func (c *causes) wanted(f *store.Filter) (sets []*bitmap, ok bool) {
	k := causeKey{state: f.State, reason: f.Reason, detail: f.Detail, partner: f.Partner, stream: f.Stream}
	values := k.values()
	values[dimFormat] = nil
	if f.State == 0 {
		values[dimState] = nil
	}
	if f.Format != nil {
		values[dimFormat] = *f.Format
	}
	for d, v := range values {
		if v == nil {
			continue
		}
		b := c.dims[d][v]
		if b == nil || len(b.blocks) == 0 {
			return nil, false
		}
		sets = append(sets, b)
	}
	return sets, true
}

func compareGroups(a, b *store.Group) int {
	return cmp.Or(
		cmp.Compare(b.Records, a.Records), cmp.Compare(a.State, b.State), cmp.Compare(a.Reason, b.Reason),
		cmp.Compare(a.Detail.String(), b.Detail.String()), cmp.Compare(a.Partner, b.Partner), cmp.Compare(a.Stream, b.Stream))
}
