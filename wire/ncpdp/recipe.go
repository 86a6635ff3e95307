package ncpdp

import "claimdlq"

// RuleReplace is a kind of a Rule beside those of a Step: like set, where the value is
// Equals now.
const RuleReplace = "replace"

// Rule is an edit of every message of a kind, in all of its transactions.
type Rule struct {
	Op      string `json:"op"`
	Segment string `json:"segment,omitempty"` // such as 07; empty for the header
	Field   string `json:"field,omitempty"`   // such as D7; empty with insert and delete for the whole segment
	Equals  string `json:"equals,omitempty"`  // of replace, without padding
	Value   string `json:"value,omitempty"`
}

// Check says what is wrong with a rule, never with a value. Errors: Invalid, and Refused
// for what may not be corrected.
func (u *Rule) Check() error {
	st := Step{Op: u.Op, Segment: u.Segment, Field: u.Field, Value: []byte(u.Value)}
	if u.Op == RuleReplace {
		st.Op = StepSet
		if len(u.Equals) > maxStep {
			return &claimdlq.Error{Code: claimdlq.Invalid, Op: "read recipe", On: "rule", Hint: "the value is too long"}
		}
	}
	return st.check(0)
}

// Find returns the steps that the rules make of the message, and how many places match
// them, whatever is there already. A field that is missing is set where its segment is
// there. Errors: Invalid, where the message cannot be read.
func (m *Message) Find(rules []Rule) (steps []Step, places int, err error) {
	if err := m.Err(); err != nil {
		return nil, 0, err
	}
	for i := range rules {
		u := &rules[i]
		if u.Segment == "" {
			steps, places = u.header(m, steps, places)
			continue
		}
		id := IDOf(u.Segment)
		if u.Field == "" && u.Op == StepInsert {
			if _, there := m.find(1, id); !there {
				steps = append(steps, Step{Op: StepInsert, Transaction: min(1, m.groups), Segment: u.Segment})
			}
			places++
			continue
		}
		for _, s := range m.segments {
			if s.ID == id {
				steps, places = u.in(m, s, steps, places)
			}
		}
	}
	return steps, places, nil
}

func (u *Rule) header(m *Message, steps []Step, places int) ([]Step, int) {
	now := string(trim(m.at(headerFields[u.Field])))
	if u.Op == RuleReplace && now != u.Equals {
		return steps, places
	}
	if now != u.Value {
		steps = append(steps, Step{Op: StepSet, Field: u.Field, Value: []byte(u.Value)})
	}
	return steps, places + 1
}

// in is what the rule does to one segment.
func (u *Rule) in(m *Message, s Segment, steps []Step, places int) ([]Step, int) {
	st := Step{Op: u.Op, Transaction: int(s.Transaction), Segment: u.Segment, Field: u.Field, Occurrence: 1, Value: []byte(u.Value)}
	now, there := m.In(s, IDOf(u.Field))
	switch {
	case u.Field == "":
	case u.Op == RuleReplace && (!there || string(now) != u.Equals), u.Op == StepDelete && !there:
		return steps, places
	case u.Op == RuleReplace:
		st.Op = StepSet
	}
	if st.Op == StepSet && u.Field != "" && there && string(now) == u.Value {
		return steps, places + 1
	}
	return append(steps, st), places + 1
}
