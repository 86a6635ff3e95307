// Package foldertarget delivers parcels into a folder that an SFTP or AS2 client
// empties, and picks acknowledgments up from another.
//
// A parcel appears in the folder whole or not at all: it is written under a
// temporary name that starts with a dot, fsynced, renamed, and the folder is
// fsynced. Up to the rename nothing can have reached the payer; a rename or a
// folder fsync that fails is ambiguous, for another program may have seen the file.
package foldertarget
