package sortedrun

// DecodeBlock gives the fuzz test the entries of a block.
func DecodeBlock(b []byte) (keys []Key, values [][]byte, ok bool) {
	starts, ok := startsOf(b, nil)
	for _, start := range starts {
		e := entryAt(b, start)
		keys, values = append(keys, e.key), append(values, e.value)
	}
	return keys, values, ok
}

// AppendEntry gives the fuzz test the encoding of an entry.
func AppendEntry(b []byte, k Key, v []byte) []byte { return appendEntry(b, k, v) }

// ManifestRoundTrip decodes a manifest and encodes it again.
func ManifestRoundTrip(b []byte) (again []byte, ok bool) {
	m, ok := decodeManifest(b)
	return m.encode(), ok
}

// DecodeFooter gives the fuzz test the places in a footer.
func DecodeFooter(b []byte, number, offset uint64) (places [3]uint64, ok bool) {
	f, ok := decodeFooter(b, number, offset)
	return [3]uint64{f.indexOffset, f.indexLength, f.filterLength}, ok
}
