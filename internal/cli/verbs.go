package cli

import "github.com/spf13/cobra"

// A verb makes one command.
type verb func(*session) *cobra.Command

// verbs lists every command; help sorts them by name.
func verbs() []verb {
	return []verb{
		newAcks, newAudit, newBackup, newRestore, newHealth, newBench, newCheck, newCorrect, newDeadlines, newDeliver,
		newServe, newDemo, newFsck, newGenerate, newGroups, newIngest,
		newInquire, newKeys, newList, newMetrics, newPark, newPayersim, newReplay, newResolve, newRetention, newShow, newSize, newSwitches, newUnpark, newUsers,
		newVersion, newWithdraw,
	}
}
