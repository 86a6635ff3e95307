// Package docs holds the runbooks, for the console to show while an alarm rings.
package docs

import "embed"

// Runbooks has runbooks/NAME.md.
//
//go:embed runbooks/*.md
var Runbooks embed.FS
