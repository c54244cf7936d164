package config

import "strings"

const variablePrefix = "GIT_CHECKPOINT_"

// Variable is an environment variable outside the table of settings.
type Variable struct{ Name, Doc string }

// variables lists environment variables that other packages read.
var variables = []Variable{
	{"GIT_CHECKPOINT_ISSUE", "The issue, where none is named."},
	{"GIT_CHECKPOINT_SESSION", "The session that is recorded, where none is named."},
	{"GIT_CHECKPOINT_SKIP", "1 makes the hooks do nothing."},
	{"GIT_CHECKPOINT_CANARY", "A word that a hook says instead of doing anything: hooks status listens for it."},
	{"GIT_CHECKPOINT_NOW", "The time, for tests and reproducible checkpoints."},
}

// Variables returns the environment variables outside the table.
func Variables() []Variable {
	return append([]Variable(nil), variables...)
}

// environment applies the variables in environ and returns the first error. An unknown
// name causes only a warning, because a newer version or a wrapper may use this variable.
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

// lookup calls getenv for each key's variable and applies non-empty values.
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

// isVariableOf compares name with the variable of a key without allocating a string.
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
