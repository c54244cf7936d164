package config

import "strings"

// Type says what values a key takes.
type Type int

// The types of keys.
const (
	Bool    Type = iota // true or false; yes, no, on, off, 1, 0 elsewhere than in JSON
	Int                 // a whole number between Key.Min and Key.Max
	Days                // a number of days, or off, 0 or -1 for never
	Outcome             // days for completed chains, and after a comma for the others; 0 for at once, off or -1 for never
	Enum                // one of Key.Values
	Text                // one line
	Path                // a path, where {issue} stands for the issue
	Pattern             // a regular expression (RE2)
	List                // names, in order
	Mapping             // label to phase
)

// String is the type in words.
func (t Type) String() string {
	return [...]string{
		"true or false", "number", "days or off", "days or off, for completed and for other chains",
		"one of", "text", "path", "regular expression", "list", "mapping",
	}[t]
}

// Trust says what a file in the worktree may do with a key.
type Trust int

// The classes of trust.
const (
	Free    Trust = iota // set it
	Tighten              // keep more, or be stricter, than the default
	Inside               // name a path inside the worktree
	Never                // not set it
)

// String is the class in words, as an answer to "may a worktree file set it?".
func (t Trust) String() string {
	return [...]string{"yes", "only to keep more or be stricter", "inside the worktree only", "no"}[t]
}

// Key is one row of the table of settings.
type Key struct {
	Name     string
	Type     Type
	Default  string
	Values   []string // of an Enum, the weakest first
	Min, Max int      // of an Int
	Trust    Trust
	NotFile  []string // values of an Enum that a worktree file may not choose
	Refused  string   // of a Bool: why it cannot be true
	Doc      string   // one sentence
}

// GitName is the key's documented name in git's configuration.
func (k *Key) GitName() string {
	return "checkpoint." + strings.ReplaceAll(k.Name, "_", "-")
}

// Variable is the key's name in the environment.
func (k *Key) Variable() string {
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(k.Name, ".", "_"))
}

// Keys returns the table, in the order in which it is documented.
func Keys() []Key {
	keys := make([]Key, len(table))
	copy(keys, table)
	return keys
}

// find is the index of the key called name, -1 when there is none.
func find(name string) int {
	for i := range table {
		if table[i].Name == name {
			return i
		}
	}
	return -1
}

// isSection reports whether keys are nested under name.
func isSection(name string) bool {
	for i := range table {
		if section, _, ok := strings.Cut(table[i].Name, "."); ok && section == name {
			return true
		}
	}
	return false
}
