package x12

import "slices"

// hunk is a stretch in which two sequences differ.
type hunk struct{ a0, a1, b0, b1 int }

// maxDiffs bounds the search for the shortest edit script; its cost is the
// square of it.
const maxDiffs = 1000

// hunks returns where a and b differ, by the shortest edit script (Myers, "An
// O(ND) difference algorithm", 1986). Where that is longer than maxDiffs, all
// between the common start and the common end is one hunk.
func hunks(a, b []diffLine) []hunk {
	pre := 0
	for pre < min(len(a), len(b)) && a[pre].text == b[pre].text {
		pre++
	}
	post := 0
	for post < min(len(a), len(b))-pre && a[len(a)-1-post].text == b[len(b)-1-post].text {
		post++
	}
	x, y := a[pre:len(a)-post], b[pre:len(b)-post]
	if len(x)+len(y) == 0 {
		return nil
	}
	matches, ok := shortest(x, y)
	if !ok {
		return []hunk{{pre, len(a) - post, pre, len(b) - post}}
	}
	return gather(matches, len(x), len(y), pre)
}

// equalRun is a run of equal segments.
type equalRun struct{ x, y, n int }

// shortest returns the runs that the shortest edit script keeps, from the end to
// the start.
func shortest(a, b []diffLine) ([]equalRun, bool) {
	var trace [][]int // trace[d][k+d+1] is how far diagonal k had come before step d
	v := make([]int, 2*maxDiffs+3)
	mid := maxDiffs + 1
	for d := 0; d <= maxDiffs; d++ {
		trace = append(trace, append([]int(nil), v[mid-d-1:mid+d+2]...))
		for k := -d; k <= d; k += 2 {
			x := v[mid+k-1] + 1
			if down(v[mid-d-1:], d, k) {
				x = v[mid+k+1]
			}
			for x < len(a) && x-k < len(b) && a[x].text == b[x-k].text {
				x++
			}
			v[mid+k] = x
			if x == len(a) && x-k == len(b) {
				return backtrack(trace, x, x-k), true
			}
		}
	}
	return nil, false
}

// down reports whether diagonal k is reached at step d from the one above, by
// an insertion.
func down(v []int, d, k int) bool {
	return k == -d || k != d && v[k+d] < v[k+d+2]
}

func backtrack(trace [][]int, x, y int) []equalRun {
	var out []equalRun
	for d, v := range slices.Backward(trace) {
		k := x - y
		prevX, prevK, start := 0, 0, 0
		switch {
		case d == 0:
		case down(v, d, k):
			prevK, prevX = k+1, v[k+d+2]
			start = prevX
		default:
			prevK, prevX = k-1, v[k+d]
			start = prevX + 1
		}
		if x > start {
			out = append(out, equalRun{start, start - k, x - start})
		}
		x, y = prevX, prevX-prevK
	}
	return out
}

// gather returns the hunks between the matches.
func gather(matches []equalRun, n, m, off int) []hunk {
	var out []hunk
	x, y := 0, 0
	for i := len(matches) - 1; i >= -1; i-- {
		next := equalRun{n, m, 0}
		if i >= 0 {
			next = matches[i]
		}
		if next.x > x || next.y > y {
			out = append(out, hunk{off + x, off + next.x, off + y, off + next.y})
		}
		x, y = next.x+next.n, next.y+next.n
	}
	return out
}
