package filestore

import (
	"slices"

	"claimdlq"
)

// hashtab finds the rows that carry a 64-bit hash. It keeps 40 bits of the hash,
// so that what it returns are candidates, to be confirmed from the journal. It is
// cut into shards that grow on their own: growing costs microseconds, and no
// moment at which everything exists twice. It is guarded by the index's lock.
type hashtab struct {
	shards [hashShards]hashShard
}

const (
	hashShards    = 256
	hashShardBits = 8
	// inlineRows is how many rows with one hash have slots of their own; more of
	// them go to a list, so that a value which everybody shares (a batch number that
	// never changes) does not fill one stretch of the table.
	inlineRows = 6
	listFlag   = 1 << 31
)

type hashShard struct {
	slots []uint64 // tag<<32 | row, or tag<<32 | listFlag | index into lists; 0 is free
	mem   memory
	n     int // slots in use
	lists [][]uint32
}

func (t *hashtab) shard(h uint64) *hashShard { return &t.shards[h>>(64-hashShardBits)] }

// home is where the search for a tag starts: tags keep their order in the table,
// so that growing it is one pass from front to back.
func home(tag uint32, n int) int { return int(uint64(tag) * uint64(n) >> 32) }

// add makes row findable by h; a second time it changes nothing.
func (t *hashtab) add(h uint64, row uint32) { t.shard(h).add(uint32(h), row) }

func (s *hashShard) add(tag, row uint32) {
	if (s.n+1)*5 > len(s.slots)*4 {
		s.resize(max(16, len(s.slots)+len(s.slots)/2))
	}
	same := 0
	i := home(tag, len(s.slots))
	for ; s.slots[i] != 0; i = s.next(i) {
		if uint32(s.slots[i]>>32) != tag {
			continue
		}
		v := uint32(s.slots[i])
		if v&listFlag != 0 {
			l := &s.lists[v&^listFlag]
			if at, found := slices.BinarySearch(*l, row); !found {
				*l = slices.Insert(*l, at, row)
			}
			return
		}
		if v == row {
			return
		}
		same++
	}
	if same == inlineRows {
		s.toList(tag, row)
		return
	}
	s.slots[i] = uint64(tag)<<32 | uint64(row)
	s.n++
}

// toList moves the rows of a tag, and one more, into a list.
func (s *hashShard) toList(tag, row uint32) {
	list := append(s.rows(tag, nil), row)
	for _, r := range list[:len(list)-1] {
		s.remove(tag, r)
	}
	slices.Sort(list)
	i := home(tag, len(s.slots))
	for s.slots[i] != 0 {
		i = s.next(i)
	}
	s.slots[i] = uint64(tag)<<32 | listFlag | uint64(len(s.lists))
	s.lists = append(s.lists, list)
	s.n++
}

func (s *hashShard) next(i int) int {
	if i++; i == len(s.slots) {
		return 0
	}
	return i
}

// rows appends the candidates for h to buf, in ascending order.
func (t *hashtab) rows(h uint64, buf []uint32) []uint32 {
	buf = t.shard(h).rows(uint32(h), buf)
	slices.Sort(buf)
	return buf
}

// fetch reads where the search for each ref starts, so that the table, which is larger than
// any cache, is waited for once for many and not once for each.
func (t *hashtab) fetch(refs []claimdlq.Ref) (sum uint64) {
	for _, ref := range refs {
		h := hashRef(ref)
		if s := t.shard(h); len(s.slots) > 0 {
			sum += s.slots[home(uint32(h), len(s.slots))]
		}
	}
	return sum
}

func (s *hashShard) rows(tag uint32, buf []uint32) []uint32 {
	if len(s.slots) == 0 {
		return buf
	}
	for i := home(tag, len(s.slots)); s.slots[i] != 0; i = s.next(i) {
		if uint32(s.slots[i]>>32) != tag {
			continue
		}
		v := uint32(s.slots[i])
		if v&listFlag != 0 {
			return append(buf, s.lists[v&^listFlag]...)
		}
		buf = append(buf, v)
	}
	return buf
}

// remove makes row no longer findable by h.
func (t *hashtab) remove(h uint64, row uint32) {
	s := t.shard(h)
	s.remove(uint32(h), row)
	if len(s.slots) > 64 && s.n*3 < len(s.slots) {
		s.resize(s.n + s.n/2)
	}
}

func (s *hashShard) remove(tag, row uint32) {
	if len(s.slots) == 0 {
		return
	}
	for i := home(tag, len(s.slots)); s.slots[i] != 0; i = s.next(i) {
		if uint32(s.slots[i]>>32) != tag {
			continue
		}
		v := uint32(s.slots[i])
		if v&listFlag != 0 {
			l := &s.lists[v&^listFlag]
			if at, found := slices.BinarySearch(*l, row); found {
				*l = slices.Delete(*l, at, at+1)
			}
			return
		}
		if v == row {
			s.clear(i)
			return
		}
	}
}

// clear frees slot i and moves back what stood behind it only because i was taken.
func (s *hashShard) clear(i int) {
	for j := s.next(i); s.slots[j] != 0; j = s.next(j) {
		h := home(uint32(s.slots[j]>>32), len(s.slots))
		if (i < j && (h <= i || h > j)) || (i > j && h <= i && h > j) {
			s.slots[i] = s.slots[j]
			i = j
		}
	}
	s.slots[i] = 0
	s.n--
}

func (s *hashShard) resize(n int) {
	n = max(n, 16)
	old, oldMem := s.slots, s.mem
	s.allocate(n)
	for _, v := range old {
		if v == 0 {
			continue
		}
		i := home(uint32(v>>32), n)
		for s.slots[i] != 0 {
			i = s.next(i)
		}
		s.slots[i] = v
	}
	oldMem.free()
}

func (s *hashShard) allocate(n int) {
	s.mem = newMemory(n * 8)
	s.slots, _ = carve[uint64](s.mem, 0, n)
}

func (t *hashtab) free() {
	for i := range t.shards {
		t.shards[i].mem.free()
		t.shards[i] = hashShard{}
	}
}
