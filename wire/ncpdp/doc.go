// Package ncpdp reads, judges, keys, cuts and builds pharmacy claims in the NCPDP
// Telecommunication standard: requests and responses of version D.0, of 5.1 for
// reading, and files of them in the Batch standard 1.2. Version F6 is recognised
// and routed, never decoded: its header is not public.
//
// # Shape of a message
//
// A request has a header of 56 bytes, a response one of 31. Segments follow, each
// after a 0x1E; fields, each after a 0x1C, beginning with AM, the segment's id.
// A 0x1D begins a transaction; what stands before the first belongs to all of them.
// STX and ETX may surround it all.
//
// # Reading
//
// Parse cuts a message into segments and fields without copying or judging; what
// it does not know it keeps, so the bytes that came in are the bytes that are
// stored. Validate judges. Nothing in the input makes either panic. Amounts and
// quantities are exact integers with a scale, never floating point.
//
// # PHI
//
// Every value is PHI by suspicion. A Fault holds a code, a place and the ids of
// segments and fields that the standard knows; never a byte of the message.
package ncpdp
