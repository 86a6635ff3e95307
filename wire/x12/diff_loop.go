package x12

// loopTracker names the loop that each segment of an 837 stands in, by the
// segments that begin loops (005010X222, X223, X224). It judges nothing.
type loopTracker struct{ loop string }

// loopOfEntity names the loops that an NM1 begins by its NM101, in the header
// and above the claim.
var loopOfEntity = map[string]string{
	"41": "1000A", "40": "1000B", "85": "2010AA", "87": "2010AB", "PE": "2010AC", "IL": "2010BA", "PR": "2010BB", "QC": "2010CA",
}

var loopOfLevel = map[string]string{"20": "2000A", "22": "2000B", "23": "2000C"}

// next returns the loop of the current segment.
func (t *loopTracker) next(s *Segments) string {
	switch s.ID() {
	case "ST", "SE", "GS", "GE", "ISA", "IEA":
		t.loop = ""
	case "HL":
		t.loop = loopOfLevel[string(s.Element(3))]
	case "CLM":
		t.loop = "2300"
	case "LX":
		t.loop = "2400"
	case "SBR":
		if t.loop >= "2300" {
			t.loop = "2320"
		}
	case "NM1":
		t.loop = t.entity(string(s.Element(1)))
	}
	return t.loop
}

func (t *loopTracker) entity(code string) string {
	switch {
	case t.loop >= "2400":
		return "2420"
	case t.loop >= "2320":
		return "2330"
	case t.loop >= "2300":
		return "2310"
	}
	return loopOfEntity[code]
}
