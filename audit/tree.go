package audit

import (
	"crypto/sha256"
	"math/bits"

	"golang.org/x/mod/sumdb/tlog"
)

// tree is the right edge of the Merkle tree over n leaves: the roots of its full
// subtrees, largest first. It grows in constant memory.
type tree struct {
	n     int64
	edge  []tlog.Hash
	fresh []tlog.Hash // scratch of add
}

// add appends a leaf and returns the hashes to store for it, in the order of
// tlog.StoredHashIndex: the leaf, then each subtree that it completes. They are
// valid until the next call.
func (t *tree) add(leaf tlog.Hash) []tlog.Hash {
	t.fresh = append(t.fresh[:0], leaf)
	for range bits.TrailingZeros64(uint64(t.n + 1)) {
		leaf = node(t.edge[len(t.edge)-1], leaf)
		t.edge = t.edge[:len(t.edge)-1]
		t.fresh = append(t.fresh, leaf)
	}
	t.edge = append(t.edge, leaf)
	t.n++
	return t.fresh
}

// node returns the hash of an interior node (RFC 6962, section 2.1): tlog.NodeHash with
// one call to the hash instead of four.
func node(left, right tlog.Hash) tlog.Hash {
	var b [1 + 2*tlog.HashSize]byte
	b[0] = nodePrefix
	copy(b[1:], left[:])
	copy(b[1+tlog.HashSize:], right[:])
	return sha256.Sum256(b[:])
}

// root returns the root hash of the tree (RFC 6962, section 2.1).
func (t *tree) root() tlog.Hash {
	if len(t.edge) == 0 {
		h, _ := tlog.TreeHash(0, nil)
		return h
	}
	h := t.edge[len(t.edge)-1]
	for i := len(t.edge) - 2; i >= 0; i-- {
		h = node(t.edge[i], h)
	}
	return h
}

// clone returns an independent copy.
func (t *tree) clone() tree {
	return tree{n: t.n, edge: append([]tlog.Hash(nil), t.edge...)}
}

// load returns the tree of size n from stored hashes.
func load(n int64, r tlog.HashReader) (tree, error) {
	var index []int64
	done := int64(0)
	for level := bits.Len64(uint64(n)) - 1; level >= 0; level-- {
		if size := int64(1) << level; n&size != 0 {
			index = append(index, tlog.StoredHashIndex(level, done>>level))
			done += size
		}
	}
	if len(index) == 0 {
		return tree{}, nil
	}
	edge, err := r.ReadHashes(index)
	return tree{n: n, edge: edge}, err
}
