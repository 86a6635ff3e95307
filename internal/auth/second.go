package auth

import (
	"slices"

	"claimdlq"
)

// Second says from where on a replay needs a second person: so many claims or so many
// cents, whichever comes first. Un-park and withdraw always do.
type Second struct {
	Claims int64 `json:"claims"` // Default: 100
	Cents  int64 `json:"cents"`  // Default: $10,000
}

// DefaultSecond is the rule where nothing else is said.
var DefaultSecond = Second{Claims: 100, Cents: 10_000_00}

// secondFile is the rule of two persons that the directory was last served with, so that
// a command without a configuration goes by the same.
type secondFile struct {
	Second

	// Provider: people who sign in through the provider can approve.
	Provider bool `json:"provider,omitempty"`
}

func checkSecond(f *secondFile) error {
	if f.Claims < 0 || f.Cents < 0 {
		return &claimdlq.Error{Code: claimdlq.Corrupt, Op: "read the rule of two persons", Hint: "remove second.json, and serve once with your configuration"}
	}
	return nil
}

// keepSecond keeps the rule that is given; where none is, the kept one counts.
func (d *Desk) keepSecond() error {
	if d.o.Second == (Second{}) {
		return nil
	}
	to := secondFile{Second: d.o.Second}
	if d.o.OIDC != nil {
		for _, roles := range d.o.OIDC.c.Roles {
			to.Provider = to.Provider || slices.Contains(roles, Approver)
		}
	}
	if *d.second.get() == to {
		return nil
	}
	return d.second.change(func(f *secondFile) error {
		*f = to
		return nil
	})
}

// NeedsApproval reports whether doing it to so many claims, of so many cents together,
// needs a second person.
func (d *Desk) NeedsApproval(perm Permission, claims, cents int64) bool {
	if perm != ReplayRun {
		return perm.Second() != ""
	}
	from := d.second.get().Second
	if from == (Second{}) {
		from = DefaultSecond
	}
	return claims >= from.Claims || cents >= from.Cents
}

// HasSecond reports whether there is anybody who could approve it: an account of a person
// that is not disabled, or people of the provider.
func (d *Desk) HasSecond(perm Permission) bool {
	return d.second.get().Provider || slices.ContainsFunc(d.users.get().Users, func(a account) bool {
		return !a.Machine && !a.Disabled && grantsOf(a.Roles).has(perm.Second())
	})
}

// Alone is that somebody at the command line does it without the second person whom it
// needs. Errors: those of May.
func (d *Desk) Alone(by Principal, perm Permission) Act[bool] {
	if err := by.May(perm, ""); err != nil {
		return refused[bool](by.Denied(d.o.Now(), perm), err)
	}
	return Act[bool]{Event: event(d.o.Now(), by.Actor, ActApprovalSkip, string(perm), by.Reason), do: func() (bool, error) { return true, nil }}
}
