// Package doctor verifies chains, finds problems around them and repairs those.
//
// Check finds problems around the chains of a repository: locks and temporary files of ended processes,
// broken refs, clocks in the future, git settings that conflict with checkpoints. A Fix is always safe:
// it deletes no readable data and disturbs no running process.
package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/facts"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/objectformat"
	"git-checkpoint/gitstore/internal/git/repository"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/snapshot"
	"git-checkpoint/gitstore/retention"
)

// Doctor verifies and repairs a repository's checkpoints.
type Doctor struct {
	repo     *repo.Repo
	chain    *chain.Chains
	snapshot *snapshot.Capturer
	facts    *facts.Facts
	Phases   []string // phases of the settings, known in every record
}

// New returns the Doctor of a repository.
func New(r *repo.Repo, c *chain.Chains, s *snapshot.Capturer, f *facts.Facts) *Doctor {
	return &Doctor{repo: r, chain: c, snapshot: s, facts: f}
}

// Check examines the files, refs and settings around the chains of the repository. A
// Verification checks the chains themselves.
func (s *Doctor) Check(ctx context.Context) ([]Finding, error) {
	version, err := git.InstalledVersion()
	if err == nil {
		err = version.TooOld()
	}
	if err != nil {
		return nil, err
	}
	if s.repo.CacheRefs(ctx) {
		defer s.repo.Refs.Release()
	}
	found, live, archived, err := s.refs(ctx)
	if err != nil {
		return nil, err
	}
	objects, err := s.ObjectCounts(ctx)
	return slices.Concat(s.leftovers(), found, s.findAhead(ctx, live), s.findDoubted(ctx, archived), judgeGit(s.repo.Config, version, objects)), err
}

// Features returns the features of the repository that its stored form depends on, for a bug
// report, such as "sha1 objects", "files refs" and "shallow".
func (s *Doctor) Features() []string {
	info := s.repo.Info
	all := []string{objectformat.Name + " objects", info.RefFormat + " refs"}
	for _, f := range []struct {
		name string
		on   bool
	}{
		{"bare", info.Bare},
		{"shallow", info.Shallow},
		{"partial", repository.Partial(s.repo.Config)},
		{"linked worktree", info.Dir != info.CommonDir},
		{"precious objects", info.Precious},
		{"alternates", len(info.Alternates) > 0},
	} {
		if f.on {
			all = append(all, f.name)
		}
	}
	return all
}

// ObjectCounts returns git's counts of objects.
func (s *Doctor) ObjectCounts(ctx context.Context) (ObjectCounts, error) {
	out, err := s.repo.Git.Output(ctx, "count-objects", "-v")
	if err != nil {
		return ObjectCounts{}, fmt.Errorf("count objects: %w", err)
	}
	counts := map[string]int{}
	for line := range strings.Lines(string(out)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		counts[key], _ = strconv.Atoi(value)
	}
	return ObjectCounts{Loose: counts["count"], Packs: counts["packs"]}, nil
}

// findAhead reports checkpoints whose date is more than a day ahead, or whose clock is a day ahead
// of their date. A checkpoint that was saved on top of such a date has a clock ahead, but its own
// date.
func (s *Doctor) findAhead(ctx context.Context, issues []checkpoint.Issue) (found []Finding) {
	for _, issue := range issues {
		l, err := s.chain.List(ctx, issue, 0)
		if err != nil {
			continue // likewise
		}
		var newest checkpoint.Clock // clocks of saves after this one are just above it
		for i := range l.Checkpoints {
			newest = max(newest, l.Checkpoints[i].Clock)
		}
		count, id, clock := 0, "", "" // of the newest
		for i := range l.Checkpoints {
			c := &l.Checkpoints[i]
			if checkpoint.ClockAt(c.Saved).Ahead(s.repo.Now()) {
				count++
				id = cmp.Or(id, c.Name())
			}
			if c.Stated != c.Clock && c.Stated > newest+checkpoint.Clock(time.Second) {
				clock = cmp.Or(clock, c.Name())
			}
		}
		if count > 0 {
			found = append(found, warning("issue %s: %s dated more than a day ahead, %s the newest: check the clock of the machine that saved it", issue, failure.Plural(count, "checkpoint"), id))
		}
		if clock != "" {
			found = append(found, warning("issue %s: the clock of %s is more than a day ahead of its date, and its date counts: no save writes such a clock", issue, clock))
		}
	}
	return found
}

// findDoubted reports archived checkpoints that do not expire, because their age is in doubt.
func (s *Doctor) findDoubted(ctx context.Context, issues []checkpoint.Issue) (found []Finding) {
	newest := s.chain.NewestCommit(ctx)
	for _, issue := range issues {
		l, err := s.chain.Archived(ctx, issue, 0)
		if err != nil {
			continue // likewise
		}
		count, id, why := 0, "", "" // of the newest
		for i := range l.Checkpoints {
			c := &l.Checkpoints[i]
			times := retention.Times{Created: c.Saved, Clock: c.Clock, Base: s.chain.BaseTime(c), Archived: c.Filed.At, Newest: newest, Now: s.repo.Now()}
			if doubt := times.Doubt(); doubt != "" && !c.Pinned && !c.Filed.At.IsZero() {
				count++
				id, why = cmp.Or(id, c.Name()), cmp.Or(why, doubt)
			}
		}
		if count > 0 {
			found = append(found, warning("issue %s: %s in the archive cannot expire, %s the newest: %s", issue, failure.Plural(count, "checkpoint"), id, why))
		}
	}
	return found
}

// A Usage is the disk space used by an issue's checkpoints.
type Usage struct {
	Checkpoints int   // includes archived checkpoints
	Bytes       int64 // on disk, without objects that branches, tags or remote-tracking branches reach
}

// Usage measures the disk space of an issue with its archive. Objects that several issues
// share count for each issue. It requires git 2.31, and reads every commit and tree.
func (s *Doctor) Usage(ctx context.Context, issue checkpoint.Issue) (u Usage, err error) {
	args := []string{"rev-list", "--objects", "--disk-usage"}
	if s.facts.Partial() {
		args = append(args, "--exclude-promisor-objects") // otherwise git would fetch them
	}
	for ref, read := range map[string]func(context.Context, checkpoint.Issue, int) (*chain.List, error){
		repo.LiveRef(issue): s.chain.List, repo.ArchiveRef(issue): s.chain.Archived,
	} {
		l, err := read(ctx, issue, 0)
		if err != nil {
			return u, err
		}
		if l.Tip.IsZero() {
			continue // git would fail for an unknown ref
		}
		u.Checkpoints += len(l.Checkpoints)
		args = append(args, ref)
	}
	out, err := s.repo.Git.Output(ctx, append(args, "--not", "--branches", "--tags", "--remotes")...)
	if err != nil {
		return u, fmt.Errorf("measure issue %s: %w", issue, err)
	}
	u.Bytes, err = strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	return u, err
}

// A Finding is one problem.
type Finding struct {
	Error bool // error if set, otherwise a warning
	Text  string
	Fix   Fix // nil if the user has to decide
}

// A Fix repairs a finding and returns a text about the repair.
type Fix func(context.Context) (said string, err error)

func warning(format string, args ...any) Finding { return Finding{Text: fmt.Sprintf(format, args...)} }

func damage(format string, args ...any) Finding {
	return Finding{Error: true, Text: fmt.Sprintf(format, args...)}
}

func (f Finding) withFix(fix Fix) Finding {
	f.Fix = fix
	return f
}

func spell(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%d days", int(d.Hours())/24)
	case d >= 2*time.Hour:
		return fmt.Sprintf("%d hours", int(d.Hours()))
	}
	return fmt.Sprintf("%d minutes", int(d.Minutes()))
}

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

// TryWrites writes a file into the main folders that a save writes to, and removes it. It also checks
// the permissions of all other folders of objects, and of the files of this program: another user,
// such as root, may own a single folder. It returns the first failure.
func (s *Doctor) TryWrites() error {
	info := s.repo.Info
	if err := cmp.Or(tryWrite(info.ObjectDir, "tmp_obj_*"), tryWrite(info.CommonDir, ".tmp-*.lock"), tryWrite(info.Dir, ".tmp-*.lock")); err != nil {
		return fmt.Errorf("nothing can be saved here: %w", err)
	}
	paths := []string{filepath.Join(info.CommonDir, "reftable"), filepath.Join(info.ObjectDir, "pack")}
	fanOut, _ := filepath.Glob(filepath.Join(info.ObjectDir, "[0-9a-f][0-9a-f]"))
	paths = append(paths, fanOut...)
	own := []string{filepath.Join(info.CommonDir, "git-checkpoint"), s.repo.StateDir()}
	for _, prefix := range []string{repo.LiveRefs, repo.ArchiveRefs, repo.BookRefs} {
		own = append(own, filepath.Join(info.CommonDir, filepath.FromSlash(prefix)), filepath.Join(info.CommonDir, "logs", filepath.FromSlash(prefix)))
	}
	for _, dir := range own {
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && (d.IsDir() || d.Type().IsRegular() && !strings.HasSuffix(path, ".lock")) {
				paths = append(paths, path)
			}
			return nil // a folder that cannot be listed is in the list itself
		})
	}
	for _, path := range paths {
		if err := fsutil.IgnoreMissing(fsutil.CheckWritable(path)); err != nil {
			return fmt.Errorf("nothing can be saved here: %w", err)
		}
	}
	if info.Root != "" {
		if err := tryWrite(info.Root, ".tmp-*.lock"); err != nil {
			return fmt.Errorf("nothing can be restored here: %w", err)
		}
	}
	return nil
}

// tryWrite creates and removes a file in a folder. Git and this program ignore the name of the file, a
// pattern of os.CreateTemp.
func tryWrite(dir, name string) error {
	f, err := os.CreateTemp(dir, name)
	if err == nil {
		_, err = f.WriteString("x")
		err = cmp.Or(err, f.Close(), os.Remove(f.Name()))
	}
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = &fs.PathError{Op: "write", Path: dir, Err: p.Err}
	}
	return err
}
