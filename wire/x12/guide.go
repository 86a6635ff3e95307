package x12

import "claimdlq"

// A guide is one implementation guide, compiled for walking: every possible step
// from one segment to the next is in one table.
type guide struct {
	name     string
	format   claimdlq.Format
	versions []string // ST03 and GS08 values that choose it

	nodes []guideNode
	loops []loopDef
	els   []elRule
	rels  []relation
	codes []uint64 // packed code values that elements point at

	// steps[node*segments+segment] is where in cands its candidates are.
	steps    []span
	cands    []cand
	segments int
	// quals has, for each segment, the element that tells its uses apart.
	quals []segQual
	// anywhere has, for each segment, the nodes that are that segment.
	anywhere [][]uint16
	footer   uint16 // the SE
}

// segQual is the qualifier of a segment: element el, or its first component.
type segQual struct {
	el   uint8 // 0: it has none
	comp bool
}

type span struct{ at, n uint16 }

// scope says which claims a fault spoils.
type scope uint8

const (
	scopeHeader scope = iota // the whole set
	scopeProvider
	scopeSubscriber
	scopePatient
	scopeClaim
)

// A loopDef is a loop. Its children are counted by their index.
type loopDef struct {
	id       string
	parent   uint16
	first    uint16 // the node that opens it
	child    uint8  // its index among its parent's children
	depth    uint8
	children uint8
	pos      uint16 // place among its parent's children; equal where any order goes
	max      uint16
	required bool
	scope    scope
	needs    uint64 // bits of its required children
	self     uint64 // bits of those required where the subscriber is the patient
	bit      uint64 // its bit in the needs of its parent; 0 if not required
	before   uint64 // bits of its parent's required children that must come earlier
}

// A guideNode is one use of a segment in a loop.
type guideNode struct {
	loop      uint16
	pos       uint16
	max       uint16
	seg       uint8 // index of its segment
	child     uint8 // index among its loop's children
	opens     bool  // it is the first of its loop
	required  bool
	act       act
	nEls      uint8
	needed    uint8 // the last required element; 0 if none is
	nRels     uint8
	qualified bool // by quals, the values that its segment's qualifier may have
	els       uint16
	rels      uint16
	quals     span
	bit       uint64 // its bit in the needs of its loop; 0 if not required
	before    uint64 // bits of required children that must come earlier
}

// A cand is a node that may follow, and how many loops must be left for it.
type cand struct {
	code uint64 // the first value of its qualifier
	node uint16
	up   uint8
	also bool // the qualifier has other values too
	free bool // it has none
}

type elType uint8

const (
	typeAN elType = iota
	typeID
	typeN // N0 to N9
	typeR
	typeDT
	typeTM
	typeQ // named by the element before it
	typeComposite
)

type usage uint8

const (
	situational usage = iota
	required
	notUsed
)

// plain says how an element may be seen to be right at a glance.
type plain uint8

const (
	plainNever  plain = iota
	plainText         // if its length is right
	plainCode         // if it is in the list
	plainDigits       // if it is digits, and at most eight
	plainDay          // if it is a day CCYYMMDD
	plainForm         // likewise, if the element before it is D8
	plainParts        // a composite: if its components are
)

// elRule is what a guide asks of an element or a component.
type elRule struct {
	plain    plain
	needed   uint8  // of a composite: its last required component; 0 if none is
	width    uint16 // max less min
	codes    span   // in guide.codes; n 0 allows any
	comps    span   // in guide.els, of a composite
	min, max uint16
	repeat   uint16
	typ      elType
	usage    usage
}

// A relation ties elements of one segment together.
type relation struct {
	kind  byte // P R E C L U
	n     uint8
	els   [8]uint8
	mask  uint64 // bits of els
	first uint64 // the bit of the first
}

// act is what the judge does beyond the tables when it meets a node.
type act uint8

const (
	actNone act = iota
	actBHT
	actHL
	actSBR
	actName // an NM1: it may have a national provider identifier
	actBilling
	actPayer
	actSubscriber
	actPatient
	actBirth // DMG
	actClaim
	actClaimDate
	actClaimRef
	actDiagnoses // HI
	actLine
	actService // SV1, SV2, SV3
	actLineDate
)

const (
	maxDepth    = 8  // of nested loops; the 837 needs six
	maxChildren = 96 // of one loop
)

// npiStatus returns the 277CA status that a wrong provider identifier earns: 562,
// with the entity that the name is of.
func (g *guide) npiStatus(n *guideNode) string {
	if n.quals.n == 1 {
		if q := g.codes[n.quals.at]; q>>16 == 0 {
			return "A7:562:" + string([]byte{byte(q), byte(q >> 8)})
		}
	}
	return "A7:562"
}
