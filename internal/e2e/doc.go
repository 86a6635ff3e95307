// Package e2e tests the built program from outside, as an operator uses it:
// whole runs against a simulated payer, kills at chosen system calls, and a
// search of everything it writes for PHI. It holds tests only.
package e2e
