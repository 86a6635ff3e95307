package auth

import (
	"context"
	"strings"
	"time"

	"claimdlq"
)

// The actions of this package's events.
const (
	ActSignIn         claimdlq.Action = "sign_in"
	ActSignInRefused  claimdlq.Action = "sign_in_refused" // detail: the account, or UNKNOWN
	ActSignOut        claimdlq.Action = "sign_out"
	ActSignOutAll     claimdlq.Action = "sign_out_all"
	ActElevate        claimdlq.Action = "elevate" // break-glass: payload.reveal for a while
	ActDenied         claimdlq.Action = "denied"
	ActUserCreate     claimdlq.Action = "user_create"
	ActUserAccess     claimdlq.Action = "user_access" // roles or partners
	ActUserDisable    claimdlq.Action = "user_disable"
	ActUserEnable     claimdlq.Action = "user_enable"
	ActPasswordSet    claimdlq.Action = "password_set"    // by somebody else
	ActPasswordChange claimdlq.Action = "password_change" // by himself
	ActCodeEnrol      claimdlq.Action = "code_enrol"
	ActCodeConfirm    claimdlq.Action = "code_confirm"
	ActCodeReset      claimdlq.Action = "code_reset"
	ActTokenCreate    claimdlq.Action = "token_create"
	ActTokenRevoke    claimdlq.Action = "token_revoke"
	ActApprovalAsk    claimdlq.Action = "approval_ask"
	ActApprovalGive   claimdlq.Action = "approval_give"
	ActApprovalRefuse claimdlq.Action = "approval_refuse"
	ActApprovalUse    claimdlq.Action = "approval_use"
	ActApprovalSkip   claimdlq.Action = "approval_skip" // done at the command line without the second person it needs
)

// anonymous is the actor of a sign-in that failed: nobody has shown to be anybody.
const anonymous = "anonymous"

// Event is what the audit log must hold before an Act happens. It has no secret in it,
// and no login that does not exist: people type passwords into the wrong field.
type Event struct {
	At     time.Time
	Actor  string
	Action claimdlq.Action
	Detail claimdlq.Detail // account, token, approval or permission
	Note   string          // a person's reason, or where a sign-in came from
}

// Entry returns the event as an entry of the audit log.
func (e Event) Entry() claimdlq.Entry {
	return claimdlq.Entry{At: e.At, Actor: e.Actor, Action: e.Action, Detail: e.Detail, Note: e.Note}
}

func event(now time.Time, actor string, a claimdlq.Action, detail, note string) Event {
	return Event{At: now, Actor: actor, Action: a, Detail: claimdlq.NewDetail(strings.ToUpper(detail)), Note: note}
}

// Recorder makes an event durable before it returns nil.
type Recorder func(ctx context.Context, e Event) error

// Act is what was decided and has not happened yet, or the refusal of it.
type Act[T any] struct {
	// Event has to be durable first. Its Action is empty where nothing is to be audited:
	// a request that was refused for what it says.
	Event Event

	do  func() (T, error)
	err error
}

// Err returns why it is refused, nil if Do would try it.
func (a Act[T]) Err() error { return a.err }

// Do records the event and then lets it happen; the result is durable on return where
// it is kept at all. If recording fails nothing happens, code Unavailable. A refusal is
// recorded, where it has an event, and returned. What has changed since the act was
// decided is judged again: Conflict, NotFound or Refused. It is done once.
func (a Act[T]) Do(ctx context.Context, record Recorder) (T, error) {
	var zero T
	if a.Event.Action != "" {
		if err := record(ctx, a.Event); err != nil {
			return zero, &claimdlq.Error{Code: claimdlq.Unavailable, Op: "audit " + string(a.Event.Action), Err: err, Hint: "nothing was changed: try again"}
		}
	}
	switch {
	case a.err != nil:
		return zero, a.err
	case a.do == nil:
		return zero, &claimdlq.Error{Code: claimdlq.Internal, Op: "act"}
	}
	return a.do()
}

// refused returns an act that is none.
func refused[T any](e Event, err error) Act[T] { return Act[T]{Event: e, err: err} }
