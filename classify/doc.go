// Package classify turns what the other side said into what it means for the
// claim: a result, a class, a reason, and the outcome the flow acts on. It is
// pure; what the codes mean is data (x12.tsv), versioned with this package.
package classify
