// Package client calls the API of a serving claimdlq. Its types and methods are made from
// the API's document, one method an operation.
//
// A command has an Idempotency-Key of its own. Who repeats one because he does not know
// what became of it uses WithKey for both: the second gets the first answer. Nothing is
// repeated here.
//
// Errors are *Error: the problem as the server says it. errors.Is(err, claimdlq.Conflict)
// and its like tell the kinds apart. A request that gets no answer is
// claimdlq.Unavailable.
package client

//go:generate go run ../internal/clientgen api_gen.go
