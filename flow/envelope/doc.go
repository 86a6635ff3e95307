// Package envelope makes what goes out: the numbers on the outside of a
// submission, the bytes inside it, and the document of one record that a person
// may look at. It decides nothing about records; the stages do.
//
// A sealed unit is one transaction set with its context: ISA, GS, and ST to SE as
// received, without trailers. A claim that parted points at its set's unit until
// it is corrected; a corrected payload is a complete small interchange.
package envelope
