package sizing

import (
	"slices"
	"time"

	"claimdlq"
)

// Learner takes a store's own history and says what it shows about the stream.
// Give it every record first (Record), then the audit entries in order (Entry).
// It keeps a few bytes of each record and delivery, and nothing that names one.
type Learner struct {
	perMinute map[int64]int64 // claims, by Unix minute
	claims    int64
	bad       int64
	first     time.Time
	last      time.Time
	records   int64

	partners map[string]uint32
	of       map[claimdlq.ID]uint32 // the partner of a record
	spent    map[claimdlq.ID]bool   // records whose budget was spent
	sub      map[claimdlq.SubmissionID]*sending
	lone     map[claimdlq.ID]*sending // that of a record, by the record that was leased first
	lanes    [][]delivered            // by partner, in order
}

// sending is what is known of a submission so far.
type sending struct {
	partner uint32
	began   int // of its partner's deliveries, the one that is under way or ended last
	any     bool
}

// delivered is one delivery.
type delivered struct {
	at     time.Time // when its outcome was known
	failed bool
}

// NewLearner returns a Learner that knows nothing.
func NewLearner() *Learner {
	return &Learner{
		perMinute: map[int64]int64{}, partners: map[string]uint32{}, of: map[claimdlq.ID]uint32{},
		spent: map[claimdlq.ID]bool{}, sub: map[claimdlq.SubmissionID]*sending{}, lone: map[claimdlq.ID]*sending{},
	}
}

// Record takes a record as it is now. Acknowledgments are passed over.
func (l *Learner) Record(r claimdlq.Record) {
	if r.Format == claimdlq.FormatAck || r.Stream == "acks" {
		return
	}
	p, ok := l.partners[r.Partner]
	if !ok {
		p = uint32(len(l.lanes))
		l.partners[r.Partner] = p
		l.lanes = append(l.lanes, nil)
	}
	l.of[r.ID] = p
	switch r.Reason {
	case claimdlq.RetriesExhausted:
		l.spent[r.ID] = true
	case claimdlq.FatalSyntax, claimdlq.SemanticReject:
		l.bad += int64(r.Claims)
	default:
	}
	if r.Parent == 0 {
		n := int64(r.Claims) + int64(r.Parted)
		l.claims += n
		l.perMinute[r.CreatedAt.Unix()/60] += n
		if l.records == 0 || r.CreatedAt.Before(l.first) {
			l.first = r.CreatedAt
		}
		if r.CreatedAt.After(l.last) {
			l.last = r.CreatedAt
		}
	}
	l.records++
}

// Entry takes the next audit entry.
func (l *Learner) Entry(e claimdlq.Entry) {
	if e.Action == claimdlq.ActReplay { // what is sent now begins anew
		delete(l.lone, e.Record)
	}
	for r := range e.Records.Runs() { // each travels alone
		for id := r.First; id <= r.Last; id++ {
			if e.Action == claimdlq.ActReplay {
				delete(l.lone, id)
			} else if s := l.sending(id, e.Action); s != nil {
				l.tell(s, id, e)
			}
		}
	}
	if e.Submission == 0 {
		return
	}
	s := l.sub[e.Submission]
	if s == nil {
		if s = l.sending(e.Record, e.Action); s == nil {
			return
		}
		l.sub[e.Submission] = s
	}
	l.tell(s, e.Record, e)
}

// sending returns that of a record; a lease begins one.
func (l *Learner) sending(id claimdlq.ID, a claimdlq.Action) *sending {
	s := l.lone[id]
	if p, ok := l.of[id]; s == nil && ok && a == claimdlq.ActLease {
		s = &sending{partner: p}
		l.lone[id] = s
	}
	return s
}

// tell takes what the entry says of a record's sending.
func (l *Learner) tell(s *sending, id claimdlq.ID, e claimdlq.Entry) {
	lane := &l.lanes[s.partner]
	switch e.Action {
	case claimdlq.ActIntent:
		if s.any { // it is tried again: the one before failed
			(*lane)[s.began].failed = true
		}
		s.any, s.began = true, len(*lane)
		*lane = append(*lane, delivered{at: e.At})
	case claimdlq.ActOutcome:
		if s.any {
			(*lane)[s.began].at = e.At
		}
	case claimdlq.ActEnqueue:
		if s.any && l.spent[id] {
			(*lane)[s.began].failed = true
		}
	default:
	}
}

// Learned is what a history shows.
type Learned struct {
	Records int64     `json:"records"`
	Claims  int64     `json:"claims"`
	From    time.Time `json:"from,omitzero"`
	To      time.Time `json:"to,omitzero"`
	// Mean is the rate over the whole history, Peak that of the busiest minute.
	Mean Rate `json:"mean"`
	Peak Rate `json:"peak"`
	// Deliveries and Failed count submissions handed to a target; Failed are those
	// that were tried again, or spent a budget.
	Deliveries int64 `json:"deliveries"`
	Failed     int64 `json:"failed"`
	// Transient is the share that failed outside incidents, in millionths.
	Transient Share `json:"transient_ppm"`
	// Bad is the share of claims that were refused for what they say, in millionths.
	Bad Share `json:"bad_ppm"`
	// Incidents counts the times in which five or more deliveries to a partner failed
	// in a row; Longest is the longest, from the first failure to the next success.
	Incidents int64 `json:"incidents"`
	Longest   Span  `json:"longest_incident_ms"`
}

// inARow is how many failures in a row make an incident.
const inARow = 5

// Learned returns what the history so far shows.
func (l *Learner) Learned() Learned {
	out := Learned{Records: l.records, Claims: l.claims, From: l.first, To: l.last, Bad: ShareOf(l.bad, l.claims)}
	if l.claims > 0 {
		seconds := int64(l.last.Sub(l.first)/time.Second) + 1
		out.Mean = coarse(Rate{l.claims, seconds})
		peak := int64(0)
		for _, n := range l.perMinute {
			peak = max(peak, n)
		}
		out.Peak = coarse(Rate{peak, 60})
	}
	chance := int64(0)
	for _, lane := range l.lanes {
		slices.SortStableFunc(lane, func(a, b delivered) int { return a.at.Compare(b.at) })
		out.Deliveries += int64(len(lane))
		for i := 0; i < len(lane); {
			j := i
			for j < len(lane) && lane[j].failed {
				j++
			}
			run := int64(j - i)
			out.Failed += run
			switch {
			case run >= inARow:
				out.Incidents++
				out.Longest = max(out.Longest, Span(lane[min(j, len(lane)-1)].at.Sub(lane[i].at)))
			default:
				chance += run
			}
			i = j + 1
		}
	}
	out.Transient = ShareOf(chance, out.Deliveries)
	return out
}

// Apply fills in what the history shows and the input does not say: the rate of
// the busiest minute, the shares, and the longest incident.
func (l Learned) Apply(in Input) Input {
	set(&in.Rate, l.Peak)
	set(&in.Transient, l.Transient)
	set(&in.Bad, l.Bad)
	if len(in.Incidents) == 0 && l.Longest > 0 {
		in.Incidents = []time.Duration{time.Duration(l.Longest)}
	}
	return in
}
