package alert

// Size returns how many alarms, streams and partners, and points e holds.
func (e *Evaluator) Size() (alarms, names, points int) {
	for _, a := range e.alarms {
		if a.level != nil {
			points = max(points, cap(a.level.points))
		}
		if a.calls != nil {
			points = max(points, cap(a.calls.windows[0].points))
		}
	}
	return len(e.alarms), len(e.known), points
}
