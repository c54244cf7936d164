package work

import "git-checkpoint/gitstore"

// ChangedBy returns the paths that the checkpoint at an index changed, since the checkpoint that
// its files came from or since HEAD at the save. It returns nil if that is unknown.
func ChangedBy(s *gitstore.Store, l *gitstore.Lineage, i int) (paths []string) {
	at := &l.List.Checkpoints[i]
	from, known := l.Before(i)
	if from != nil {
		return s.Restorer.ChangedBetween(from, at)
	}
	r, err := s.Record(at)
	if err != nil || !known {
		return nil
	}
	for _, f := range r.Files() {
		paths = append(paths, f.Path)
	}
	return paths
}
