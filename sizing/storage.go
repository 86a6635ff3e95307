package sizing

import (
	"math/big"
	"time"
)

// Storage is the disk that the stream needs, in bytes.
type Storage struct {
	// ClaimBytes is one claim that is waiting or dead: payload, seal, record.
	ClaimBytes int64 `json:"claim_bytes"`
	// Incident is the worst incident's dead letters, and what waits behind a breaker,
	// whichever is more; IncidentAudit the audit entries of its failed calls.
	Incident      int64 `json:"incident_bytes"`
	IncidentAudit int64 `json:"incident_audit_bytes"`
	// Quarantine is what lies in quarantine at any time on normal days if nobody
	// corrects anything before retention parks it.
	Quarantine int64 `json:"quarantine_bytes"`
	// DayOfClaims and DayOfAudit are a normal day's.
	DayOfClaims int64 `json:"day_of_claims_bytes"`
	DayOfAudit  int64 `json:"day_of_audit_bytes"`
	// Keys are the keys of settled claims, which tell a duplicate.
	Keys int64 `json:"keys_bytes"`
	// Arithmetic says how.
	Arithmetic []string `json:"arithmetic"`
}

// Audit entries of a claim: received and settled, and of each delivery lease,
// intent and outcome.
const (
	entriesOfClaim = 2
	entriesOfCall  = 3
)

func (in *Input) storage(incidents []Incident) Storage {
	s := Storage{ClaimBytes: in.PayloadBytes + in.SealBytes + in.RecordBytes}
	dead, waiting, calls := int64(0), int64(0), int64(0)
	for _, i := range incidents {
		dead, waiting, calls = max(dead, i.Without.DeadLettered), max(waiting, i.With.PeakWaiting), max(calls, i.Without.FailedCalls)
	}
	product := func(a ...int64) int64 {
		p := int64(1)
		for _, n := range a {
			p = mulDiv(p, n, 1, false)
		}
		return p
	}
	daily := in.Rate.before(day)
	noise := nearest(new(big.Rat).Mul(in.residue(), new(big.Rat).SetInt64(in.Rate.before(in.Policy.Retention))))
	s.Incident = product(max(dead, waiting), s.ClaimBytes)
	s.IncidentAudit = product(calls, entriesOfCall, in.AuditBytes)
	s.Quarantine = product(noise, s.ClaimBytes)
	s.DayOfClaims = product(daily, s.ClaimBytes)
	s.DayOfAudit = product(daily, entriesOfClaim+entriesOfCall, in.AuditBytes)
	kept := in.Rate.before(in.KeysKept)
	s.Keys = product(kept, in.KeyBytes)
	s.Arithmetic = []string{
		"a claim: payload " + Count(in.PayloadBytes) + " + seal and key " + Count(in.SealBytes) + " + record " + Count(in.RecordBytes) + " = " + Count(s.ClaimBytes) + " B",
		"worst incident: the larger of " + Short(dead) + " dead letters and " + Short(waiting) + " claims behind the breaker, x " + Count(s.ClaimBytes) + " B = " + Bytes(s.Incident),
		"its audit without the breaker: " + Short(calls) + " failed calls x 3 entries x " + Count(in.AuditBytes) + " B = " + Bytes(s.IncidentAudit),
		"quarantine on normal days: " + Short(noise) + " dead letters in " + Span(in.Policy.Retention).String() + " x " + Count(s.ClaimBytes) + " B = " + Bytes(s.Quarantine),
		"a day: " + Short(daily) + " claims x " + Count(s.ClaimBytes) + " B = " + Bytes(s.DayOfClaims) + ", and 5 audit entries of " + Count(in.AuditBytes) + " B each = " + Bytes(s.DayOfAudit),
		"keys of settled claims: " + Short(kept) + " in " + Span(in.KeysKept).String() + " x " + Count(in.KeyBytes) + " B = " + Bytes(s.Keys),
	}
	return s
}

// residue returns which part of the claims is dead-lettered on a normal day: bad
// at first sight, or failing by chance as often as the budget allows.
func (in *Input) residue() *big.Rat {
	bad := in.Bad.power(1)
	good := new(big.Rat).Sub(big.NewRat(1, 1), bad)
	return bad.Add(bad, good.Mul(good, in.Transient.power(in.Policy.MaxReceive)))
}

// nearest rounds to a whole number, halves up.
func nearest(r *big.Rat) int64 {
	up := ceil(r)
	if below := new(big.Rat).Sub(r, new(big.Rat).SetInt64(up-1)); below.Cmp(big.NewRat(1, 2)) < 0 {
		return up - 1
	}
	return up
}

// ceil rounds up to a whole number that is at most the largest int64.
func ceil(r *big.Rat) int64 {
	q, rem := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	if rem.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	if !q.IsInt64() {
		return int64(^uint64(0) >> 1)
	}
	return q.Int64()
}

// noise returns how many dead letters a normal minute brings, and a count that
// chance reaches less than once in a billion minutes: six standard deviations
// above, and 3 for where they are few.
func (in *Input) noise() (mean *big.Rat, most int64) {
	mean = new(big.Rat).Mul(in.residue(), new(big.Rat).SetInt64(in.Rate.before(time.Minute)))
	n := nearest(mean)
	root := new(big.Int).Sqrt(big.NewInt(n))
	if new(big.Int).Mul(root, root).Cmp(big.NewInt(n)) < 0 {
		root.Add(root, big.NewInt(1))
	}
	return mean, sum(sum(n, 6*root.Int64()), 3)
}
