package auth

import "slices"

// Role is a bundle of permissions that an account can have; it can have several.
type Role string

// The roles.
const (
	Viewer   Role = "viewer"   // sees records and figures
	Operator Role = "operator" // runs the streams: intake, replays, switches
	Analyst  Role = "analyst"  // looks into claims, with a reason, and corrects them
	Approver Role = "approver" // the second person
	Admin    Role = "admin"    // users and keys; no payloads
)

// Roles lists every role.
var Roles = []Role{Viewer, Operator, Analyst, Approver, Admin}

// Permission names one kind of thing to do.
type Permission string

// The permissions.
const (
	RecordsRead       Permission = "records.read"
	GroupsRead        Permission = "groups.read"
	MetricsRead       Permission = "metrics.read"
	SizingRead        Permission = "sizing.read"
	AuditRead         Permission = "audit.read"
	AuditVerify       Permission = "audit.verify"
	ClaimsIntake      Permission = "claims.intake"
	DeadlettersIntake Permission = "deadletters.intake"
	AcksIntake        Permission = "acks.intake"
	PayloadReveal     Permission = "payload.reveal"
	PayloadBreakGlass Permission = "payload.breakglass" // may elevate himself to payload.reveal for a while
	RecordCorrect     Permission = "record.correct"
	RecordPark        Permission = "record.park"
	RecordUnpark      Permission = "record.unpark"
	RecordWithdraw    Permission = "record.withdraw"
	RecordResolve     Permission = "record.resolve"
	RecordInquire     Permission = "record.inquire"
	RecordApprove     Permission = "record.approve" // the second pair of eyes on un-park and withdraw
	ReplayPlan        Permission = "replay.plan"
	ReplayRun         Permission = "replay.run"
	ReplayApprove     Permission = "replay.approve" // the second pair of eyes on a large replay
	SwitchesSet       Permission = "switches.set"
	AlarmsAck         Permission = "alarms.ack"
	UsersAdmin        Permission = "users.admin"
	KeysAdmin         Permission = "keys.admin"
)

// roleSet is a set of roles, one bit each in the order of Roles.
type roleSet uint8

const (
	vie roleSet = 1 << iota // viewer
	ope                     // operator
	ana                     // analyst
	app                     // approver
	adm                     // admin

	everybody = vie | ope | ana | app | adm
)

// trait is what else is true of a permission.
type trait uint8

const (
	person trait = 1 << iota // never by an API token
	reason                   // only with a reason
	wide                     // about no partner: those who are limited to partners have it too
)

// table is the one place that says who may do what. A permission that is not in it
// is nobody's. Second names the permission that a second person needs to approve it.
var table = []struct {
	name   Permission
	roles  roleSet
	traits trait
	second Permission
}{
	{RecordsRead, everybody, 0, ""},
	{GroupsRead, everybody, 0, ""},
	{MetricsRead, everybody, 0, ""},
	{SizingRead, everybody, wide, ""},
	{AuditRead, app | adm, 0, ""},
	{AuditVerify, ope | app | adm, wide, ""},
	{ClaimsIntake, ope, 0, ""},
	{DeadlettersIntake, ope, 0, ""},
	{AcksIntake, ope, 0, ""},
	{PayloadReveal, ana, person | reason, ""},
	{PayloadBreakGlass, ope | app | adm, person | reason | wide, ""},
	{RecordCorrect, ana, person | reason, ""},
	{RecordPark, ope | ana, reason, ""},
	{RecordUnpark, ope | ana, reason, RecordApprove},
	{RecordWithdraw, ana, reason, RecordApprove},
	{RecordResolve, ana, person | reason, ""},
	{RecordInquire, ope | ana, 0, ""},
	{RecordApprove, app, person, ""},
	{ReplayPlan, ope | ana, 0, ""},
	{ReplayRun, ope | ana, 0, ReplayApprove},
	{ReplayApprove, app, person, ""},
	{SwitchesSet, ope, reason, ""},
	{AlarmsAck, ope | ana, 0, ""},
	{UsersAdmin, adm, person, ""},
	{KeysAdmin, adm, person, ""},
}

// Permissions lists every permission, in the table's order.
func Permissions() []Permission {
	out := make([]Permission, len(table))
	for i := range table {
		out[i] = table[i].name
	}
	return out
}

// Known reports whether the table has the permission.
func (p Permission) Known() bool { return p.row() >= 0 }

// Roles lists the roles that have the permission.
func (p Permission) Roles() []Role {
	var out []Role
	if i := p.row(); i >= 0 {
		for n, r := range Roles {
			if table[i].roles&(1<<n) != 0 {
				out = append(out, r)
			}
		}
	}
	return out
}

// NeedsReason reports whether May refuses it without a reason.
func (p Permission) NeedsReason() bool { return p.has(reason) }

// PeopleOnly reports whether it is for people who signed in, never for API tokens.
func (p Permission) PeopleOnly() bool { return p.has(person) }

// Second returns the permission of those who may approve it: empty where one person
// is enough. Whether a replay needs a second person depends on its size too: see
// Desk.NeedsApproval.
func (p Permission) Second() Permission {
	if i := p.row(); i >= 0 {
		return table[i].second
	}
	return ""
}

func (p Permission) has(t trait) bool {
	i := p.row()
	return i >= 0 && table[i].traits&t != 0
}

// row returns the permission's place in the table, -1 for none.
func (p Permission) row() int {
	for i := range table {
		if table[i].name == p {
			return i
		}
	}
	return -1
}

// Known reports whether there is such a role.
func (r Role) Known() bool { return slices.Contains(Roles, r) }

// grants is a set of permissions, one bit each in the order of the table.
type grants uint64

func grantsOf(roles []Role) (g grants) {
	for n, r := range Roles {
		if !slices.Contains(roles, r) {
			continue
		}
		for i := range table {
			if table[i].roles&(1<<n) != 0 {
				g |= 1 << i
			}
		}
	}
	return g
}

func grantsTo(ps ...Permission) (g grants) {
	for _, p := range ps {
		if i := p.row(); i >= 0 {
			g |= 1 << i
		}
	}
	return g
}

// byToken takes out what no API token may do.
func (g grants) byToken() grants {
	for i := range table {
		if table[i].traits&person != 0 {
			g &^= 1 << i
		}
	}
	return g
}

func (g grants) has(p Permission) bool {
	i := p.row()
	return i >= 0 && g&(1<<i) != 0
}
