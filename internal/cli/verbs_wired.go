//go:build wired

package cli

func wired() []verb {
	return []verb{newAcks, newCorrect, newDeliver, newDemo, newFsck, newGroups, newIngest, newInquire, newKeys, newList, newMetrics, newPark, newReplay, newResolve, newShow, newUnpark, newWithdraw}
}
