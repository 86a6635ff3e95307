package alert

// The metrics that the rules read, named here and nowhere else. Each carries the
// label stream; MetricByReason carries reason too, MetricBreaker partner. A counter
// is exported from 0 on, before anything was counted: Prometheus takes the first
// value it sees for no increase.
const (
	// MetricDepth: records in quarantine.
	MetricDepth = "dlq_depth"
	// MetricByReason: records in quarantine by reason, every reason always present.
	MetricByReason = "dlq_depth_by_reason"
	// MetricOldestAge: seconds since the oldest record in quarantine first failed, 0
	// where there is none.
	MetricOldestAge = "dlq_oldest_age_seconds"
	// MetricParked: records that wait for a named person.
	MetricParked = "dlq_parked"
	// MetricInDoubt: records of which nobody knows whether they arrived.
	MetricInDoubt = "claimdlq_in_doubt"
	// MetricInDoubtAge: seconds since the oldest of them fell into doubt, 0 where
	// there is none.
	MetricInDoubtAge = "claimdlq_in_doubt_oldest_age_seconds"
	// MetricDeliveries: counter of deliveries that ended, however they ended.
	MetricDeliveries = "claimdlq_deliveries_total"
	// MetricRetries: counter of those that were not the first since intake or replay.
	MetricRetries = "claimdlq_retries_total"
	// MetricFailures: counter of those that failed in a transient way or ended unknown.
	MetricFailures = "claimdlq_delivery_failures_total"
	// MetricUnknown: counter of answers with a code that no table knows.
	MetricUnknown = "claimdlq_unknown_codes_total"
	// MetricBreaker: 1 while a partner's circuit breaker is open or half open, else 0.
	MetricBreaker = "claimdlq_breaker_open"
	// MetricDifference: claims taken in less claims accounted for.
	MetricDifference = "claimdlq_conservation_difference"
	// MetricOrphans: acknowledgment files that could not be matched in full.
	MetricOrphans = "claimdlq_acknowledgments_orphaned"
	// MetricDeadlines: unresolved records that have a filing window, by how much of it
	// has gone (label stage); every stage always present.
	MetricDeadlines = "claimdlq_deadline_records"
	// MetricRipe: unresolved records that will be parked by their retention and have 80 %
	// of it behind them.
	MetricRipe = "claimdlq_retention_due"
	// MetricExpired: counter of records that were parked by their retention.
	MetricExpired = "claimdlq_retention_parked_total"

	// MetricHeld: queued records that show that they are held, by why (label cause);
	// MetricHeldAge: seconds since the first of them has been, 0 where there is none.
	// Every cause of Holds always present once they were looked at.
	MetricHeld    = "claimdlq_held_records"
	MetricHeldAge = "claimdlq_held_oldest_age_seconds"

	// MetricRefused: counter of requests with claims that intake refused, by why (label
	// cause, no stream); every cause always present.
	MetricRefused = "claimdlq_intake_refused_total"
	// MetricRefusing: 1 for a cause while claims are refused for it, or were within the
	// last minute, else 0.
	MetricRefusing = "claimdlq_intake_refusing"
	// MetricWaiting: unresolved records; MetricWaitingLimit: at how many intake refuses
	// more, 0 where there is no limit; MetricFill: the one as a part of the other.
	MetricWaiting      = "claimdlq_intake_waiting"
	MetricWaitingLimit = "claimdlq_intake_waiting_limit"
	MetricFill         = "claimdlq_intake_fill_ratio"
)

// Cause is why intake refuses claims, or why records are held.
type Cause string

// The causes why intake refuses claims, the label cause of MetricRefused.
const (
	CauseBacklog Cause = "backlog" // intake.max_waiting records are unresolved
	CauseDisk    Cause = "disk"    // claims cannot be kept: mostly a full disk
	CauseMemory  Cause = "memory"  // the process has used too much of its memory
	CauseBusy    Cause = "busy"    // more requests at a time than are worked on and may wait
)

// The causes that hold queued records, the label cause of MetricHeldAge.
const (
	CauseTarget  Cause = "target"  // no target is configured for the partner
	CauseLineage Cause = "lineage" // an earlier record of the same claim is not decided
	CauseStopped Cause = "stopped" // a person has stopped deliveries
)

// Holds lists the causes that hold records.
var Holds = []Cause{CauseTarget, CauseLineage, CauseStopped}

// Causes lists the causes of MetricRefused.
var Causes = []Cause{CauseBacklog, CauseDisk, CauseMemory, CauseBusy}

// The stages of a filing window, the label stage of MetricDeadlines.
const (
	StageUnknown = "unknown" // no day is known from which to count
	StageInTime  = "in_time"
	StageWarning = "warning" // 80 % have gone
	StageAlert   = "alert"   // 90 %
	StagePassed  = "passed"  // the last day is over
)

// DeadlineStages lists the stages.
var DeadlineStages = []string{StageUnknown, StageInTime, StageWarning, StageAlert, StagePassed}
