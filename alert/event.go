package alert

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// Status is whether an alarm rings.
type Status string

// The statuses, as Alertmanager spells them.
const (
	Firing   Status = "firing"
	Resolved Status = "resolved"
)

// Labels say what an alarm is about; what does not apply is empty.
type Labels struct {
	Stream  string `json:"stream,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Partner string `json:"partner,omitempty"`
	Stage   string `json:"stage,omitempty"`
	Cause   string `json:"cause,omitempty"`
}

func (l Labels) compare(o Labels) int {
	return cmp.Or(cmp.Compare(l.Stream, o.Stream), cmp.Compare(l.Reason, o.Reason), cmp.Compare(l.Partner, o.Partner), cmp.Compare(l.Stage, o.Stage), cmp.Compare(l.Cause, o.Cause))
}

// Event is an alarm that began to ring or stopped. It holds counts, times and names
// of streams and partners; nothing of a claim.
type Event struct {
	Status   Status   `json:"status"`
	Alarm    string   `json:"alarm"` // the rule's name, such as dlq_increase
	Severity Severity `json:"severity"`
	Labels   Labels   `json:"labels"`
	// Value is the figure now, in the unit of the rule's metric, and Threshold what it
	// is compared with.
	Value     float64 `json:"value"`
	Threshold float64 `json:"threshold"`
	// Peak is the figure at its worst since it began to ring, and QuietSince since when it
	// is no more what the rule is about: zero while it is.
	Peak       float64   `json:"peak"`
	QuietSince time.Time `json:"quiet_since,omitzero"`
	StartsAt   time.Time `json:"starts_at"`
	EndsAt     time.Time `json:"ends_at,omitzero"` // zero while it rings
	Summary    string    `json:"summary"`
	Runbook    string    `json:"runbook"` // a path of this repository
	// Console is the path of the console's page that shows the cause.
	Console string `json:"console"`
}

// Fingerprint returns 16 hex digits that name the alarm and what it is about: equal
// for an event that rings and the one that ends it, whatever their values.
func (e Event) Fingerprint() string {
	h := sha256.New()
	for _, s := range []string{e.Alarm, string(e.Severity), e.Labels.Stream, e.Labels.Reason, e.Labels.Partner} {
		h.Write([]byte{byte(len(s) >> 8), byte(len(s))})
		h.Write([]byte(s))
	}
	h.Write([]byte(e.Labels.Stage)) // one that has none is as before there were any
	if e.Labels.Cause != "" {
		h.Write([]byte("\x00" + e.Labels.Cause))
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
