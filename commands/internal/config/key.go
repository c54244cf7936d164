package config

import "strings"

// Type is the type of a key's values.
type Type int

// Types of keys.
const (
	Bool    Type = iota // true or false; outside JSON also yes, no, on, off, 1, 0
	Int                 // whole number from Key.Min to Key.Max
	Days                // number of days; off, 0 or -1 means never
	Outcome             // days for completed chains and, after a comma, other chains; 0 means at once, off or -1 means never
	Enum                // one of Key.Values
	Text                // one line of text
	Path                // path; {issue} is replaced by the issue
	Pattern             // regular expression (RE2)
	List                // ordered names
	Mapping             // mapping of labels to phases
)

// String describes the type for users.
func (t Type) String() string {
	return [...]string{
		"true or false", "number", "days or off", "days or off, for completed and for other chains",
		"one of", "text", "path", "regular expression", "list", "mapping",
	}[t]
}

// Trust limits the values of a key that a worktree file can set.
type Trust int

// Trust levels.
const (
	Free    Trust = iota // any valid value
	Tighten              // values that keep more, or are stricter, than the default
	Inside               // paths inside the worktree
	Never                // no value
)

// String answers the question "can a worktree file set this key?" for users.
func (t Trust) String() string {
	return [...]string{"yes", "only to keep more or be stricter", "inside the worktree only", "no"}[t]
}

// Key is one row in the table of settings.
type Key struct {
	Name     string
	Type     Type
	Default  string
	Values   []string // values of an Enum, weakest first
	Min, Max int      // range of an Int
	Trust    Trust
	NotFile  []string // values of an Enum forbidden in worktree files
	Refused  string   // reason that a Bool cannot be true
	Doc      string   // one sentence
}

// GitName returns the key's documented name in git's configuration.
func (k *Key) GitName() string {
	return "checkpoint." + strings.ReplaceAll(k.Name, "_", "-")
}

// Variable returns the name of the key's environment variable.
func (k *Key) Variable() string {
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(k.Name, ".", "_"))
}

// Keys returns a copy of the table, in documentation order.
func Keys() []Key {
	keys := make([]Key, len(table))
	copy(keys, table)
	return keys
}

// find returns the index of the key called name, or -1.
func find(name string) int {
	for i := range table {
		if table[i].Name == name {
			return i
		}
	}
	return -1
}

// isSection reports whether the table has keys in section name.
func isSection(name string) bool {
	for i := range table {
		if section, _, ok := strings.Cut(table[i].Name, "."); ok && section == name {
			return true
		}
	}
	return false
}
