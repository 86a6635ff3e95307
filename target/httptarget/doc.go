// Package httptarget delivers parcels to an HTTP endpoint, one POST each.
//
// The outcome is that of claimdlq/classify: a complete answer is judged by its
// status; a failure before the first byte of the request left is certain not to
// have arrived, and any later one is ambiguous. To know which is which the package
// counts the bytes that its own connections write, gives each delivery a
// connection of its own, and leaves the standard library nothing that it could
// send again by itself.
//
// Neither the address nor a header is in any error or outcome: both may hold
// credentials.
package httptarget
