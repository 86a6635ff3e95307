package sortedrun

import "sync/atomic"

// view is the list of runs at one moment, oldest first. A run's file is closed
// when the last view that holds it is released; it is removed from the directory
// before that, which an open file does not mind.
type view struct {
	runs []*run
	refs atomic.Int64
}

func newView(runs []*run) *view {
	v := &view{runs: runs}
	v.refs.Store(1)
	for _, r := range runs {
		r.refs.Add(1)
	}
	return v
}

func (v *view) release() {
	if v.refs.Add(-1) > 0 {
		return
	}
	for _, r := range v.runs {
		if r.refs.Add(-1) == 0 {
			_ = r.file.Close() // opened for reading: nothing can be lost
		}
	}
}
