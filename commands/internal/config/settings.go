// Package config reads the settings of git-checkpoint. A table holds each key's type,
// default, documentation and trust, which limits the values that a file in a clone can
// set.
//
// # Sources
//
// A later source overrides an earlier source:
//
//   - the defaults of the table
//   - one file in the worktree: .checkpoint.yaml in the root directory, otherwise
//     .claude/checkpoint-config.yaml
//   - git's configuration, from system scope to worktree scope and command line
//   - environment variables
//
// # Names
//
// A key consists of words joined by "_" and sections joined by ".", for example
// retention.batch_complete. Each source has its own notation:
//
//	in a file               checkpoint:
//	                          retention:
//	                            batch_complete: 3
//	in git's configuration  git config checkpoint.retention.batch-complete 3
//	in the environment      GIT_CHECKPOINT_RETENTION_BATCH_COMPLETE=3
//
// Git restricts variable names to letters, digits and "-". In git's configuration "-"
// therefore replaces "_", and a section becomes a subsection. Names are case-insensitive
// there and dashes are optional: checkpoint.maxAgeDays means max_age_days. The root key
// "checkpoint" is optional in .checkpoint.yaml.
//
// A list is a sequence in a file and comma-separated text in other sources. A mapping is
// written label=phase in other sources. Git's configuration can repeat such a variable,
// and the last scope with values replaces the values of other scopes. An empty
// environment variable counts as not set.
//
// # Trust
//
// A file in the worktree comes with the clone and is hostile until checked. Each key
// restricts the values from such a file, and other values are left out with a warning:
//
//   - Free: any valid value
//   - Tighten: values that keep more than the default
//   - Stricter: values that are stricter than the default
//   - Inside: a path inside the worktree
//   - Never: no value
//
// A weaker value for a Tighten or Stricter key is accepted if a trusted source also sets
// this key. The trusted source then overrides the file.
package config

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/retention"
)

// Settings holds the value and origin of each key.
type Settings struct {
	values     []value // same indexes as table
	warnings   []string
	notApplied []string      // messages about the worktree file for the commands about the settings
	invalid    error         // first error of the sources, or nil
	misspelt   *SettingError // unknown key of the worktree file that may be a setting of retention, or nil
}

// All returns every setting that has an effect, in table order.
func (s *Settings) All() []view.Setting {
	all := make([]view.Setting, 0, len(table()))
	for i := range table() {
		if table()[i].Refused == "" {
			all = append(all, view.Setting{Key: table()[i].Name, Value: s.values[i].text, Origin: s.values[i].origin})
		}
	}
	return all
}

// Warnings returns the warnings of every command.
func (s *Settings) Warnings() []string { return slices.Clone(s.warnings) }

// NotApplied returns messages about the values of the worktree file that have no effect, for the
// commands about the settings.
func (s *Settings) NotApplied() []string { return slices.Clone(s.notApplied) }

// Invalid returns the error of Load, an unknown key of the worktree file that may be a
// misspelt setting of retention, or nil. With an error, a setting that keeps
// checkpoints may be missing, so that no rule of retention is applied.
func (s *Settings) Invalid() error {
	if s.invalid == nil && s.misspelt != nil {
		return s.misspelt
	}
	return s.invalid
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
func (s *Settings) Origin(name string) string { return s.at(name).origin }

// IsPlain reports whether the values of a key are numbers or words of the table, which name no
// place, program or person.
func (s *Settings) IsPlain(name string) bool {
	i := find(name)
	return i >= 0 && slices.Contains([]Type{Bool, Int, Days, Outcome, Enum}, table()[i].Type)
}

// IsDefault reports whether no source sets the key.
func (s *Settings) IsDefault(name string) bool { return s.at(name).source == fromDefault }

const (
	switches = "triggers."
	keeps    = "retention."
)

// Policy returns the retention policy from the settings. With invalid settings the policy
// is empty, and an empty policy keeps all checkpoints.
func (s *Settings) Policy() retention.Policy {
	if s.Invalid() != nil {
		return retention.Policy{}
	}
	p := retention.Default()
	for i := range table() {
		name, ok := strings.CutPrefix(table()[i].Name, keeps)
		if !ok {
			continue
		}
		t := checkpoint.Trigger(name)
		p[t] = retention.Rule{Keep: s.values[i].num, PerPhase: p[t].PerPhase}
	}
	return p
}

// TriggerEnabled reports whether saves with trigger t are enabled, and otherwise the
// reason. `enabled: false` in a worktree file disables only automatic saves: a clone must
// not disable its user's manual saves.
func (s *Settings) TriggerEnabled(t checkpoint.Trigger) (ok bool, reason string) {
	automatic := t.Automatic()
	if !s.Bool("enabled") && (automatic || s.at("enabled").source != fromFile) {
		return false, "checkpoints are off (enabled, " + s.Origin("enabled") + ")"
	}
	if automatic && !s.Bool("auto_checkpoint") {
		return false, "automatic checkpoints are off (auto_checkpoint, " + s.Origin("auto_checkpoint") + ")"
	}
	name := switches + string(t) // manual saves have no such key
	if strings.HasPrefix(string(t), "conflict_") && t.Known() {
		name = switches + "conflict_events"
	}
	if find(name) >= 0 && !s.Bool(name) {
		return false, "trigger " + string(t) + " is off (" + s.Origin(name) + ")"
	}
	return true, ""
}

// SettingError reports an invalid setting with its position.
type SettingError struct {
	File         string // file name, or a description of another source
	Line, Column int    // 1-based; 0 if unknown or outside files
	Key          string // setting; empty if the whole file is invalid
	Msg          string
	Hint         string // suggested command, or ""
	worktree     bool   // File is a settings file of the worktree
}

func (e *SettingError) Error() string {
	var b strings.Builder
	b.WriteString("config: " + e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
		if e.Column > 0 {
			fmt.Fprintf(&b, ":%d", e.Column)
		}
	}
	if e.Key != "" {
		b.WriteString(": " + e.Key)
	}
	return b.String() + ": " + e.Msg
}

// InWorktree reports whether the error is in a settings file of the worktree.
func (e *SettingError) InWorktree() bool { return e.worktree }

func (e *SettingError) Exit() (code int, hint string) { return failure.Usage, e.Hint }

// shown shortens untrusted text and quotes unprintable characters for a message.
func shown(s string) string {
	const most = 60
	if len(s) > most {
		s = view.CutBytes(s, most) + "..."
	}
	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }) {
		return strconv.QuoteToASCII(s)
	}
	return s
}

// put stores a value unless a source with higher precedence has set the key. A switch that
// cannot be turned on stays off, with a warning.
func (s *Settings) put(i int, v value, src source, origin string) {
	if k := &table()[i]; k.Refused != "" && v.num == 1 {
		s.warnings = append(s.warnings, k.stays(origin))
		return
	}
	set := &s.values[i]
	if set.source > src {
		return
	}
	v.source, v.origin = src, origin
	s.values[i] = v
}

// stays returns the message about a switch that cannot be turned on.
func (k *Key) stays(origin string) string {
	return (&SettingError{File: origin, Key: k.Name, Msg: "it stays off: " + k.Refused}).Error()
}

// at returns the value of a key. It panics if the key has another type; without types, each type
// is accepted.
func (s *Settings) at(name string, types ...Type) *value {
	i := find(name)
	if i < 0 || len(types) > 0 && !slices.Contains(types, table()[i].Type) {
		panic("config: no such setting of this type: " + name)
	}
	return &s.values[i]
}
