package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"claimdlq"
)

// dash makes an empty cell visible.
func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// stamp prints a time for people, in UTC.
func stamp(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04:05")
}

// span prints an age as its two largest units at most: 3d4h, 12m5s, 8s.
func span(d time.Duration) string {
	d = d.Round(time.Second)
	units := []struct {
		name string
		size time.Duration
	}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}}
	for i, u := range units {
		if d < u.size && u.size > time.Second {
			continue
		}
		out := strconv.FormatInt(int64(d/u.size), 10) + u.name
		if i+1 < len(units) {
			if rest := d % u.size / units[i+1].size; rest > 0 {
				out += strconv.FormatInt(int64(rest), 10) + units[i+1].name
			}
		}
		return out
	}
	return "0s"
}

// money prints an amount in dollars.
func money(cents int64) string {
	sign := ""
	if cents < 0 {
		sign, cents = "-", -cents
	}
	return fmt.Sprintf("%s%d.%02d", sign, cents/100, cents%100)
}

// plural prints a count with its noun.
func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.FormatInt(n, 10) + " " + noun + "s"
}

// keyOf prints the key that resolve reads: ISA13:ST02 and the claim's place, or the
// key of a pharmacy claim.
func keyOf(r claimdlq.Record) string {
	if r.Ordinal > 0 && r.Format != claimdlq.FormatNCPDP {
		return r.DisplayKey() + ":" + strconv.FormatUint(uint64(r.Ordinal), 10)
	}
	return r.DisplayKey()
}

// cause prints why a record is where it is, in one cell.
func cause(r claimdlq.Record) string {
	var parts []string
	reason := r.Reason.String()
	if r.State == claimdlq.StateSettled && r.Disposition != claimdlq.Rejected {
		reason = "" // what was wrong once is in the timeline
	}
	for _, p := range []string{r.Disposition.String(), reason, r.Detail.String()} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	// HoldIntake says that nothing has carried the record yet, which a queued record
	// without attempts says too.
	if r.Hold != claimdlq.HoldNone && r.Hold != claimdlq.HoldIntake {
		parts = append(parts, "held:"+r.Hold.String())
	}
	return dash(strings.Join(parts, " "))
}

// recordJSON is a record as every verb prints it.
type recordJSON struct {
	claimdlq.Record

	Key string `json:"key"`
}

func toJSON(r claimdlq.Record) recordJSON { return recordJSON{Record: r, Key: keyOf(r)} }
