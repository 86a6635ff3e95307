// Package correct gives quarantined records their next payload revision.
//
// What enters: a record and a corrected document. What leaves: the record with a
// payload revision more, judged clean by the current rules and bearing their
// version, still quarantined until it is replayed. Earlier revisions
// stay in front of it in its sealed unit; nothing here sends anything.
//
// Every look at a document is in the audit log before the document is opened,
// with the name and the reason of whoever looks. The envelope (ISA, GS, ST) is
// locked: a correction changes a claim, not whose it is or where it goes.
package correct
