package doctor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Ahead is an issue with checkpoints dated more than one day in the future, or with a clock more
// than a day ahead of their date.
type Ahead struct {
	Issue string
	Count int    // checkpoints dated more than one day in the future
	ID    string // newest of these checkpoints
	Clock string // newest checkpoint with a clock ahead of its date, or ""
}

// Both is an issue with checkpoints in both chain and archive.
type Both struct {
	Issue string
	Count int
	ID    string // newest of these checkpoints
}

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

// A GitSetting is an entry of git's configuration.
type GitSetting struct{ Key, Value string }

func judgeAhead(f Facts) []Finding {
	var found []Finding
	for _, a := range f.Ahead {
		if a.Count > 0 {
			found = append(found, warning("issue %s: %s dated more than a day ahead, %s the newest: check the clock of the machine that saved it", a.Issue, plural(a.Count, "checkpoint"), a.ID))
		}
		if a.Clock != "" {
			found = append(found, warning("issue %s: the clock of %s is more than a day ahead of its date, and its date counts: no save writes such a clock", a.Issue, a.Clock))
		}
	}
	return found
}

// Doubted is an issue with archived checkpoints whose age is in doubt.
type Doubted struct {
	Issue, ID, Why string
	Count          int
}

// judgeDoubted reports archived checkpoints that do not expire.
func judgeDoubted(f Facts) []Finding {
	var found []Finding
	for _, d := range f.Doubted {
		found = append(found, warning("issue %s: %s in the archive cannot expire, %s the newest: %s", d.Issue, plural(d.Count, "checkpoint"), d.ID, d.Why))
	}
	return found
}

// judgeBoth reports checkpoints in both chain and archive.
func judgeBoth(f Facts) []Finding {
	var found []Finding
	for _, b := range f.Both {
		found = append(found, failure("issue %s: %s in the chain and in the archive, %s the newest", b.Issue, plural(b.Count, "checkpoint"), b.ID).
			withFix(Fix{Act: ClearArchive, To: b.Issue, Said: fmt.Sprintf("removed %s of the chain of issue %s from its archive", plural(b.Count, "checkpoint"), b.Issue)}))
	}
	return found
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
	has := func(major, minor int) bool { return f.Git[0] > major || f.Git[0] == major && f.Git[1] >= minor }
	switch {
	case f.Git == [2]int{} || has(2, 36):
		return nil
	case has(2, 27):
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
		if value, ok := f.last(key); ok && slices.Contains([]string{"now", "all"}, value) {
			found = append(found, warning("%s = %s: git gc makes it impossible to undo a prune or a drop", key, value))
		}
	}
	if value, ok := f.last("core.fsync"); ok && value == "none" {
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
	for _, chains := range []string{"refs/checkpoints/", "refs/checkpoints-archive/"} {
		if strings.HasPrefix(prefix, chains) || star && strings.HasPrefix(chains, prefix) {
			return true
		}
	}
	return false
}

func (f Facts) last(key string) (string, bool) {
	for _, s := range slices.Backward(f.Config) {
		if s.Key == key {
			return s.Value, true
		}
	}
	return "", false
}

func (f Facts) number(key string, standard int) int {
	text, ok := f.last(key)
	if n, err := strconv.Atoi(text); ok && err == nil {
		return n
	}
	return standard
}
