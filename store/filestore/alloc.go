package filestore

import "unsafe"

// The index lives outside the garbage-collected heap where it is large: a heap of
// some hundred megabytes lets as much garbage pile up before each collection, and
// the index is exactly what never becomes garbage.

// mapFrom is the size from which memory is mapped rather than made.
const mapFrom = 16 << 10

// number is what the index keeps in bulk: no pointers.
type number interface{ ~uint16 | ~uint32 | ~uint64 }

// memory is a region of zeros and how to give it back.
type memory struct {
	b      []byte
	mapped bool
}

func newMemory(n int) memory {
	if n >= mapFrom {
		if b := mapMemory(n); b != nil {
			return memory{b, true}
		}
	}
	if n == 0 {
		return memory{}
	}
	w := make([]uint64, (n+7)/8) // aligned for every number
	return memory{b: unsafe.Slice((*byte)(unsafe.Pointer(&w[0])), n)}
}

// free gives the region back; nothing may use its slices afterwards.
func (m *memory) free() {
	if m.mapped {
		unmapMemory(m.b)
	}
	*m = memory{}
}

// carve returns the next n numbers of the region from byte off on, and the offset
// behind them.
func carve[T number](m memory, off, n int) ([]T, int) {
	var z T
	size := int(unsafe.Sizeof(z))
	if n == 0 {
		return nil, off
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&m.b[off])), n), off + n*size
}

// bytesOf returns the memory of s, in the machine's byte order.
func bytesOf[T number](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(s)*int(unsafe.Sizeof(s[0])))
}
