package doctor

import (
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/failure"

	"git-checkpoint/gitstore/internal/git"
)

// ObjectCounts holds counts of `git count-objects -v`.
type ObjectCounts struct{ Loose, Packs int }

// judgeGit reports numbers of objects, versions of git and settings that conflict with checkpoints.
func judgeGit(config []git.ConfigEntry, version git.Version, objects ObjectCounts) (found []Finding) {
	for _, c := range []struct {
		count    int
		what     string
		key      string
		standard int
		does     string
	}{
		{objects.Loose, "loose object", "gc.auto", 6700, "packs"},
		{objects.Packs, "pack", "gc.autoPackLimit", 50, "joins"},
	} {
		limit := c.standard
		if text, ok := git.Last(config, strings.ToLower(c.key)); ok {
			if n, err := strconv.Atoi(text); err == nil {
				limit = n
			}
		}
		if limit > 0 && c.count > limit {
			found = append(found, warning("%s, more than %s (%d): git gc %s them", failure.Plural(c.count, c.what), c.key, limit, c.does))
		}
	}
	if !version.AtLeast(2, 36) {
		found = append(found, warning("git %d.%d: it does not sync refs: a power failure can lose the last save; git 2.36 and newer do", version[0], version[1]))
	}
	for _, s := range config {
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
	if value, _ := git.Last(config, "core.fsync"); value == "none" {
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

// overChains reports whether one side of a refspec matches refs of chains.
func overChains(pattern string) bool {
	prefix, star := strings.CutSuffix(pattern, "*")
	return slices.ContainsFunc([]string{"refs/checkpoints/", "refs/checkpoints-archive/"}, func(chains string) bool {
		return strings.HasPrefix(prefix, chains) || star && strings.HasPrefix(chains, prefix)
	})
}
