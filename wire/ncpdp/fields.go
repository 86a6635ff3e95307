package ncpdp

import (
	_ "embed"
	"strconv"
	"strings"
)

//go:embed fields.tsv
var fieldsTSV string

// FieldKind says how a field's value is written.
type FieldKind byte

// The kinds of fields.
const (
	Text     FieldKind = 'A'
	Number   FieldKind = 'N' // digits
	Amount   FieldKind = 'D' // signed, two implied decimals
	Rate     FieldKind = 'R' // signed, four implied decimals
	Quantity FieldKind = 'Q' // unsigned, three implied decimals
	Date     FieldKind = 'T' // CCYYMMDD
)

// Scale returns how many decimals are implied.
func (k FieldKind) Scale() uint8 {
	switch k {
	case Amount:
		return 2
	case Rate:
		return 4
	case Quantity:
		return 3
	case Text, Number, Date:
	}
	return 0
}

// FieldInfo is what the dictionary says of a field.
type FieldInfo struct {
	Number string // such as 407
	ID     ID
	Kind   FieldKind
	// LenD0 and Len51 are the greatest lengths; 0 if not known.
	LenD0, Len51 int
	// PHI is why the field is PHI: direct, date, clinical, free_text, or several
	// joined by +. An empty PHI does not make a value safe to show.
	PHI string
}

// slots is how many ids there can be: two characters, base 36.
const slots = 36 * 36

// dictionary is indexed by the id's two characters, base 36, plus one; 0 is none.
var dictionary, dictionaryIndex = loadDictionary()

func loadDictionary() ([]FieldInfo, [slots]uint16) {
	var (
		all   []FieldInfo
		index [slots]uint16
	)
	for line := range strings.Lines(fieldsTSV) {
		f := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if len(f) != 6 || f[0] == "number" || len(f[1]) != 2 || len(f[2]) != 1 {
			continue
		}
		d := FieldInfo{Number: f[0], ID: IDOf(f[1]), Kind: FieldKind(f[2][0]), PHI: f[5]}
		d.LenD0, _ = strconv.Atoi(f[3]) // digits; held by a test
		d.Len51, _ = strconv.Atoi(f[4])
		if slot := slotOf(d.ID); slot >= 0 {
			all = append(all, d)
			index[slot] = uint16(len(all))
		}
	}
	return all, index
}

// base36 is the value of a digit or capital letter, and -1 of any other byte.
var base36 = func() (t [256]int8) {
	for c := range t {
		t[c] = -1
	}
	for c := range 10 {
		t['0'+c] = int8(c)
	}
	for c := range 26 {
		t['A'+c] = int8(10 + c)
	}
	return t
}()

func slotOf(id ID) int {
	a, b := int(base36[id[0]]), int(base36[id[1]])
	if a < 0 || b < 0 {
		return -1
	}
	return a*36 + b
}

// Lookup returns what the dictionary says of a field, and whether it has it. A
// field that it has not is private or newer, and is passed on untouched.
func Lookup(id ID) (FieldInfo, bool) {
	slot := slotOf(id)
	if slot < 0 || dictionaryIndex[slot] == 0 {
		return FieldInfo{}, false
	}
	return dictionary[dictionaryIndex[slot]-1], true
}

// Dictionary returns every field in the order of the table.
func Dictionary() []FieldInfo { return append([]FieldInfo(nil), dictionary...) }

// Ids that the package itself reads or writes.
var (
	idAM = IDOf("AM")

	segPatient   = IDOf("01")
	segInsurance = IDOf("04")
	segCOB       = IDOf("05")
	segClaim     = IDOf("07")
	segPricing   = IDOf("11")
	segMessage   = IDOf("20")
	segStatus    = IDOf("21")
	segAnswered  = IDOf("22")
	segPaid      = IDOf("23")
)

// idNames are the spellings of the ids, by slot: a new string for each fault that
// may be found would be most of the cost of judging.
var idNames = func() (names [slots]string) {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	for slot := range names {
		names[slot] = string([]byte{digits[slot/36], digits[slot%36]})
	}
	return names
}()

// segmentNumber returns the number of a segment of the standard, 1 to 36, and 0 for
// any other.
func segmentNumber(id ID) int {
	if !isDigit(id[0]) || !isDigit(id[1]) {
		return 0
	}
	if n := int(id[0]-'0')*10 + int(id[1]-'0'); n <= 36 {
		return n
	}
	return 0
}

// segmentName returns the id of a segment of the standard, 01 to 36, and "??" for
// any other: a private one, or part of a value.
func segmentName(id ID) string {
	if segmentNumber(id) == 0 {
		return "??"
	}
	return idNames[slotOf(id)]
}
