package config

import (
	"strings"

	"git-checkpoint/gitstore"
)

// GitEntry is one entry of git's configuration: the key with lower-case section and
// variable, the value, and its origin.
type GitEntry = gitstore.ConfigEntry

// gitValues applies the entries of section checkpoint and returns the first error. The
// last entry of a key overrides earlier entries.
func (s *Settings) gitValues(entries []GitEntry) error {
	var first error
	for i := range entries {
		e := &entries[i]
		name, ok := cutPrefixFold(e.Key, "checkpoint.")
		if !ok {
			continue
		}
		if err := s.gitValue(entries[:i], name, e); err != nil && first == nil {
			first = err
		}
	}
	return first
}

func (s *Settings) gitValue(before []GitEntry, name string, e *GitEntry) error {
	origin := gitOrigin(e)
	at := findSquashed(name)
	if at < 0 {
		name := "checkpoint." + name
		return &SettingError{File: origin, Key: shown(name), Msg: unknown(name, (*Key).GitName)}
	}
	k := &table[at]
	text := e.Value
	if k.Type == List || k.Type == Mapping {
		text = joinScope(before, at, e)
	}
	v, err := parse(k, text)
	if err != nil {
		return &SettingError{File: origin, Key: k.GitName(), Msg: err.Error()}
	}
	s.put(at, v, fromGit, origin)
	return nil
}

// joinScope joins the values of earlier entries with the key and scope of e, and e's
// value.
func joinScope(before []GitEntry, at int, e *GitEntry) string {
	var all []string
	for i := range before {
		name, ok := cutPrefixFold(before[i].Key, "checkpoint.")
		if ok && before[i].Scope == e.Scope && findSquashed(name) == at {
			all = append(all, before[i].Value)
		}
	}
	return strings.Join(append(all, e.Value), ",")
}

// gitOrigin describes the origin of an entry for users.
func gitOrigin(e *GitEntry) string {
	words := "git config"
	if e.Scope != "" {
		words += " (" + e.Scope + ")"
	}
	if file, ok := strings.CutPrefix(e.Origin, "file:"); ok {
		words += " " + shownPath(file)
	}
	return words
}

// shownPath returns a printable path unchanged; other paths are shortened and quoted.
func shownPath(path string) string {
	if checkLine(path, maxText) == nil {
		return path
	}
	return shown(path)
}

func cutPrefixFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

// findSquashed finds a key's index by name, ignoring case, dashes and underscores.
func findSquashed(name string) int {
	for i := range table {
		if sameSquashed(name, table[i].Name) {
			return i
		}
	}
	return -1
}

func sameSquashed(a, b string) bool {
	i, j := 0, 0
	for {
		for i < len(a) && (a[i] == '-' || a[i] == '_') {
			i++
		}
		for j < len(b) && (b[j] == '-' || b[j] == '_') {
			j++
		}
		if i == len(a) || j == len(b) {
			return i == len(a) && j == len(b)
		}
		if lower(a[i]) != lower(b[j]) {
			return false
		}
		i, j = i+1, j+1
	}
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
