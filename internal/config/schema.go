package config

import (
	"slices"

	"claimdlq"
)

// field is a key and how it is read.
type field struct {
	name  string
	value value
}

// value reads a node that is there into the configuration.
type value interface{ read(r *reader, n *node) }

// leaf reads one scalar. It returns what is allowed, "" if the text is.
type leaf func(text string) (allowed string)

// place is a leaf that is a path or an address: a path in the file begins at the
// file's folder. find returns what is wrong, "" if nothing is.
type place struct {
	to    *string
	check func(s string) string
}

// object is a mapping with known keys, in the order in which they are read.
type object []field

// table is a mapping whose keys are names.
type table func(r *reader, n *node)

// sequence is a list.
type sequence func(r *reader, n *node)

// secret is a reference to a secret.
type secret struct {
	to    *Secret
	check func(b []byte) string
}

// schema is every key, bound to the configuration that the reader fills.
func (r *reader) schema() object {
	c := &r.config
	return object{
		{"data", place{&c.Data, anyPath}},
		{"listen", text(&c.Listen, listenAddress)},
		{"payload_listen", text(&c.PayloadListen, listenAddress)},
		{"tls", object{{"cert", place{&c.TLS.Cert, regularFile}}, {"key", place{&c.TLS.Key, regularFile}}, {"off", yesNo(&c.TLS.Off)}, {"self_signed", yesNo(&c.TLS.SelfSigned)}}},
		{"token_file", secret{&c.Token, longWord}},
		{"sign_in", r.signIn()},
		{"log", object{
			{"level", oneOf(&c.Log.Level, "debug", "info", "warning", "error", "off")},
			{"format", oneOf(&c.Log.Format, "text", "json")},
		}},
		{"intake", object{
			{"max_body", size(&c.Intake.MaxBody, 1<<10, 4<<30)},
			{"max_waiting", whole(&c.Intake.MaxWaiting, 1, 1_000_000_000)},
			{"memory_percent", whole(&c.Intake.MemoryPercent, 1, 100)},
			{"batch_messages", whole(&c.Intake.BatchMessages, 1, 1_000_000)},
		}},
		{"workers", whole(&c.Workers, 1, maxWorkers)},
		{"streams", object{
			{StreamX12, streamFields(&r.x12, false)},
			{StreamNCPDP, streamFields(&r.ncpdp, true)},
		}},
		{"partners", table((*reader).partners)},
		{"alarms", r.receivers()},
	}
}

func streamFields(d *draft, overrides bool) object {
	o := append(routeFields(&d.route), field{"policy", policyFields(&d.policy)}, field{"shred_after", shredFields(&d.policy.ShredAfter, !overrides)}, field{"folder", place{&d.folder, existingFolder}})
	if overrides {
		o = append(o, field{"overrides", sequence(func(r *reader, n *node) { r.readOverrides(n, "") })})
	}
	return o
}

// routeFields are the keys that streams and partners share.
func routeFields(to *Route) object {
	b := &to.Breaker
	return object{
		{"target", place{&to.Target, destination}},
		{"status", place{&to.Status, statusPlace}},
		{"content_type", text(&to.ContentType, mediaType)},
		{"authorization_file", secret{&to.Authorization, headerValue}},
		{"fallback", place{&to.Fallback, destination}},
		{"fallback_authorization_file", secret{&to.FallbackAuthorization, headerValue}},
		{"workers", whole(&to.Workers, 1, maxWorkers)},
		{"stopped", yesNo(&to.Stopped)},
		{"idempotent_resend", yesNo(&to.IdempotentResend)},
		{"timely_filing_days", whole(&to.TimelyFilingDays, 0, 3650)},
		{"breaker", object{
			{"consecutive", whole(&b.Consecutive, 1, 1_000_000)},
			{"window", whole(&b.Window, 1, maxWindow)},
			{"failure_percent", whole(&b.FailurePercent, 1, 100)},
			{"min_samples", whole(&b.MinSamples, 1, maxWindow)},
			{"slow_after", span(&b.SlowAfter, 0, 10*minute)},
			{"tier", tier(&b.SlowAfter)},
			{"open", span(&b.Open, millisecond, day)},
			{"max_open", span(&b.MaxOpen, millisecond, day)},
		}},
	}
}

// shredFields are the ways in which a claim ends; acknowledgment files come with 837.
func shredFields(s *claimdlq.ShredAfter, answers bool) object {
	o := object{
		{"paid", span(&s.Paid, hour, 3650*day)},
		{"accepted", span(&s.Accepted, hour, 3650*day)},
		{"reversed", span(&s.Reversed, hour, 3650*day)},
		{"rejected", span(&s.Rejected, hour, 3650*day)},
		{"withdrawn", span(&s.Withdrawn, hour, 3650*day)},
	}
	if answers {
		o = append(o, field{"answers", span(&s.Answers, hour, 3650*day)})
	}
	return o
}

func policyFields(p *claimdlq.Policy) object {
	return object{
		{"max_receive", whole(&p.MaxReceive, 1, 1000)},
		{"max_receive_low", whole(&p.MaxReceiveLow, 1, 1000)},
		{"replay_cap", whole(&p.ReplayCap, 1, 100)},
		{"base", span(&p.Base, millisecond, day)},
		{"cap", span(&p.Cap, millisecond, day)},
		{"jitter", yesNo(&p.Jitter)},
		{"hold_max", span(&p.HoldMax, second, 30*day)},
		{"retention", span(&p.Retention, hour, 3650*day)},
		{"ack_deadline", span(&p.AckDeadline, minute, 365*day)},
	}
}

// names returns the keys of an object.
func (o object) names() []string {
	out := make([]string, len(o))
	for i, f := range o {
		out[i] = f.name
	}
	return out
}

// leaves calls f with the path of every key that has one value.
func (o object) leaves(f func(path []string), above ...string) {
	for _, fd := range o {
		path := slices.Concat(above, []string{fd.name})
		switch v := fd.value.(type) {
		case object:
			v.leaves(f, path...)
		case table, sequence:
		default:
			f(path)
		}
	}
}
