// Package archtest holds the architecture as a table: which package may import
// which, and which may see PHI. Its test compares the table with the code.
package archtest
