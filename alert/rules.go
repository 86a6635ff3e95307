package alert

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"time"

	"claimdlq"
	"claimdlq/sizing"
)

// The alarms. The first four are those whose time package sizing works out.
const (
	AlarmBreaker    = sizing.AlarmBreaker // breaker_open
	AlarmRetries    = sizing.AlarmRetries // retry_rate
	AlarmIncrease   = sizing.AlarmDepth   // dlq_increase
	AlarmAge        = sizing.AlarmAge     // dlq_oldest_age
	AlarmSpike      = "reason_spike"
	AlarmDepth      = "dlq_depth"
	AlarmBacklog    = "in_doubt_backlog"
	AlarmInDoubtAge = "in_doubt_age"
	AlarmUnknown    = "unknown_codes"
	AlarmParked     = "parked"
	AlarmDifference = "conservation"
	AlarmOrphans    = "orphans"
	AlarmFigures    = "figures_missing"

	AlarmRefused = "intake_refused"
	AlarmFilling = "intake_filling"

	AlarmHeldTarget  = "held_target"
	AlarmHeldLineage = "held_lineage"
	AlarmHeldStopped = "held_stopped"

	AlarmFilingWarning    = "timely_filing_warning"
	AlarmFilingAlert      = "timely_filing_alert"
	AlarmFilingPassed     = "timely_filing_passed"
	AlarmRetentionWarning = "retention_warning"
	AlarmRetentionParked  = "retention_parked"
)

// Levels are where a stream's alarms ring. The zero Levels have the defaults.
type Levels struct {
	// PerMinute is how many claims arrive in a busy minute. Default: 24,000, which is
	// 400/s.
	PerMinute int64
	// Increase pages: so many records more in quarantine within a minute. Default:
	// 1.25 % of PerMinute, at least 5; that is 300 at 400/s. A partner that stands for
	// 5 % of the stream is systemic; a quarter of that rings in time.
	Increase int64
	// Spike rings: so many records more of one reason within five minutes. Default:
	// Increase, so that a fifth of its pace is noticed where one cause is behind it.
	Spike int64
	// Depth makes a ticket: so many records in quarantine. Default: 5 × Increase.
	Depth int64
	// OldestAge makes a ticket: the oldest record in quarantine. Default: 1 h.
	OldestAge time.Duration
	// RetryShare pages: so many failed calls within a minute, as a share of the first
	// deliveries in it; and at least RetryLeast. Default: 5 %, 5.
	RetryShare sizing.Share
	RetryLeast int64
	// InDoubt pages: so many records in doubt. Default: Increase: an outage whose calls
	// end in timeouts fills no quarantine.
	InDoubt int64
	// InDoubtAge makes a ticket: the oldest record in doubt. Default: 1 h.
	InDoubtAge time.Duration
	// Unknown makes a ticket: so many answers with an unknown code in 15 min. Default: 1.
	Unknown int64
	// Parked makes a ticket: so many parked records. Default: 1.
	Parked int64
}

// WithDefaults returns the levels with every default filled in.
func (l Levels) WithDefaults() Levels {
	l.PerMinute = cmp.Or(l.PerMinute, 24_000)
	quarter := l.PerMinute/80 + min(l.PerMinute%80, 1) // 1.25 %, rounded up
	l.Increase = cmp.Or(l.Increase, max(quarter, 5))
	l.Spike = cmp.Or(l.Spike, l.Increase)
	l.Depth = cmp.Or(l.Depth, 5*l.Increase)
	l.OldestAge = cmp.Or(l.OldestAge, time.Hour)
	l.RetryShare = cmp.Or(l.RetryShare, 50_000)
	l.RetryLeast = cmp.Or(l.RetryLeast, 5)
	l.InDoubt = cmp.Or(l.InDoubt, l.Increase)
	l.InDoubtAge = cmp.Or(l.InDoubtAge, time.Hour)
	l.Unknown = cmp.Or(l.Unknown, 1)
	l.Parked = cmp.Or(l.Parked, 1)
	return l
}

// Options tune the rules. The zero Options are usable.
type Options struct {
	// Levels are those of every stream without its own.
	Levels Levels
	// Streams has the levels of the streams that have their own, at most MaxStreams.
	Streams map[string]Levels
	// Severity changes the severity of all rules of a name, such as
	// {"reason_spike": Ticket}.
	Severity map[string]Severity
}

const (
	runbooks    = "docs/runbooks/"
	oneCause    = runbooks + "one-cause.md"
	payerDown   = runbooks + "payer-down.md"
	inDoubt     = runbooks + "in-doubt.md"
	parkedPage  = runbooks + "parked.md"
	quarantine  = runbooks + "quarantine.md"
	filingPage  = runbooks + "timely-filing.md"
	intakePage  = runbooks + "intake.md"
	heldRunbook = runbooks + "held.md"
)

// The console's pages that show the causes.
const (
	overviewPage = "/"
	partnerPage  = "/switches?stream={stream}&partner={partner}"
	waitingPage  = "/records?state=queued&stream={stream}"
	allCauses    = "/groups"
	heldPage     = "/records?state=queued&stream={stream}&hold="
	stoppedPage  = "/switches?stream={stream}"
	causesPage   = "/groups?state=quarantined&stream={stream}"
	spikePage    = "/groups?state=quarantined&stream={stream}&reason={reason}"
	refusedPage  = "/groups?state=quarantined&stream={stream}&reason=SEMANTIC_REJECT"
	oldPage      = "/records?state=quarantined&stream={stream}&older_than=1h"
	inDoubtPage  = "/in-doubt?stream={stream}"
	parkedRecord = "/parked?stream={stream}"
	orphanPage   = "/records?state=quarantined&stream=acks"
	// Who may not see days finds what is unresolved there too. 268 h are four fifths of 14 days.
	deadlinesPage = "/deadlines?stream={stream}"
	ripePage      = "/deadlines?stream={stream}&older_than=268h"
)

// keepFor is how long every alarm must be quiet before it stops.
const keepFor = 5 * time.Minute

// Rules returns the rules, the most urgent first. Errors: Invalid, every fault at once.
func Rules(o Options) ([]Rule, error) {
	if len(o.Streams) > MaxStreams {
		return nil, &claimdlq.Error{Code: claimdlq.Invalid, Op: "read alarm rules", Hint: "at most 64 streams have levels of their own"}
	}
	named := slices.Sorted(maps.Keys(o.Streams))
	var errs []error
	for _, l := range append(slices.Collect(maps.Values(o.Streams)), o.Levels) {
		if l.PerMinute < 0 || l.PerMinute > maxCount {
			errs = append(errs, &claimdlq.Error{Code: claimdlq.Invalid, Op: "read alarm rules", Hint: "claims in a minute are above 0"})
		}
	}
	per := func(f func(Levels) []Rule) []Rule {
		rules := f(o.Levels.WithDefaults())
		for i := range rules {
			rules[i].Except = named
		}
		for _, s := range named {
			own := f(o.Streams[s].WithDefaults())
			for i := range own {
				own[i].Stream = s
			}
			rules = append(rules, own...)
		}
		return rules
	}
	rules := slices.Concat(wide(), refused(), per(paged), late(), per(spikes), per(ticketed), held(), small())
	for i := range rules {
		r := &rules[i]
		r.KeepFor = keepFor
		r.Severity = cmp.Or(o.Severity[r.Name], r.Severity)
		errs = append(errs, r.Validate())
	}
	for name := range o.Severity {
		if !slices.ContainsFunc(rules, func(r Rule) bool { return r.Name == name }) {
			errs = append(errs, &claimdlq.Error{Code: claimdlq.Invalid, Op: "read alarm rules", On: cleanName(name), Hint: "there is no such alarm"})
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return rules, nil
}

// wide are the rules that no level changes and that page.
func wide() []Rule {
	return []Rule{
		{
			Name: AlarmBreaker, Severity: Page, Metric: MetricBreaker, Test: AtLeast, Threshold: 1, Runbook: payerDown,
			Console: partnerPage,
			Summary: "Delivery to {partner} (stream {stream}) is held: its circuit breaker is open.",
		},
		{
			Name: AlarmDifference, Severity: Page, Metric: MetricDifference, Test: NotZero, For: time.Minute, Runbook: runbooks + "conservation.md",
			Console: overviewPage,
			Summary: "Claims taken in and claims accounted for differ by {value}: a claim was lost or counted twice.",
		},
		{
			Name: AlarmFigures, Severity: Page, Metric: MetricDepth, Test: Missing, For: 2 * time.Minute, Runbook: runbooks + "figures-missing.md",
			Console: overviewPage,
			Summary: "There are no figures: the program is down, its store cannot answer, or more streams and partners report than are watched.",
		},
	}
}

// refused are the rules about intake that refuses claims: one for each cause. What a
// moment's load may do rings where it goes on.
func refused() []Rule {
	rules := make([]Rule, 0, len(Causes))
	for _, c := range Causes {
		r := Rule{
			Name: AlarmRefused, Severity: Page, Metric: MetricRefusing, Cause: c, Test: AtLeast, Threshold: 1, Runbook: intakePage, Console: overviewPage,
		}
		switch c {
		case CauseBacklog:
			r.Console, r.Summary = allCauses, "Claims are refused: as many records are unresolved as intake.max_waiting allows."
		case CauseDisk:
			r.Summary = "Claims are refused: they cannot be kept. Mostly the disk is full."
		case CauseMemory:
			r.For, r.Summary = time.Minute, "Claims are refused: memory is short."
		case CauseBusy:
			r.For, r.Summary = time.Minute, "Claims are refused: more come at a time than can be worked on."
		case CauseTarget, CauseLineage, CauseStopped: // they hold records, and refuse none
		}
		rules = append(rules, r)
	}
	return rules
}

// paged are the rules with a level that page.
func paged(l Levels) []Rule {
	return []Rule{
		{
			Name: AlarmRetries, Severity: Page, Metric: MetricFailures, Test: OfFirst, Threshold: float64(l.RetryShare) / float64(sizing.All),
			Least: l.RetryLeast, Window: time.Minute, Runbook: payerDown,
			Console: waitingPage,
			Summary: "{value} {call|calls} of stream {stream} failed within a minute.",
		},
		{
			Name: AlarmIncrease, Severity: Page, Metric: MetricDepth, Test: Rise, Threshold: float64(l.Increase), Window: time.Minute,
			Runbook: quarantine,
			Console: causesPage,
			Summary: "{value} {record|records} more in quarantine within a minute (stream {stream}): reason_spike says why.",
		},
		{
			Name: AlarmBacklog, Severity: Page, Metric: MetricInDoubt, Test: AtLeast, Threshold: float64(l.InDoubt), For: time.Minute, Runbook: inDoubt,
			Console: inDoubtPage,
			Summary: "{value} {record|records} of stream {stream} {is|are} in doubt: calls end without an answer.",
		},
	}
}

// late are the rules about claims that must reach their payer in time.
func late() []Rule {
	filing := func(name, stage string, s Severity, summary string) Rule {
		return Rule{
			Name: name, Severity: s, Metric: MetricDeadlines, Stage: stage, Test: AtLeast, Threshold: 1, Runbook: filingPage, Console: deadlinesPage, Summary: summary,
		}
	}
	return []Rule{
		filing(AlarmFilingAlert, StageAlert, Page, "{value} unresolved {record|records} of stream {stream} {has|have} 90 % of {its|their} filing window behind {it|them}."),
		filing(AlarmFilingPassed, StagePassed, Ticket, "{value} unresolved {record|records} of stream {stream} {is|are} past the last day of {its|their} filing window."),
		filing(AlarmFilingWarning, StageWarning, Ticket, "{value} unresolved {record|records} of stream {stream} {has|have} 80 % of {its|their} filing window behind {it|them}."),
	}
}

// spikes are the rules that tell one cause from another: one for each reason.
func spikes(l Levels) []Rule {
	rules := make([]Rule, 0, len(claimdlq.Reasons))
	for _, reason := range claimdlq.Reasons {
		s := spikeOf(reason)
		s.Name, s.Metric, s.Test, s.Threshold, s.Window, s.Reason = AlarmSpike, MetricByReason, Rise, float64(l.Spike), 5*time.Minute, reason.String()
		s.Console = spikePage
		s.Summary = "{value} {record|records} more in five minutes (stream {stream}): " + s.Summary
		rules = append(rules, s)
	}
	return rules
}

// spikeOf returns what a spike of the reason means, who is told, and what to do.
func spikeOf(r claimdlq.Reason) Rule {
	switch r {
	case claimdlq.FatalSyntax:
		return Rule{Severity: Page, Runbook: oneCause, Summary: "{reason}, a bad rule deploy or a sender's export."}
	case claimdlq.RetriesExhausted:
		return Rule{Severity: Page, Runbook: payerDown, Summary: "{reason}, an outage of the clearinghouse or payer."}
	case claimdlq.SemanticReject:
		return Rule{Severity: Ticket, Runbook: oneCause, Summary: "{reason}, the payer refuses what {it says|they say}."}
	case claimdlq.OutcomeUnknown:
		return Rule{Severity: Ticket, Runbook: inDoubt, Summary: "{reason}, answers do not come."}
	case claimdlq.Overflow:
		return Rule{Severity: Ticket, Runbook: quarantine, Summary: "{reason}, more comes in than intake takes."}
	case claimdlq.Expired:
		return Rule{Severity: Ticket, Runbook: parkedPage, Summary: "{reason}, un-parked after {its|their} retention ended."}
	case claimdlq.ReasonNone:
	}
	return Rule{Severity: Ticket, Runbook: quarantine, Summary: "{reason}."}
}

// ticketed are the rules with a level that make a ticket.
func ticketed(l Levels) []Rule {
	return []Rule{
		{
			Name: AlarmAge, Severity: Ticket, Metric: MetricOldestAge, Test: AtLeast, Threshold: l.OldestAge.Seconds(), Runbook: quarantine,
			Console: oldPage,
			Summary: "The oldest record in quarantine (stream {stream}) failed {value} ago.",
		},
		{
			Name: AlarmDepth, Severity: Ticket, Metric: MetricDepth, Test: AtLeast, Threshold: float64(l.Depth), For: 5 * time.Minute,
			Runbook: quarantine,
			Console: causesPage,
			Summary: "{value} {record is|records are} in quarantine (stream {stream}).",
		},
		{
			Name: AlarmInDoubtAge, Severity: Ticket, Metric: MetricInDoubtAge, Test: AtLeast, Threshold: l.InDoubtAge.Seconds(), Runbook: inDoubt,
			Console: inDoubtPage,
			Summary: "The oldest record in doubt (stream {stream}) has been so for {value}.",
		},
		{
			Name: AlarmUnknown, Severity: Ticket, Metric: MetricUnknown, Test: Rise, Threshold: float64(l.Unknown), Window: 15 * time.Minute,
			Runbook: runbooks + "unknown-code.md",
			Console: refusedPage,
			Summary: "{value} {answer|answers} of stream {stream} carried a code that no table knows; it was taken for a refusal.",
		},
		{
			Name: AlarmParked, Severity: Ticket, Metric: MetricParked, Test: AtLeast, Threshold: float64(l.Parked), Runbook: parkedPage,
			Console: parkedRecord,
			Summary: "{value} {record|records} of stream {stream} {is|are} parked and {waits|wait} for a named person.",
		},
		{
			Name: AlarmRetentionWarning, Severity: Ticket, Metric: MetricRipe, Test: AtLeast, Threshold: 1, Runbook: parkedPage,
			Console: ripePage,
			Summary: "{value} unresolved {record|records} of stream {stream} {has|have} 80 % of {its|their} retention behind {it|them} and will be parked.",
		},
		{
			Name: AlarmRetentionParked, Severity: Ticket, Metric: MetricExpired, Test: Rise, Threshold: 1, Window: 15 * time.Minute, Runbook: parkedPage,
			Console: parkedRecord,
			Summary: "{value} {record|records} of stream {stream} {was|were} parked by {its|their} retention.",
		},
	}
}

// held are the rules about queued records that nobody delivers, each by how long the
// first of them has been held. A claim without a target is a fault of the configuration;
// a stop switch may be for a night's maintenance, and what a claim waits for may be in
// somebody's hands.
func held() []Rule {
	rule := func(name string, c Cause, after time.Duration, page, summary string) Rule {
		return Rule{
			Name: name, Severity: Ticket, Metric: MetricHeldAge, Cause: c, Test: AtLeast, Threshold: after.Seconds(), Runbook: heldRunbook, Console: page,
			Summary: "Records of stream {stream} " + summary,
		}
	}
	return []Rule{
		rule(AlarmHeldTarget, CauseTarget, time.Hour, heldPage+"target", "have had no target for {value}: nobody delivers them."),
		rule(AlarmHeldStopped, CauseStopped, 12*time.Hour, stoppedPage, "have waited for {value} because a person has stopped deliveries."),
		rule(AlarmHeldLineage, CauseLineage, day, heldPage+"lineage", "have waited for {value} for an earlier record of the same claim."),
	}
}

// small are the rules that no level changes and that make a ticket.
func small() []Rule {
	return []Rule{
		{
			Name: AlarmOrphans, Severity: Ticket, Metric: MetricOrphans, Test: AtLeast, Threshold: 1, Runbook: runbooks + "orphan.md",
			Console: orphanPage,
			Summary: "{value} acknowledgment {file answers|files answer} nothing that was sent.",
		},
		{
			Name: AlarmFilling, Severity: Ticket, Metric: MetricFill, Test: AtLeast, Threshold: 0.8, Runbook: intakePage, Console: allCauses,
			Summary: "Four fifths or more of the records that intake.max_waiting allows are unresolved: when all are, claims are refused.",
		},
	}
}
