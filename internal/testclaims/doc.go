// Package testclaims writes synthetic 837 professional, institutional and
// dental interchanges: clean ones that strict rules accept, and ones with chosen
// faults in chosen places. Nothing in them is about a real person: names say
// TEST, provider ids are made up (with a right check digit), and the seed decides
// everything, so that the same Options give the same bytes.
//
// Canary files carry a distinctive mark in every field that could hold protected
// health information. After a test, whatever holds a mark outside the vault has
// leaked it; see Marks.
package testclaims
