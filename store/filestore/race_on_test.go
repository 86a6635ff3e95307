//go:build race

package filestore_test

// under is how much less the long tests do: the race detector makes them ten times
// slower, and what they look for is not a race.
const under = 20
