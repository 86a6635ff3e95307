package cli

import "github.com/spf13/cobra"

// A verb makes one command.
type verb func(*session) *cobra.Command

// verbs lists every command; help sorts them by name.
func verbs() []verb {
	return append([]verb{
		newGenerate,
		newPayersim,
		newVersion,
	}, wired()...)
}
