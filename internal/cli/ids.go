package cli

import (
	"context"
	"strconv"
	"strings"

	"claimdlq"
	"claimdlq/store"
)

// argID says how verbs name a record.
const argID = `ID is a record's number, its key ISA13:ST02 (the transaction set), or
ISA13:ST02:N for the Nth claim of that set where the claim has a record of its own; of a
pharmacy claim the 24 characters of its key.`

// maxCandidates is how many records an ambiguous key lists.
const maxCandidates = 20

// maxSameKey bounds how many records are looked at under one ISA13:ST02: a set, the
// claims that parted from it, and the copies that came under the same numbers.
const maxSameKey = 1_000_000

// resolve returns the record that arg names. A key that fits several records is a
// usage error that lists them: two partners may send the same numbers.
func (s *session) resolve(ctx context.Context, st store.Store, arg string) (claimdlq.Record, error) {
	if n, err := strconv.ParseUint(arg, 10, 64); err == nil {
		return st.Get(ctx, claimdlq.ID(n))
	}
	key, ordinal, err := splitKey(arg)
	if err != nil {
		return claimdlq.Record{}, err
	}
	found, err := st.Lookup(ctx, claimdlq.DisplayRef(key), maxSameKey)
	if err != nil {
		return claimdlq.Record{}, err
	}
	fit := found[:0:0]
	for _, r := range found {
		if r.DisplayKey() == key && (r.Ordinal == ordinal || r.Format == claimdlq.FormatNCPDP) {
			fit = append(fit, r)
		}
	}
	switch len(fit) {
	case 0:
		return claimdlq.Record{}, &claimdlq.Error{Code: claimdlq.NotFound, Op: "find record", On: key, Hint: "claimdlq list"}
	case 1:
		return fit[0], nil
	}
	s.say("%s fits %d records:", key, len(fit))
	for _, r := range fit[:min(len(fit), maxCandidates)] {
		s.say("  %-8d %-12s from %s to %s, received %s", r.ID, r.State, dash(r.Sender), dash(r.Partner), stamp(r.CreatedAt))
	}
	return claimdlq.Record{}, usagef("%s is not the key of one record: name it by its number", key)
}

// splitKey takes ISA13:ST02 or ISA13:ST02:N apart. Control numbers are short and
// printable; anything else is refused without being repeated.
func splitKey(arg string) (key string, ordinal uint32, err error) {
	bad := usagef("an ID is a record's number, ISA13:ST02, ISA13:ST02:N, or the 24 characters of a pharmacy claim's key")
	if isRxKey(arg) {
		return arg, 0, nil
	}
	if len(arg) > 64 {
		return "", 0, bad
	}
	parts := strings.Split(arg, ":")
	switch len(parts) {
	case 2:
		return arg, 0, nil
	case 3:
		n, err := strconv.ParseUint(parts[2], 10, 32)
		if err != nil || n == 0 {
			return "", 0, bad
		}
		return parts[0] + ":" + parts[1], uint32(n), nil
	}
	return "", 0, bad
}

// isRxKey reports whether arg is the display key of a pharmacy claim.
func isRxKey(arg string) bool {
	if len(arg) != 24 {
		return false
	}
	for i := range len(arg) {
		if c := arg[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
