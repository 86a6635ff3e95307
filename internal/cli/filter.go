package cli

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"claimdlq"
	"claimdlq/store"
)

// filterFlags are the flags that select records.
type filterFlags struct {
	state, reason, detail, partner, stream, format string
	older                                          time.Duration
}

var filterNames = []string{"state", "reason-code", "detail", "partner", "stream", "format", "older"}

func (f *filterFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.state, "state", "", "only this `state`: "+names(claimdlq.States))
	c.Flags().StringVar(&f.reason, "reason-code", "", "only this `reason`: "+names(claimdlq.Reasons))
	c.Flags().StringVar(&f.detail, "detail", "", "only this error `detail`, such as IK4:SV102")
	c.Flags().StringVar(&f.partner, "partner", "", "only this partner, `ISA07:ISA08`")
	c.Flags().StringVar(&f.stream, "stream", "", "only this `stream`: 837, acks")
	c.Flags().StringVar(&f.format, "format", "", "only this `format`: 837p, 837i, 837d, x12, ack, unreadable")
	c.Flags().DurationVar(&f.older, "older", 0, "only what first failed (or came in) longer ago than this `duration`, such as 36h")
}

// given reports whether any of the flags was set.
func (f *filterFlags) given(c *cobra.Command) bool {
	for _, n := range filterNames {
		if c.Flags().Changed(n) {
			return true
		}
	}
	return false
}

// instead returns what the flags select where no records are named: one or the other.
func (f *filterFlags) instead(c *cobra.Command, ids []string, now time.Time) (store.Filter, error) {
	if (len(ids) > 0) == f.given(c) {
		return store.Filter{}, usagef("name records by ID, or select them with filter flags such as --reason-code")
	}
	return f.filter(now)
}

func (f *filterFlags) filter(now time.Time) (store.Filter, error) {
	out := store.Filter{Partner: f.partner, Stream: f.stream}
	var err error
	if f.state != "" {
		if out.State, err = claimdlq.ParseState(f.state); err != nil {
			return out, usagef("--state is one of %s", names(claimdlq.States))
		}
	}
	if f.reason != "" {
		if out.Reason, err = claimdlq.ParseReason(f.reason); err != nil {
			return out, usagef("--reason-code is one of %s", names(claimdlq.Reasons))
		}
	}
	if f.detail != "" {
		out.Detail = claimdlq.NewDetail(f.detail)
		if out.Detail.String() != f.detail {
			return out, usagef("--detail is a code such as IK4:SV102: capital letters, digits and : . _ -")
		}
	}
	if f.format != "" {
		for x := claimdlq.FormatUnreadable; x <= claimdlq.FormatNCPDP; x++ {
			if x.String() == f.format {
				out.Format = &x
			}
		}
		if out.Format == nil {
			return out, usagef("--format is one of 837p, 837i, 837d, x12, ack, unreadable")
		}
	}
	if f.older != 0 {
		if f.older < 0 {
			return out, usagef("--older is a duration in the past, such as 36h")
		}
		out.Older = now.Add(-f.older)
	}
	return out, nil
}

// names lists the spellings of a closed set.
func names[T interface{ String() string }](set []T) string {
	out := make([]string, len(set))
	for i, v := range set {
		out[i] = v.String()
	}
	return strings.Join(out, ", ")
}
