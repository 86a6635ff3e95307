package filestore

// Replayed returns how many changes opening the store has replayed, if none has
// been committed since.
func Replayed(s *Store) int64 { return s.changes.Load() }
