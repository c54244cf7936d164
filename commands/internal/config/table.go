package config

import (
	"slices"
	"strings"

	"git-checkpoint/commands/internal/view"
)

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
	Free     Trust = iota // any valid value
	Tighten               // values that keep more than the default
	Stricter              // values that are stricter than the default
	Inside                // paths inside the worktree
	Never                 // no value
)

// String answers the question "can a worktree file set this key?" for users.
func (t Trust) String() string {
	return [...]string{"yes", "only to keep more", "only to be stricter", "inside the worktree only", "no"}[t]
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
	Refused  string   // reason that a Bool of crunch stays false, with a warning; not documented
	Crunch   string   // name in crunch's settings file, or ""
	Doc      string   // one sentence
}

// A Group is a setting that is a mapping. The table has a row for each entry of the mapping,
// with the group's name as section.
type Group struct {
	Name  string
	Entry string // placeholder for the entry's name
	Doc   string // one sentence
}

// Group returns the mapping that has the key as an entry, or nil.
func (k *Key) Group() *Group {
	section, _, _ := strings.Cut(k.Name, ".")
	i := slices.IndexFunc(groups, func(g Group) bool { return g.Name == section })
	if i < 0 {
		return nil
	}
	return &groups[i]
}

// GitName returns the notation of a setting's name in git's configuration.
func GitName(name string) string { return "checkpoint." + strings.ReplaceAll(name, "_", "-") }

// Variable returns the name of a setting's environment variable.
func Variable(name string) string {
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(name, ".", "_"))
}

// Keys returns the rows of the table that have an effect, in documentation order.
func Keys() []Key {
	return slices.DeleteFunc(slices.Clone(table()), func(k Key) bool { return k.Refused != "" })
}

// Takes describes the key's values for users, with literal values in backquotes.
func (k *Key) Takes() string {
	if k.Type != Enum {
		return k.Type.String()
	}
	return view.OneOf(view.Each(k.Values, code))
}

// FromFile describes for users whether a worktree file can set the key.
func (k *Key) FromFile() string {
	if len(k.NotFile) > 0 {
		return "yes, but not " + code(strings.Join(k.NotFile, ", "))
	}
	return k.Trust.String()
}

// EditDistance returns the number of single-byte insertions, deletions, replacements and
// swaps of adjacent bytes that turn a into b.
func EditDistance(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}

func code(s string) string {
	if s == "" {
		return "none"
	}
	return "`" + s + "`"
}

// inFile is the notation of files in the worktree.
func inFile(name string) string { return name }

// find returns the index of the key called name, or -1.
func find(name string) int {
	return indexOf(func(k *Key) bool { return k.Name == name })
}

// indexOf returns the index of the first key for which is returns true, or -1.
func indexOf(is func(*Key) bool) int {
	for i := range table() {
		if is(&table()[i]) {
			return i
		}
	}
	return -1
}

// unknown returns the message for an unknown name. notation returns the name of a setting in the
// notation of the source.
func unknown(name string, notation func(string) string) string {
	if best := nearest(name, notation); best != "" {
		return "unknown setting; did you mean " + best + "?"
	}
	return "unknown setting"
}

// nearest returns the most similar known name, or "" if no name is similar.
func nearest(name string, notation func(string) string) string {
	if len(name) > 80 {
		return ""
	}
	best, least := "", 1+min(3, len(name)/3)
	for _, k := range Keys() {
		for _, candidate := range parts(notation(k.Name)) {
			if d := candidate.cost + EditDistance(name, candidate.text); d < least {
				best, least = candidate.shown, d
			}
		}
	}
	return best
}

// parts returns the forms of a known name that users may have misspelt: the whole name, its
// section, or its last word at the wrong level.
func parts(known string) []candidate {
	all := []candidate{{known, known, 0}}
	if dot := strings.LastIndexByte(known, '.'); dot > 0 {
		all = append(all, candidate{known[dot+1:], known, 1})
		if section := known[:dot]; section != rootKey {
			all = append(all, candidate{section, section, 0})
		}
	}
	return all
}

type candidate struct {
	text, shown string
	cost        int
}
