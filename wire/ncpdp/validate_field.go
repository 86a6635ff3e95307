package ncpdp

// fields judges the fields of one segment.
func (j *judge) fields(s Segment) {
	fields := j.m.Fields(s)
	clear(j.seen[:])
	for i, f := range fields {
		if j.errors == MaxFaults {
			return
		}
		at := Fault{Offset: int(f.Start), Transaction: int(s.Transaction), Segment: s.String(), Field: f.ID.String()}
		d, known := Lookup(f.ID)
		if !known { // private or newer: passed on untouched
			continue
		}
		slot := slotOf(f.ID)
		if j.seen[slot] && !repeats[f.ID] && at.Segment != "??" {
			at.Code = CodeFieldTwice
			j.tolerate(at)
		}
		j.seen[slot] = true
		j.value(at, d, j.m.Value(f))
		if _, counts := counters[f.ID]; counts {
			j.count(at, fields, i)
		}
	}
}

func (j *judge) value(at Fault, d FieldInfo, raw []byte) {
	v := trim(raw)
	if len(v) == 0 {
		at.Code, at.Severity = CodeEmptyValue, Note
		j.add(at)
		return
	}
	if limit := j.limit(d); limit > 0 && len(v) > limit {
		at.Code = CodeFieldLength
		if j.m.version == Version51 { // it is read, not sent
			at.Severity = Note
		}
		j.tolerate(at)
	}
	switch d.Kind {
	case Number:
		if !allDigits(v) {
			at.Code = CodeNumeric
			j.tolerate(at)
		}
	case Amount, Rate:
		j.amount(at, v, d.Kind.Scale())
	case Quantity:
		if _, ok := ParseQuantity(v, d.Kind.Scale()); !ok {
			at.Code = CodeQuantity
			j.tolerate(at)
		}
	case Date:
		if !isDate(v) {
			at.Code = CodeDate
			j.tolerate(at)
		}
	case Text:
		if hasLower(v) {
			at.Code, at.Severity = CodeLowerCase, Note
			j.add(at)
		}
	}
}

// amount judges a signed number in requests and responses alike: what was paid
// must be known to the cent.
func (j *judge) amount(at Fault, v []byte, scale uint8) {
	switch _, signed, ok := ParseAmount(v, scale); {
	case !ok:
		at.Code = CodeMoney
		j.add(at)
	case !signed:
		at.Code, at.Severity = CodeUnsignedMoney, Note
		j.add(at)
	}
}

func (j *judge) limit(d FieldInfo) int {
	if j.m.version == Version51 && d.Len51 > 0 {
		return d.Len51
	}
	return d.LenD0
}

func (j *judge) count(at Fault, fields []Field, i int) {
	v := trim(j.m.Value(fields[i]))
	n, ok := digits(v)
	if ok && len(v) > 0 && len(v) <= maxDigits && n != int64(counted(fields, i)) {
		at.Code = CodeGroupCount
		j.tolerate(at)
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
