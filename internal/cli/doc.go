// Package cli is the command line: one file per verb, no logic of its own.
//
// Standard output is the result, standard error the talk. With --json every
// result is JSON whose fields are a contract (docs/cli-json.md). Exit codes are
// one table, in exit.go.
//
// # Adding a verb
//
// Write one file with a constructor of type verb, for example
//
//	func newGenerate(s *session) *cobra.Command
//
// and add it to the list in verbs.go. A verb gets everything from its session:
// s.env for streams and the clock, s.open(ctx) for the data directory, and
// s.printJSON or s.table for its result. It returns an error and never
// exits: usagef for a wrong call, a *claimdlq.Error for the rest.
package cli
