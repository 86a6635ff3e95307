package testclaims

// What canary transmissions carry where a mark in words is not valid.
const (
	canaryRx       = "7391750" // 402-D2 is a number of twelve digits
	canaryPhone    = "9988770123"
	canaryNDC      = "99887700112"
	canaryAuth     = "99887711223"
	canaryQuantity = "98765432"
	canaryRef      = "ZZCNK5" // 880-K5 has ten characters
)

// RxMarks returns the texts that canary files made with o carry in their PHI
// fields: finding one in any other place is a leak. Dates of service are among them.
func RxMarks(o RxOptions) []string {
	o = DefaultRxOptions(o)
	marks := []string{canary, newDates(o.Date).canary}
	if o.Code != "B2" {
		marks = append(marks, canaryBirth, canaryZIP, canaryPhone)
	}
	if o.Code != "E1" {
		marks = append(marks, canaryRx, canaryNDC)
	}
	if o.Code == "B1" || o.Code == "B3" {
		marks = append(marks, canaryDiagnosis, canaryAuth, canaryQuantity)
	}
	if o.Batch {
		marks = append(marks, canaryRef)
	}
	return marks
}

// canarySegments writes segments that are there only to hold marks.
func (g *Rx) canarySegments() {
	g.segment("06") // workers' compensation
	g.field("DY", canaryBirth)
	g.field("CF", canary+"EMPLOYER")
	g.field("CG", canary+" FACTORY WAY")
	g.field("CH", canary+"CITY")
	g.field("CI", "OH")
	g.field("CJ", canaryZIP)
	g.field("CK", canaryPhone)
	g.field("CL", canary+"CONTACT")
	g.field("DZ", canary+"REF")
	g.segment("12") // prior authorization
	g.field("PA", "1")
	g.field("PY", canaryAuth)
	g.field("PP", canary+" SUPPORTING TEXT")
	g.segment("13") // clinical
	g.field("VE", "1")
	g.field("WE", "02")
	g.field("DO", canaryDiagnosis)
	g.segment("14") // additional documentation
	g.field("2Q", "001")
	g.field("2Z", "1")
	g.field("4B", "1A")
	g.field("4K", canary+" ANSWER")
	g.segment("15") // facility
	g.field("8C", canary+"FC")
	g.field("3Q", canary+"FACILITY")
	g.field("3U", canary+" FACILITY WAY")
	g.field("5J", canary+"CITY")
	g.field("3V", "OH")
	g.field("6D", canaryZIP)
	g.segment("16") // narrative
	g.field("BM", canary+" NARRATIVE TEXT")
}
