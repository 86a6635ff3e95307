package job

// window remembers how the latest released items ended.
type window struct {
	last       []verdict
	at         int
	same, fail int
}

// verdict is what an end says about going on.
type verdict uint8

const (
	good      verdict = iota
	bad               // came back, for another cause
	sameBad           // came back for a cause of the plan
	noVerdict         // says nothing
)

func verdictOf(r Result, e End) verdict {
	switch {
	case r == Failed, r == Unanswered:
		return bad
	case r == Acted, r == Known, r == StillUnknown:
		return good
	case e == SameCause:
		return sameBad
	case e.failure():
		return bad
	case e == Settled:
		return good
	}
	return noVerdict
}

func (w *window) count(v verdict, by int) {
	if v == sameBad {
		w.same += by
	}
	if v != good {
		w.fail += by
	}
}

// add remembers a verdict, and forgets the oldest where there are more than size.
func (w *window) add(v verdict, size int) {
	if v == noVerdict {
		return
	}
	w.count(v, 1)
	if len(w.last) < size {
		w.last = append(w.last, v)
		return
	}
	w.count(w.last[w.at], -1)
	w.last[w.at] = v
	w.at = (w.at + 1) % size
}

// judge returns why to stop, or "".
func (w *window) judge(p *Policy) StopCode {
	n := float64(len(w.last))
	switch {
	case len(w.last) < p.WindowMin:
	case float64(w.same) >= p.StopSameCause*n:
		return StopSameCause
	case float64(w.fail) >= p.StopFailures*n:
		return StopFailures
	}
	return ""
}
