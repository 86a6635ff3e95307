package filing

import (
	"strings"
	"time"

	"claimdlq"
)

// Stage is how far a filing window has gone.
type Stage uint8

// The stages.
const (
	Unknown Stage = iota // no day is known
	InTime               // less than 80 % of the window have gone
	Warning              // 80 %
	Alert                // 90 %
	Passed               // its last day is over
)

// Stages lists every stage, in order.
var Stages = []Stage{Unknown, InTime, Warning, Alert, Passed}

var stageNames = [...]string{"unknown", "in_time", "warning", "alert", "passed"}

// String returns the stage as it is spelled in JSON and as a label.
func (s Stage) String() string {
	if int(s) >= len(stageNames) {
		return "invalid"
	}
	return stageNames[s]
}

// ParseStage is the inverse of String. Errors: Invalid.
func ParseStage(text string) (Stage, error) {
	for _, s := range Stages {
		if s.String() == text {
			return s, nil
		}
	}
	return 0, &claimdlq.Error{Code: claimdlq.Invalid, Op: "read stage", Hint: "a stage is " + strings.Join(stageNames[:], ", ")}
}

// Near reports whether the window is about to end.
func (s Stage) Near() bool { return s == Warning || s == Alert }

// Window is within how many days of its day a claim must reach the payer; 0 is no limit.
type Window uint16

// MaxWindow is the longest window, in days: ten years.
const MaxWindow = 3650

// Deadline returns the last day of the window. The zero Time where there is none.
func (w Window) Deadline(d Day) time.Time {
	if w == 0 || d.IsZero() {
		return time.Time{}
	}
	return d.Start().AddDate(0, 0, int(w))
}

// Stage returns how far the window that began on a day has gone. Days are counted in
// UTC; the last day is over where it is over everywhere west of that by no more than
// twelve hours, so that nothing is called passed that is not.
func (w Window) Stage(d Day, now time.Time) Stage {
	if w == 0 || d.IsZero() {
		return Unknown
	}
	gone, whole := now.Sub(d.Start()), time.Duration(w)*24*time.Hour
	switch {
	case gone >= whole+(24+12)*time.Hour:
		return Passed
	case gone >= whole/10*9:
		return Alert
	case gone >= whole/10*8:
		return Warning
	}
	return InTime
}

// Windows are the windows by stream, such as 837, and by STREAM/PARTNER, the partner named
// as a record has it, or by its BIN or ISA08 alone.
type Windows map[string]Window

// For returns the window of a partner's claims: its own, else its stream's, else none.
func (ws Windows) For(stream, partner string) Window {
	names := []string{stream + "/" + partner}
	if first, last, ok := strings.Cut(partner, ":"); ok {
		short := last
		if stream == claimdlq.StreamNCPDP {
			short = first
		}
		names = append(names, stream+"/"+short)
	}
	for _, name := range append(names, stream) {
		if w, ok := ws[name]; ok {
			return w
		}
	}
	return 0
}

// Any reports whether there is any window.
func (ws Windows) Any() bool {
	for _, w := range ws {
		if w > 0 {
			return true
		}
	}
	return false
}
