package config

import "strings"

const variablePrefix = "GIT_CHECKPOINT_"

// Variable is a variable of the environment that is no setting.
type Variable struct{ Name, Doc string }

// variables are the ones that other parts of the program read.
var variables = []Variable{
	{"GIT_CHECKPOINT_ISSUE", "The issue, where none is named."},
	{"GIT_CHECKPOINT_SESSION", "The session that is recorded, where none is named."},
	{"GIT_CHECKPOINT_SKIP", "1 makes the hooks do nothing."},
	{"GIT_CHECKPOINT_CANARY", "A word that a hook says instead of doing anything: hooks status listens for it."},
	{"GIT_CHECKPOINT_NOW", "The time, for tests and reproducible checkpoints."},
}

// Variables returns the variables beside the settings.
func Variables() []Variable {
	return append([]Variable(nil), variables...)
}

// environment applies the variables among environ and returns the first
// error. Names that are not known only give a warning: a variable may belong
// to a newer version or to a wrapper.
func (s *Settings) environment(environ []string) error {
	var first error
	for _, pair := range environ {
		if !strings.HasPrefix(pair, variablePrefix) {
			continue
		}
		name, text, _ := strings.Cut(pair, "=")
		if err := s.variable(name, text); err != nil && first == nil {
			first = err
		}
	}
	return first
}

func (s *Settings) variable(name, text string) error {
	at := findVariable(name)
	if at < 0 {
		if !isVariable(name) {
			s.warnings = append(s.warnings, "environment "+shown(name)+": "+unknown(name, (*Key).Variable))
		}
		return nil
	}
	if text == "" {
		return nil
	}
	v, err := parse(&table[at], text)
	if err != nil {
		return &SettingError{File: "environment", Key: name, Msg: err.Error()}
	}
	s.put(at, v, fromEnvironment, "environment "+name)
	return nil
}

// lookup applies the variables of the settings by asking for each.
func (s *Settings) lookup(getenv func(string) string) error {
	var first error
	for i := range table {
		name := table[i].Variable()
		if text := getenv(name); text != "" {
			if err := s.variable(name, text); err != nil && first == nil {
				first = err
			}
		}
	}
	return first
}

func findVariable(name string) int {
	for i := range table {
		if isVariableOf(name, table[i].Name) {
			return i
		}
	}
	return -1
}

// isVariableOf is table[i].Variable() == name without making the string.
func isVariableOf(name, key string) bool {
	name = name[len(variablePrefix):]
	if len(name) != len(key) {
		return false
	}
	for i := range len(key) {
		c := key[i]
		if c == '.' {
			c = '_'
		}
		if 'a' <= c && c <= 'z' {
			c -= 'a' - 'A'
		}
		if name[i] != c {
			return false
		}
	}
	return true
}

func isVariable(name string) bool {
	for _, v := range variables {
		if v.Name == name {
			return true
		}
	}
	return false
}
