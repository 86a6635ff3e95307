package filestore

// LastEntry returns the number of the newest audit entry that was ever committed,
// and the number up to which AuditedTo has said that the audit log holds them.
// Both are 0 in a new store. They let a caller find out that journal and audit log
// do not belong together: one of them was lost, or restored alone.
func (s *Store) LastEntry() (committed, audited uint64) {
	s.index.mu.RLock()
	defer s.index.mu.RUnlock()
	return s.index.totals.lastSeq, s.index.totals.audited
}
