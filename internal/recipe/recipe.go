package recipe

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"claimdlq"
	"claimdlq/flow/correct"
	"claimdlq/internal/background"
)

// ID names a recipe: when it was previewed and six random characters, such as
// 20260718-100000-QK3T7A. In order of ids is in order of time, by the second.
type ID string

// ParseID returns the id spelled s, or an error with code NotFound.
func ParseID(s string) (ID, error) {
	if !background.IsID(s) {
		return "", notFound()
	}
	return ID(s), nil
}

func notFound() error {
	return &claimdlq.Error{Code: claimdlq.NotFound, Op: "find recipe", Hint: "a recipe's id is like 20260718-100000-QK3T7A"}
}

// State is where a recipe stands.
type State string

// The states. Cancelled and Done are final.
const (
	Previewed State = "previewed"
	Running   State = "running"
	Stopped   State = "stopped" // the store or the vault fails; Apply lets it go on, and so does a restart
	Cancelled State = "cancelled"
	Done      State = "done"
)

// What may become of an item beside the verdicts of package correct.
const (
	Moved    correct.Verdict = "moved" // its revision is not the previewed one: nothing was changed
	NotFound correct.Verdict = "not_found"
	Failed   correct.Verdict = "failed"  // its payload cannot be opened
	Applied  correct.Verdict = "applied" // the record has its next revision
)

// Selection says which records.
type Selection = background.Selection

// Part says which of what a filter selects a preview is about.
type Part struct {
	// Before, where it is not 0, leaves the records from this id on out: it is the Next of
	// an earlier preview.
	Before claimdlq.ID
	// Again takes those that are corrected already, too.
	Again bool
}

// Item is one record of a recipe. It has no values.
type Item struct {
	Index    int             `json:"-"`
	Record   claimdlq.ID     `json:"record"`
	Revision uint32          `json:"revision"` // previewed; 0: there was no such record
	Claims   uint32          `json:"claims"`
	Cents    int64           `json:"cents"`
	Partner  string          `json:"partner,omitempty"`
	To       string          `json:"to,omitempty"` // the partner that it goes to then, where that is another
	Verdict  correct.Verdict `json:"verdict"`
	Code     claimdlq.Detail `json:"code,omitzero"`
	Places   []Place         `json:"places,omitempty"` // the first of them
	More     int             `json:"more,omitempty"`   // how many are left out

	Outcome     correct.Verdict `json:"-"` // empty before its turn
	OutcomeCode claimdlq.Detail `json:"-"`
}

// Place is one place at which an item would differ.
type Place struct {
	Transaction int    `json:"transaction,omitempty"`
	Segment     string `json:"segment"`
	Loop        string `json:"loop,omitempty"`
	Position    int    `json:"position,omitempty"`
	Element     string `json:"element,omitempty"`
	Rx          bool   `json:"rx,omitempty"` // of a pharmacy claim: Element is the field
	Kind        string `json:"kind"`
	Before      string `json:"before"` // by their form
	After       string `json:"after"`
}

// Plan is what a preview froze.
type Plan struct {
	ID     ID                `json:"id"`
	At     time.Time         `json:"at"`
	Author string            `json:"author"`
	Rules  map[string]string `json:"rules"` // rule versions of the streams
	Recipe correct.Recipe    `json:"recipe"`
	Items  []Item            `json:"items"`
	Claims int64             `json:"claims"` // of the items that are clean
	Cents  int64             `json:"cents"`
	Counts map[string]int    `json:"counts"` // items by verdict
	// Of what the filter selected: how many were left out because they are corrected
	// already; how many were left for the next preview, which begins before Next.
	Corrected int         `json:"corrected,omitempty"`
	Remaining int         `json:"remaining,omitempty"`
	Next      claimdlq.ID `json:"next,omitempty"`

	Digest  string `json:"digest"` // SHA-256 of all else as the file has it
	Sealed  []byte `json:"sealed"` // the recipe with its values; empty once they are removed
	KeyTerm uint32 `json:"key_term"`
}

// Partners lists whose records the items are, and whose they will be, each once.
func (p *Plan) Partners() []string {
	seen, out := map[string]bool{}, []string{}
	add := func(x string) {
		if !seen[x] {
			seen[x], out = true, append(out, x)
		}
	}
	for i := range p.Items {
		it := &p.Items[i]
		if it.Revision > 0 {
			add(it.Partner)
		}
		if it.To != "" {
			add(it.To)
		}
	}
	return out
}

// digest is what a person confirms: the ids, the revisions, the verdicts and the sealed
// values.
func (p *Plan) digest() (string, error) {
	q := *p
	q.Digest = ""
	b, err := json.Marshal(&q)
	if err != nil {
		return "", &claimdlq.Error{Code: claimdlq.Internal, Op: "freeze recipe", Err: err}
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

// withoutValues returns the recipe as everybody may see it.
func withoutValues(rc correct.Recipe) (out correct.Recipe) {
	for _, u := range rc.Rules {
		u.Equals, u.Value, u.Text = "", "", ""
		u.Where = slices.Clone(u.Where)
		for i := range u.Where {
			u.Where[i].Value = ""
		}
		out.Rules = append(out.Rules, u)
	}
	for _, u := range rc.RxRules {
		u.Equals, u.Value = "", ""
		out.RxRules = append(out.RxRules, u)
	}
	return out
}

// Progress is where a recipe stands. A later one has a higher Seq.
type Progress struct {
	Recipe    ID
	Seq       uint64
	State     State
	Author    string
	At        time.Time
	Items     int
	Counts    map[string]int // items by verdict of the preview
	Outcomes  map[string]int // of those that had their turn
	Left      int            // clean ones that had not
	Runner    string
	StartedAt time.Time
	EndedAt   time.Time
}
