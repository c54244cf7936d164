package config

// Sources holds the inputs of Load.
type Sources struct {
	Root    string              // worktree root, or ""
	Git     []GitEntry          // git's configuration, in git's order
	Environ []string            // NAME=value, as in os.Environ
	Getenv  func(string) string // called for each setting if Environ is nil
}

// Load reads the settings from all sources. It returns a *SettingError for an unknown
// name, a value of the wrong type, or a value forbidden in worktree files. Settings are
// returned even with an error and hold the accepted values, so that an urgent save can
// continue. An invalid worktree file contributes no values.
func Load(src Sources) (*Settings, error) {
	s := &Settings{values: make([]value, len(table))}
	for i := range table {
		s.values[i] = mustParse(&table[i])
	}
	err := s.gitValues(src.Git)
	if e := s.variables(src); err == nil {
		err = e
	}
	// The file is applied last because its trust checks depend on other sources.
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

// file applies the worktree file's settings, or no settings if one is invalid.
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
