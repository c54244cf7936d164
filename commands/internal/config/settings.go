package config

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Settings holds the value and origin of each key.
type Settings struct {
	values   []value // same indexes as table
	warnings []string
}

// Setting is the text and origin of one key's value. Examples of origins: "default",
// ".checkpoint.yaml:3", "git config (local) .git/config", "environment
// GIT_CHECKPOINT_PUSH", or the origin passed to Set.
type Setting struct{ Key, Value, Origin string }

// All returns every setting in table order.
func (s *Settings) All() []Setting {
	all := make([]Setting, len(table))
	for i := range table {
		all[i] = Setting{Key: table[i].Name, Value: s.values[i].text, Origin: s.values[i].origin}
	}
	return all
}

// Lookup returns one setting; name is any notation of the key's name.
func (s *Settings) Lookup(name string) (Setting, bool) {
	name, _ = cutPrefixFold(name, "checkpoint.")
	i := findSquashed(name)
	if i < 0 {
		return Setting{}, false
	}
	return Setting{Key: table[i].Name, Value: s.values[i].text, Origin: s.values[i].origin}, true
}

// Warnings returns warnings for the user.
func (s *Settings) Warnings() []string { return slices.Clone(s.warnings) }

// Set sets a key to a flag's value; origin is the flag's name.
func (s *Settings) Set(name, text, origin string) error {
	i := find(name)
	if i < 0 {
		return &SettingError{File: origin, Key: shown(name), Msg: unknown(name, func(k *Key) string { return k.Name })}
	}
	v, err := parse(&table[i], text)
	if err != nil {
		return &SettingError{File: origin, Key: name, Msg: err.Error()}
	}
	s.put(i, v, fromFlag, origin)
	return nil
}

// Bool returns the value of a Bool key. All accessors panic if the key is unknown or has
// another type, because that is a programming error.
func (s *Settings) Bool(name string) bool { return s.at(name, Bool).num != 0 }

// Int returns the value of an Int or Days key; -1 means all, or off.
func (s *Settings) Int(name string) int { return s.at(name, Int, Days).num }

// String returns the value of an Enum, Text, Path or Pattern key.
func (s *Settings) String(name string) string { return s.at(name, Enum, Text, Path, Pattern).text }

// Pattern returns the compiled value of a Pattern key, or nil if empty.
func (s *Settings) Pattern(name string) *regexp.Regexp { return s.at(name, Pattern).re }

// Strings returns the value of a List key.
func (s *Settings) Strings(name string) []string { return slices.Clone(s.at(name, List).list) }

// Map returns the value of a Mapping key.
func (s *Settings) Map(name string) map[string]string { return maps.Clone(s.at(name, Mapping).pairs) }

// ArchiveDays returns archive_days for completed and other chains; -1 means never.
func (s *Settings) ArchiveDays() (completed, other int) {
	v := s.at("archive_days", Outcome)
	return v.num, v.other
}

// Origin returns the origin of a key's value.
func (s *Settings) Origin(name string) string { return s.any(name).origin }

// IsDefault reports whether no source sets the key.
func (s *Settings) IsDefault(name string) bool { return s.any(name).source == fromDefault }

func (s *Settings) any(name string) *value {
	i := find(name)
	if i < 0 {
		panic("config: no setting " + name)
	}
	return &s.values[i]
}

func (s *Settings) at(name string, types ...Type) *value {
	i := find(name)
	if i < 0 || !slices.Contains(types, table[i].Type) {
		panic("config: no such setting of this type: " + name)
	}
	return &s.values[i]
}

// put stores a value unless a source with higher precedence has set the key.
func (s *Settings) put(i int, v value, src source, origin string) {
	if s.values[i].source > src {
		return
	}
	v.source, v.origin = src, origin
	s.values[i] = v
}

// fileName returns the file name from a value's origin.
func (f *fileValue) fileName() string {
	return f.value.origin[:strings.LastIndexByte(f.value.origin, ':')]
}
