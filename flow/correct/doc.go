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
//
// A pharmacy document is one transaction alone in its message, cut out of the
// transmission it came in. Locked is which fill it is about: 103-A3, 201-B1, 202-B2,
// 401-D1, 402-D2 and 455-EM, by which its answers and reversals find it. Where it goes,
// 101-A1 and 104-A4, may be what was wrong, and the record's partner follows.
package correct
