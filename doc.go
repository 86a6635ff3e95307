// Package claimdlq is the vocabulary of a dead-letter queue and replay system
// for healthcare claims: what a record is, which states it may be in, and which
// steps move it. It does no I/O; every store, stage and surface speaks it.
//
// # The life of a record
//
//	             intake                    deliver                    answer
//	bytes ──► [queued] ──lease──► [leased] ──sent──► [submitted] ──acknowledged──► [settled]
//	  │          ▲  ▲                │  │ outcome unknown    │  reject
//	  │ POISON   │  └── backoff ─────┘  └──────► [in_doubt] ─┤ inquiry / acknowledgment / person
//	  ▼          │    TRANSIENT, budget left                 │
//	[quarantined] ◄── budget spent, POISON, content reject ◄─┘
//	  │  ▲  correct: new revision, validated                any unresolved ── retention ──► [parked]
//	  │  └────────────┐
//	  ├─► replay guard ─► [queued] receive_count 0, replay_count+1
//	  └─► cap reached ─► [parked] ── un-park ─► [quarantined]     [withdrawn] from any unresolved
//
// The legal moves are one table, in state.go. Each move is a method of Record
// that takes the record as it was and returns the record as it will be; a store
// commits it by compare-and-set on the record's Revision.
//
// # PHI
//
// No type of this package can hold protected health information: control
// numbers, codes, counts and amounts only. Claim bytes travel as phi.Bytes and
// rest in a vault; a record points at them through a PayloadRef.
package claimdlq
