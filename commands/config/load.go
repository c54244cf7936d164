package config

// Sources is what Load reads the settings from.
type Sources struct {
	Root    string              // root of the worktree, "" for none
	Git     []GitEntry          // git's configuration, in git's order
	Environ []string            // NAME=value, as os.Environ gives it
	Getenv  func(string) string // asked for every setting where Environ is nil
}

// Load reads the settings. The error, if any, is an *Error: an unknown name, a
// value of the wrong type, or one that a worktree file may not give. With an
// error the settings hold what could be accepted, and nothing of a worktree
// file that is wrong, so that a save which must not be lost can go on.
func Load(src Sources) (*Settings, error) {
	s := &Settings{values: make([]value, len(table))}
	for i := range table {
		s.values[i] = mustParse(&table[i])
	}
	err := s.gitValues(src.Git)
	if e := s.variables(src); err == nil {
		err = e
	}
	// Last, because what a file may say depends on what the others say.
	if src.Root != "" {
		if e := s.file(src.Root); e != nil {
			err = e
		}
	}
	return s, err
}

func (s *Settings) variables(src Sources) error {
	if src.Environ == nil && src.Getenv != nil {
		return s.lookup(src.Getenv)
	}
	return s.environment(src.Environ)
}

// file applies the worktree's file, all of it or nothing.
func (s *Settings) file(root string) error {
	values, err := readFile(root)
	if err != nil {
		return err
	}
	for i := range values {
		if err := s.admit(&values[i]); err != nil {
			return err
		}
	}
	for i := range values {
		s.put(values[i].key, values[i].value, fromFile, values[i].value.origin)
	}
	return nil
}

func (s *Settings) admit(f *fileValue) error {
	k := &table[f.key]
	err := admit(k, &f.value, s.values[f.key].source > fromFile)
	if err == nil {
		return nil
	}
	e := &SettingError{File: f.fileName(), Line: f.line, Column: f.column, Key: k.Name, Msg: err.Error()}
	if k.Trust == Never || k.Trust == Tighten {
		e.Hint = "git config " + k.GitName() + " <value>"
	}
	return e
}
