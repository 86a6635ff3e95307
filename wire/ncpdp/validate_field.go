package ncpdp

// fields judges the fields of one segment; at is the segment's place.
func (j *judge) fields(s Segment, at Fault) {
	fields := j.m.Fields(s)
	clear(j.seen[:])
	ours := at.Segment != "??"
	for i := range fields {
		if j.errors == MaxFaults {
			return
		}
		f := &fields[i]
		slot := slotOf(f.ID)
		if slot < 0 || dictionaryIndex[slot] == 0 { // private or newer: passed on untouched
			continue
		}
		at.Offset, at.Field = int(f.Start), idNames[slot]
		bit := uint64(1) << (slot % 64)
		if j.seen[slot/64]&bit != 0 && !repeats[slot] && ours {
			j.tolerate(at.as(CodeFieldTwice))
		}
		j.seen[slot/64] |= bit
		j.value(&at, &dictionary[dictionaryIndex[slot]-1], j.m.Value(*f))
		if counts[slot] {
			j.count(&at, fields, i)
		}
	}
}

// as is the same place with a code.
func (f *Fault) as(c Code) Fault {
	out := *f
	out.Code = c
	return out
}

func (j *judge) value(at *Fault, d *FieldInfo, raw []byte) {
	v := trim(raw)
	if len(v) == 0 {
		j.note(at.as(CodeEmptyValue))
		return
	}
	if limit := j.limit(d); limit > 0 && len(v) > limit {
		f := at.as(CodeFieldLength)
		if j.m.version == Version51 { // it is read, not sent
			f.Severity = Note
		}
		j.tolerate(f)
	}
	switch d.Kind {
	case Number:
		if !allDigits(v) {
			j.tolerate(at.as(CodeNumeric))
		}
	case Amount, Rate:
		j.amount(at, v, d.Kind.Scale())
	case Quantity:
		if _, ok := ParseQuantity(v, d.Kind.Scale()); !ok {
			j.tolerate(at.as(CodeQuantity))
		}
	case Date:
		if !isDate(v) {
			j.tolerate(at.as(CodeDate))
		}
	case Text:
		if hasLower(v) {
			j.note(at.as(CodeLowerCase))
		}
	}
}

// amount judges a signed number in requests and responses alike: what was paid
// must be known to the cent.
func (j *judge) amount(at *Fault, v []byte, scale uint8) {
	switch _, signed, ok := ParseAmount(v, scale); {
	case !ok:
		j.add(at.as(CodeMoney))
	case !signed:
		j.note(at.as(CodeUnsignedMoney))
	}
}

func (j *judge) limit(d *FieldInfo) int {
	if j.m.version == Version51 && d.Len51 > 0 {
		return d.Len51
	}
	return d.LenD0
}

func (j *judge) count(at *Fault, fields []Field, i int) {
	v := trim(j.m.Value(fields[i]))
	n, ok := digits(v)
	if ok && len(v) > 0 && len(v) <= maxDigits && n != int64(counted(fields, i)) {
		j.tolerate(at.as(CodeGroupCount))
	}
}

func hasLower(b []byte) bool {
	for _, c := range b {
		if c >= 'a' && c <= 'z' {
			return true
		}
	}
	return false
}

// isDate reports whether b is a day of the calendar, CCYYMMDD.
func isDate(b []byte) bool {
	if len(b) != 8 || !allDigits(b) {
		return false
	}
	num := func(from, to int) int {
		n := 0
		for _, c := range b[from:to] {
			n = n*10 + int(c-'0')
		}
		return n
	}
	year, month, day := num(0, 4), num(4, 6), num(6, 8)
	if year < 1800 || month < 1 || month > 12 || day < 1 {
		return false
	}
	days := [...]int{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}[month-1]
	if month == 2 && year%4 == 0 && (year%100 != 0 || year%400 == 0) {
		days = 29
	}
	return day <= days
}
