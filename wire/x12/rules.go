package x12

// Rules are one version of the implementation guide rules.
type Rules struct{ version string }

// Version returns the rule_version to record, such as v2026.11.
func (r *Rules) Version() string { return r.version }
