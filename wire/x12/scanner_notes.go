package x12

import "math/bits"

// noteSet is a set of things tolerated in an interchange.
type noteSet uint16

const (
	noteZeroNumber noteSet = 1 << iota
	noteLetterRepetition
	noteWrapped
	notePaddedCount
	notePaddedNumber
	noteLineBreaks
	noteIndented
	noteEmptySegment
	noteLastTerminator
	noteTA1Counted
	noteTA1Unpadded
)

// noteNames are the rule names of the notes, in the order of their bits.
var noteNames = [...]string{
	"ISA13_ZERO", "ISA11_LETTER", "WRAPPED", "PADDED_COUNT", "PADDED_NUMBER", "LINE_BREAKS", "INDENTED",
	"EMPTY_SEGMENT", "LAST_TERMINATOR", "TA1_COUNTED_AS_GROUP", "TA101_UNPADDED",
}

func (n *noteSet) add(m noteSet) { *n |= m }

// names returns the names of the notes in the set; nil if it is empty.
func (n noteSet) names() (out []string) {
	for m := uint16(n); m != 0; m &= m - 1 {
		out = append(out, noteNames[bits.TrailingZeros16(m)])
	}
	return out
}
