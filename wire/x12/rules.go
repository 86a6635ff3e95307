package x12

import "claimdlq"

// Rules are one version of the implementation guide rules.
type Rules struct{ version string }

// Version returns the rule_version to record, such as v2026.11.
func (r *Rules) Version() string { return r.version }

// RuleVersions returns the embedded versions, oldest first.
func RuleVersions() []string { return []string{"v2026.11"} }

// LatestRules returns the newest embedded rules.
func LatestRules() *Rules { return &Rules{version: "v2026.11"} }

// LoadRules returns the embedded rules of the given version, or an error with
// code NotFound.
func LoadRules(version string) (*Rules, error) {
	if version == "v2026.11" {
		return LatestRules(), nil
	}
	return nil, &claimdlq.Error{Code: claimdlq.NotFound, Op: "load rules"}
}
