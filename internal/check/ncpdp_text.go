package check

import (
	"fmt"
	"strings"

	"claimdlq/wire/ncpdp"
)

// String returns the report for people.
func (r *NCPDP) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s (%s %s", r.File, r.Verdict, r.Format, r.Kind)
	for _, s := range []*string{r.Version, r.TransactionCode} {
		if s != nil {
			b.WriteString(" " + *s)
		}
	}
	if r.Count != nil {
		fmt.Fprintf(&b, ", %d", *r.Count)
	}
	b.WriteString(")")
	for i, f := range r.Faults {
		if i == maxShown {
			fmt.Fprintf(&b, "\n  and %d more", len(r.Faults)-maxShown)
			break
		}
		b.WriteString("\n  ")
		if f.Detail > 0 {
			fmt.Fprintf(&b, "detail %d: ", f.Detail)
		}
		b.WriteString(ncpdp.Fault{
			Code: ncpdp.Code(f.Code), Offset: f.Offset, Transaction: f.Transaction, Segment: f.Segment, Field: f.Field,
		}.String())
		if f.Severity == "note" {
			b.WriteString(" (tolerated)")
		}
	}
	if t := ncpdp.Hint(r.Hint).Text(); t != "" {
		b.WriteString("\n  " + t)
	}
	if r.Kind != ncpdp.KindResponse.String() {
		return b.String()
	}
	for i, t := range r.Transactions {
		fmt.Fprintf(&b, "\n  transaction %d: %s", i+1, t.Class)
		if len(t.Rejects) > 0 {
			b.WriteString(" " + strings.Join(t.Rejects, " "))
		}
		if t.Ambiguous {
			b.WriteString(", the payer may have acted")
		}
	}
	return b.String()
}
