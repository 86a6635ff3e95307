package x12

// Numbers replace what identifies an interchange. A zero field keeps what the
// unit has.
type Numbers struct {
	ISA13, GS06 uint32 // 1 to 999999999
	ST02        string // 4 to 9 characters
	BHT03       string // at most 50 characters
	Date, Time  string // CCYYMMDD and HHMM, for ISA09/10 and GS04/05
}
