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
)
