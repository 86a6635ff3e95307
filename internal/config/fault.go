package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"claimdlq"
)

// maxFaults is how many faults are told; a file with more of them is no
// configuration.
const maxFaults = 100

// Fault is one thing that is wrong.
type Fault struct {
	Path  string // of the key; "" where the file as a whole is meant
	Where string // line 4, CLAIMDLQ_LISTEN, or command line; "" where it is nowhere
	What  string // what is wrong, and what is allowed; never the value

	line int // in the file, for the order
}

// String returns the fault as one line of the error has it.
func (f Fault) String() string {
	var b strings.Builder
	b.WriteString(f.Path)
	if f.Where != "" {
		if f.Path != "" {
			b.WriteByte(' ')
		}
		b.WriteString("(" + f.Where + ")")
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	b.WriteString(f.What)
	return b.String()
}

// faultList is the cause of the error of Load: one fault a line.
type faultList struct {
	faults []Fault
	more   int // that are not listed
}

func (l *faultList) Error() string {
	var b strings.Builder
	if n := l.count(); n == 1 {
		b.WriteString("1 fault")
	} else {
		fmt.Fprintf(&b, "%d faults", n)
	}
	for _, f := range l.faults {
		b.WriteString("\n  " + f.String())
	}
	if l.more > 0 {
		fmt.Fprintf(&b, "\n  and %d more", l.more)
	}
	return b.String()
}

// Faults returns what an error of Load or Parse lists; nil if it lists nothing.
func Faults(err error) []Fault {
	if l, ok := errors.AsType[*faultList](err); ok {
		return l.faults
	}
	return nil
}

func (l *faultList) add(f Fault) {
	if len(l.faults) == maxFaults {
		l.more++
		return
	}
	l.faults = append(l.faults, f)
}

func (l *faultList) count() int { return len(l.faults) + l.more }

// err returns the list as an error, nil if it is empty: in the order of the file, and
// then what is not in the file. on is the file's name.
func (l *faultList) err(on string) error {
	if len(l.faults) == 0 {
		return nil
	}
	slices.SortStableFunc(l.faults, func(a, b Fault) int { return cmp.Compare(uint(a.line)-1, uint(b.line)-1) })
	return &claimdlq.Error{Code: claimdlq.Invalid, Op: "read configuration", On: on, Err: l}
}

// near returns the word of a list that s was probably meant to be, "" if none is
// near enough: a third of it may differ.
func near(s string, words []string) string {
	s = strings.ToLower(s)
	if len(s) > 64 {
		return ""
	}
	best, least := "", max(1, len(s)/3)+1
	for _, w := range words {
		if d := distance(s, strings.ToLower(w)); d < least {
			best, least = w, d
		}
	}
	return best
}

// distance counts the letters to insert, remove, change, or swap with the next one,
// that make b of a.
func distance(a, b string) int {
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		row, last, before := rows[i%3], rows[(i+2)%3], rows[(i+1)%3]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return rows[len(a)%3][len(b)]
}

// choices lists words for people, bounded.
func choices(words []string) string {
	const most = 40
	if len(words) > most {
		words = append(words[:most:most], "...")
	}
	return strings.Join(words, ", ")
}
