package config

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Settings are the values of every key, each with its origin.
type Settings struct {
	values   []value // by the index of the table
	warnings []string
}

// Setting is one key's value as text and where it comes from: "default",
// ".checkpoint.yaml:3", "git config (local) .git/config",
// "environment GIT_CHECKPOINT_PUSH" or what Set was told.
type Setting struct{ Key, Value, Origin string }

// All returns every setting, in the order of the table.
func (s *Settings) All() []Setting {
	all := make([]Setting, len(table))
	for i := range table {
		all[i] = Setting{Key: table[i].Name, Value: s.values[i].text, Origin: s.values[i].origin}
	}
	return all
}

// Lookup returns one setting; name may be in any form of a key's name.
func (s *Settings) Lookup(name string) (Setting, bool) {
	name, _ = cutPrefixFold(name, "checkpoint.")
	i := findSquashed(name)
	if i < 0 {
		return Setting{}, false
	}
	return Setting{Key: table[i].Name, Value: s.values[i].text, Origin: s.values[i].origin}, true
}

// Warnings are what to tell the user beside the settings.
func (s *Settings) Warnings() []string { return slices.Clone(s.warnings) }

// Set gives a key the value of a flag, whose name is the origin.
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

// Bool is the value of a Bool key. As with the other accessors, a name that is
// no key of that type is a mistake in the program and panics.
func (s *Settings) Bool(name string) bool { return s.at(name, Bool).num != 0 }

// Int is the value of an Int or Days key: -1 stands for all, or for off.
func (s *Settings) Int(name string) int { return s.at(name, Int, Days).num }

// String is the value of a key with one text: Enum, Text, Path or Pattern.
func (s *Settings) String(name string) string { return s.at(name, Enum, Text, Path, Pattern).text }

// Pattern is the compiled value of a Pattern key, nil when it is not set.
func (s *Settings) Pattern(name string) *regexp.Regexp { return s.at(name, Pattern).re }

// Strings is the value of a List key.
func (s *Settings) Strings(name string) []string { return slices.Clone(s.at(name, List).list) }

// Map is the value of a Mapping key.
func (s *Settings) Map(name string) map[string]string { return maps.Clone(s.at(name, Mapping).pairs) }

// ArchiveDays is archive_days for completed chains and for others; -1 stands
// for never.
func (s *Settings) ArchiveDays() (completed, other int) {
	v := s.at("archive_days", Outcome)
	return v.num, v.other
}

// Origin says where the value of a key comes from.
func (s *Settings) Origin(name string) string { return s.any(name).origin }

// IsDefault reports whether nothing sets the key.
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

// put stores a value unless a later source has one.
func (s *Settings) put(i int, v value, src source, origin string) {
	if s.values[i].source > src {
		return
	}
	v.source, v.origin = src, origin
	s.values[i] = v
}

// fileName is the file of a value, from its origin.
func (f *fileValue) fileName() string {
	return f.value.origin[:strings.LastIndexByte(f.value.origin, ':')]
}
