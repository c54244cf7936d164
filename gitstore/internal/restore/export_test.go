package restore

// SetFault sets a function called at every fault point; nil removes it.
func SetFault(f func(point string) error) {
	if f == nil {
		f = func(string) error { return nil }
	}
	faultPoint = f
}

// Metadata is Worktree.metadata.
func Metadata(s *Worktree, name string, err error) error { return s.metadata(name, err) }
