package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/commands/internal/manual"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/failure"
)

// Sources holds the inputs of Load.
type Sources struct {
	Root    string                 // worktree root, or ""
	Git     []gitstore.ConfigEntry // git's configuration, in git's order
	Environ []string               // NAME=value, as in os.Environ
}

// Load reads the settings from all sources. It returns a *SettingError for an unknown
// name or a value of the wrong type. Settings are returned even with an error and hold the
// accepted values, so that a save can continue. A worktree file with a syntax error
// contributes no values. A value that worktree files must not set is left out with a warning.
func Load(src Sources) (*Settings, error) {
	s := &Settings{values: make([]value, len(table()))}
	for i := range table() {
		s.values[i] = mustParse(&table()[i])
	}
	for i := range src.Git {
		s.invalid = cmp.Or(s.invalid, s.gitValue(src.Git[:i], &src.Git[i]))
	}
	for _, pair := range src.Environ {
		name, text, _ := strings.Cut(pair, "=")
		s.invalid = cmp.Or(s.invalid, s.variable(name, text))
	}
	if src.Root != "" { // last, because the trust checks of the file depend on other sources
		s.invalid = cmp.Or(s.invalid, s.file(src))
	}
	return s, s.invalid
}

// Variables lists environment variables outside the table of settings, which other packages read.
var Variables = []manual.Variable{
	{Name: "GIT_CHECKPOINT_ISSUE", Text: "Issue of a command that names no issue."},
	{Name: "GIT_CHECKPOINT_ISSUE_AT", Text: "Issue and git directory of the worktree for which run has set GIT_CHECKPOINT_ISSUE."},
	{Name: "GIT_CHECKPOINT_SESSION", Text: "Session to record without --session."},
	{Name: "GIT_CHECKPOINT_SKIP", Text: "1 makes the hooks do nothing."},
	{Name: "GIT_CHECKPOINT_CANARY", Text: "Word that a hook prints instead of running, for the test of hooks status."},
	{Name: "GIT_CHECKPOINT_TRACE", Text: "1 prints each step, process, ref move, lock, sync and request with its time on standard error; an absolute path appends to that file."},
	{Name: "GIT_CHECKPOINT_NOW", Text: "Current time, for tests and reproducible checkpoints."},
}

func cutPrefixFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

// gitValue applies an entry of section checkpoint, which overrides the entries before.
func (s *Settings) gitValue(before []gitstore.ConfigEntry, e *gitstore.ConfigEntry) error {
	name, ok := cutPrefixFold(e.Key, "checkpoint.")
	if !ok {
		return nil
	}
	origin := "git config"
	if e.Scope != "" {
		origin += " (" + e.Scope + ")"
	}
	if file, ok := strings.CutPrefix(e.Origin, "file:"); ok {
		if checkLine(file, maxText) != nil {
			file = shown(file)
		}
		origin += " " + file
	}
	at := findSquashed(name)
	if at < 0 {
		bad := &SettingError{File: origin, Key: shown("checkpoint." + name), Msg: unknown("checkpoint."+name, GitName), Hint: editCommand(e.Scope)}
		if i := indexOf(func(k *Key) bool { g := k.Group(); return g != nil && sameSquashed(name, g.Name) }); i >= 0 {
			bad.Msg = "this is a mapping: set its entries, such as " + GitName(table()[i].Name)
		}
		return bad
	}
	k := &table()[at]
	text := e.Value
	if k.Type == List || k.Type == Mapping {
		text = joinScope(before, at, e)
	}
	v, err := parse(k, text)
	if err != nil {
		return &SettingError{File: origin, Key: GitName(name), Msg: err.Error(), Hint: editCommand(e.Scope)}
	}
	s.put(at, v, fromGit, origin)
	return nil
}

// editCommand returns the command that edits git's configuration of a scope, or "" for
// entries outside of files.
func editCommand(scope string) string {
	if scope == "" || scope == "command" {
		return ""
	}
	return "git config --" + scope + " --edit"
}

// findSquashed finds a key's index, ignoring case, dashes and underscores of the name.
func findSquashed(name string) int {
	return indexOf(func(k *Key) bool { return sameSquashed(name, k.Name) })
}

// Known returns the name of a setting in any notation, with or without the section
// checkpoint of git's configuration, or "".
func Known(name string) string {
	bare, _ := cutPrefixFold(name, "checkpoint.")
	if i := findSquashed(bare); i >= 0 {
		return table()[i].Name
	}
	return ""
}

var separators = strings.NewReplacer("-", "", "_", "")

func sameSquashed(a, b string) bool {
	return strings.EqualFold(separators.Replace(a), separators.Replace(b))
}

// joinScope joins the values of earlier entries with the key and scope of e, and e's
// value.
func joinScope(before []gitstore.ConfigEntry, at int, e *gitstore.ConfigEntry) string {
	var all []string
	for i := range before {
		name, ok := cutPrefixFold(before[i].Key, "checkpoint.")
		if ok && before[i].Scope == e.Scope && findSquashed(name) == at {
			all = append(all, before[i].Value)
		}
	}
	return strings.Join(append(all, e.Value), ",")
}

// variable applies an environment variable. An unknown name, for example of a newer version, causes
// only a warning.
func (s *Settings) variable(name, text string) error {
	if !strings.HasPrefix(name, variablePrefix) {
		return nil
	}
	at := indexOf(func(k *Key) bool { return Variable(k.Name) == name })
	if at < 0 {
		if !slices.ContainsFunc(Variables, func(v manual.Variable) bool { return v.Name == name }) {
			s.warnings = append(s.warnings, "environment "+shown(name)+": "+unknown(name, Variable))
		}
		return nil
	}
	if text == "" {
		return nil
	}
	v, err := parse(&table()[at], text)
	if err != nil {
		return &SettingError{File: "environment", Key: name, Msg: err.Error(), Hint: "unset " + name}
	}
	s.put(at, v, fromEnvironment, "environment "+name)
	return nil
}

const variablePrefix = "GIT_CHECKPOINT_"

// file applies the valid settings of the worktree file and returns its first error. A value
// that its key's trust forbids is left out.
func (s *Settings) file(src Sources) error {
	f, err := readFile(src.Root)
	var invalid *SettingError
	if errors.As(err, &invalid) {
		invalid.worktree = true
		invalid.Hint = failure.Correct(invalid.File)
	}
	var weaker []string // commands of git that set the values that the file must not set
	for i := range f.values {
		v := &f.values[i]
		switch k, err := &table()[v.key], s.admit(v); {
		case err == nil && k.Refused != "" && v.value.num == 1:
			s.notApplied = append(s.notApplied, k.stays(v.value.origin))
		case err == nil:
			s.put(v.key, v.value, fromFile, v.value.origin)
		case k.Trust == Tighten:
			weaker = append(weaker, "git config "+GitName(k.Name)+" "+v.value.text)
		case err.Hint != "":
			s.warnings = append(s.warnings, err.Error()+"; to change it: "+err.Hint)
		default:
			s.warnings = append(s.warnings, err.Error())
		}
	}
	for _, e := range f.unknown {
		best := nearest(e.Key, inFile)
		i := find(best)
		// It may be a misspelt setting that keeps checkpoints, so no rule removes one.
		if strings.HasPrefix(e.Key, keeps) || best+"." == keeps || i >= 0 && table()[i].Trust == Tighten {
			e.worktree = true
			s.misspelt = cmp.Or(s.misspelt, e)
			continue
		}
		s.notApplied = append(s.notApplied, e.Error()+"; this setting is ignored")
	}
	if len(weaker) > 0 {
		s.notApplied = append(s.notApplied, f.name+" keeps less than the defaults, which a file in the worktree cannot set; to set it: "+strings.Join(weaker, "; "))
	}
	if s.at("storage.location").source == fromFile && s.String("mirror") == "off" {
		s.notApplied = append(s.notApplied, "saves write no files to storage.location of "+f.name+"; to turn this on: git config checkpoint.mirror crunch")
	}
	return err
}

// admit returns an error if the worktree file must not set this value.
func (s *Settings) admit(f *fileValue) *SettingError {
	k, v := &table()[f.key], &f.value
	e := &SettingError{File: v.origin[:strings.LastIndexByte(v.origin, ':')], Line: f.line, Column: f.column, Key: f.name}
	switch {
	case k.Trust == Never:
		e.Hint = "git config " + GitName(k.Name) + " <value>"
	case k.Trust == Stricter:
		e.Hint = "git config " + GitName(k.Name) + " " + v.text
	}
	switch def, inside := mustParse(k), checkInside(v.text); {
	case slices.Contains(k.NotFile, v.text):
		e.Msg = "a file in the worktree cannot choose " + v.text
	case k.Trust == Never:
		e.Msg = "a file in the worktree cannot set this"
	case k.Trust == Inside && inside != nil:
		e.Msg = inside.Error()
	case (k.Trust == Tighten || k.Trust == Stricter) && s.values[f.key].source <= fromFile && weaker(k, v, &def): // no trusted source sets it
		e.Msg = fmt.Sprintf("a file in the worktree cannot make this weaker than %s, got %s", def.text, v.text)
	default:
		return nil
	}
	return e
}
