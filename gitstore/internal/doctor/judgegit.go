package doctor

import (
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/internal/git"
)

// ObjectCounts holds counts of `git count-objects -v`.
type ObjectCounts struct {
	Loose, Packs int
	Garbage      int
}

// ParseObjects parses the output of `git count-objects -v`.
func ParseObjects(text string) (o ObjectCounts) {
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		n, err := strconv.Atoi(value)
		if err != nil {
			continue
		}
		switch key {
		case "count":
			o.Loose = n
		case "packs":
			o.Packs = n
		case "garbage":
			o.Garbage = n
		}
	}
	return o
}

// judgeObjects reports object counts that need git gc.
func judgeObjects(f Facts) []Finding {
	var found []Finding
	if limit := f.number("gc.auto", 6700); limit > 0 && f.Objects.Loose > limit {
		found = append(found, warning("%s, more than gc.auto (%d): git gc packs them", plural(f.Objects.Loose, "loose object"), limit))
	}
	if limit := f.number("gc.autopacklimit", 50); limit > 0 && f.Objects.Packs > limit {
		found = append(found, warning("%s, more than gc.autoPackLimit (%d): git gc joins them", plural(f.Objects.Packs, "pack"), limit))
	}
	return found
}

// judgeGit reports git versions without full durability or support.
func judgeGit(f Facts) []Finding {
	switch {
	case f.Git == git.Version{} || f.Git.AtLeast(2, 36):
		return nil
	case f.Git.AtLeast(2, 27):
		return []Finding{warning("git %d.%d: it does not sync refs: a power failure can lose the last save; git 2.36 and newer do", f.Git[0], f.Git[1])}
	}
	return []Finding{failure("git %d.%d is too old: 2.27 or newer is required", f.Git[0], f.Git[1])}
}

// judgeConfig reports git settings that conflict with checkpoints.
func judgeConfig(f Facts) []Finding {
	var found []Finding
	for _, s := range f.Config {
		remote, variable := inRemote(s.Key)
		source, into, both := strings.Cut(strings.TrimPrefix(s.Value, "+"), ":") // of a refspec
		switch {
		case variable == "mirror" && slices.Contains([]string{"true", "yes", "on", "1"}, strings.ToLower(s.Value)):
			found = append(found, warning("remote.%s.mirror: each push there publishes refs/git-checkpoint/ too (lines of blame with requests, and states for undo), and deletes checkpoints that only it has; git push --prune %s \"+refs/*:refs/*\" \"^refs/git-checkpoint/*\" leaves the refs out", remote, remote))
		case variable == "push" && overChains(source):
			found = append(found, warning("remote.%s.push = %s: a plain push overwrites others' checkpoints; git checkpoint push does not", remote, s.Value))
		case variable == "fetch" && strings.HasPrefix(s.Value, "+") && both && overChains(into):
			found = append(found, warning("remote.%s.fetch = %s: a plain fetch overwrites checkpoints here; git checkpoint fetch does not", remote, s.Value))
		}
	}
	for _, key := range []string{"gc.reflogexpireunreachable", "gc.reflogexpire"} {
		if value, ok := git.Last(f.Config, key); ok && slices.Contains([]string{"now", "all"}, value) {
			found = append(found, warning("%s = %s: git gc makes it impossible to undo a prune or a drop", key, value))
		}
	}
	if value, ok := git.Last(f.Config, "core.fsync"); ok && value == "none" {
		found = append(found, warning("core.fsync = none: git's own refs and objects may not survive a loss of power"))
	}
	return found
}

// inRemote splits remote.<name>.<variable>.
func inRemote(key string) (name, variable string) {
	rest, ok := strings.CutPrefix(key, "remote.")
	at := strings.LastIndexByte(rest, '.')
	if !ok || at < 0 {
		return "", ""
	}
	return rest[:at], rest[at+1:]
}

// CopiesChains reports whether a plain fetch from a remote, or a plain push to it, copies chains.
func CopiesChains(config []git.ConfigEntry, name string) bool {
	return slices.ContainsFunc(config, func(e git.ConfigEntry) bool {
		remote, variable := inRemote(e.Key)
		source, _, _ := strings.Cut(strings.TrimPrefix(e.Value, "+"), ":")
		return remote == name && (variable == "fetch" || variable == "push") && overChains(source)
	})
}

// overChains reports whether one side of a refspec matches refs of chains.
func overChains(pattern string) bool {
	prefix, star := strings.CutSuffix(pattern, "*")
	for _, chains := range []string{"refs/checkpoints/", "refs/checkpoints-archive/"} {
		if strings.HasPrefix(prefix, chains) || star && strings.HasPrefix(chains, prefix) {
			return true
		}
	}
	return false
}

func (f Facts) number(key string, standard int) int {
	text, ok := git.Last(f.Config, key)
	if n, err := strconv.Atoi(text); ok && err == nil {
		return n
	}
	return standard
}
