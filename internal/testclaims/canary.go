package testclaims

// What canary files carry where a mark in words is not valid.
const (
	canary           = "ZZCANARY"
	canaryZIP        = "998887777"
	canarySSN        = "998877665"
	canaryBirth      = "19110917"
	canaryDiagnosis  = "S72461R"
	canaryDiagnosis2 = "T63442D"
	canaryDiagnosis3 = "O98319"
)

// Marks returns the texts that canary files made with o carry in their PHI
// fields: finding one in any other place is a leak. Service dates are among them.
func Marks(o Options) []string {
	return []string{
		canary, canaryZIP, canarySSN, canaryBirth, canaryDiagnosis, canaryDiagnosis2, canaryDiagnosis3,
		newDates(DefaultOptions(o).Date).canary,
	}
}

// mark appends the plain prefix of a field or, in a canary file, a mark.
func (g *generator) mark(plain, field string) {
	if g.o.Canary {
		g.put(canary + field)
		return
	}
	g.put(plain)
}

// value writes a segment that only canary files have: the prefix and a numbered mark.
func (g *generator) value(prefix, field string) {
	g.put(prefix + canary + field)
	g.num(g.claim.n)
	g.end()
}
