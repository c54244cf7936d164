// Package doctor verifies chains, finds problems around them and repairs those.
//
// Judge finds problems around the chains of a repository: locks and temporary
// files of ended processes, broken refs, clocks in the future,
// git settings that conflict with checkpoints.
//
// Checks are pure functions over Facts. Folders finds leftover files and removes them. A
// Fix is always safe: it deletes no readable data and disturbs no running process.
package doctor

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/facts"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/objectformat"
	"git-checkpoint/gitstore/internal/git/repository"
	"git-checkpoint/gitstore/internal/operation"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/snapshot"

	"github.com/go-git/go-git/v5/plumbing"
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
// Verification checks the chains themselves. gitVersion is the version of git. Errors come first.
func (s *Doctor) Check(ctx context.Context, gitVersion git.Version) (found []Finding, err error) {
	if s.repo.CacheRefs(ctx) {
		defer s.repo.Refs.Release()
	}
	f := Facts{Now: s.repo.Now(), Git: gitVersion, Config: s.repo.Config, Pending: s.folders().Pending()}
	if f.Refs, err = s.refsFound(ctx); err != nil {
		return nil, err
	}
	if f.Files, err = s.folders().Files(); err != nil {
		return nil, err
	}
	live, archived := issuesOf(f.Refs, repo.LiveRefs), issuesOf(f.Refs, repo.ArchiveRefs)
	f.Chains = slices.Concat(s.findBoth(ctx, archived), s.findAhead(ctx, live), s.findDoubted(ctx, archived))
	f.Objects, err = s.ObjectCounts(ctx)
	return Judge(f), err
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
		{"alternates in the environment", info.Alternates != ""},
	} {
		if f.on {
			all = append(all, f.name)
		}
	}
	return all
}

// issuesOf returns the issues of the readable chain refs below a prefix.
func issuesOf(refs []Ref, prefix string) []checkpoint.Issue {
	var issues []checkpoint.Issue
	for _, r := range refs {
		if r.Role == Chain && r.Problem == "" && strings.HasPrefix(r.Name, prefix) {
			issues = append(issues, checkpoint.Issue(r.Issue))
		}
	}
	return issues
}

// folders returns folders with possible leftovers of killed processes.
func (s *Doctor) folders() Folders {
	return Folders{
		Common: s.repo.Info.CommonDir, Objects: s.repo.Info.ObjectDir, Cache: s.repo.CacheDir(),
		Refs: []string{repo.LiveRefs, repo.ArchiveRefs, repo.BookRefs}, State: "git-checkpoint",
	}
}

// ObjectCounts returns git's counts of objects.
func (s *Doctor) ObjectCounts(ctx context.Context) (ObjectCounts, error) {
	out, err := s.repo.Git.Output(ctx, "count-objects", "-v")
	if err != nil {
		return ObjectCounts{}, fmt.Errorf("count objects: %w", err)
	}
	return ParseObjects(string(out)), nil
}

// findBoth reports checkpoints in both chain and archive.
func (s *Doctor) findBoth(ctx context.Context, issues []checkpoint.Issue) (found []Finding) {
	for _, issue := range issues {
		both, err := s.chain.InBoth(ctx, issue)
		if err != nil || len(both) == 0 {
			continue // a Verification reports the error
		}
		count := plural(len(both), "checkpoint")
		found = append(found, failure("issue %s: %s in the chain and in the archive, %s the newest", issue, count, both[0]).
			withFix(Fix{Act: ClearArchive, To: string(issue), Said: fmt.Sprintf("removed %s of the chain of issue %s from its archive", count, issue)}))
	}
	return found
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
			found = append(found, warning("issue %s: %s dated more than a day ahead, %s the newest: check the clock of the machine that saved it", issue, plural(count, "checkpoint"), id))
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
			if doubt := s.chain.Times(c, newest).Doubt(); doubt != "" && !c.Pinned && !c.Filed.At.IsZero() {
				count++
				id, why = cmp.Or(id, c.Name()), cmp.Or(why, doubt)
			}
		}
		if count > 0 {
			found = append(found, warning("issue %s: %s in the archive cannot expire, %s the newest: %s", issue, plural(count, "checkpoint"), id, why))
		}
	}
	return found
}

// Fix applies a finding's repair and returns its description.
func (s *Doctor) Fix(ctx context.Context, m Fix) (string, error) {
	switch m.Act {
	case RemoveFiles:
		return m.Said, s.folders().Remove(m.Names, m.Until)
	case DeleteRefs:
		seen := map[string]plumbing.Hash{}
		for n, name := range m.Names {
			seen[name] = plumbing.NewHash(m.Values[n])
		}
		return m.Said, s.repo.DeleteRefs(ctx, seen)
	case BringBack:
		issue := checkpoint.Issue(m.To)
		return m.Said, s.chain.Retry(ctx, issue, func() error { return nil })
	case ClearArchive:
		return m.Said, s.chain.ClearArchive(ctx, checkpoint.Issue(m.To))
	}
	return s.replaceBroken(ctx, m)
}

// replaceBroken moves or deletes a ref that points to a missing or unreadable commit. If
// the file of the ref contains no object id, git refuses to change the ref. So the file
// moves to a folder of this program, for inspection. A value that is set aside is stored
// there too.
func (s *Doctor) replaceBroken(ctx context.Context, m Fix) (string, error) {
	name, said := m.Names[0], m.Said
	if now, err := s.repo.ReadRef(ctx, name); m.From == "" && err == nil && !now.IsZero() {
		return "", fmt.Errorf("%s: another process has already fixed it", name)
	}
	if m.From == "" || m.Act == SetAside {
		kept, err := s.keepBroken(name, m.From)
		if err != nil {
			return "", fmt.Errorf("set %s aside: %w", name, err)
		}
		said += "; " + s.folders().Name(kept) + " has what it held"
	}
	old := plumbing.NewHash(m.From)
	if m.From == "" { // the broken file may have hidden a packed value
		var err error
		if old, err = s.repo.ReadRef(ctx, name); err != nil {
			return "", err
		}
	}
	move := refs.Move{Name: name, Old: old}
	if m.Act == SetRef {
		move.New = plumbing.NewHash(m.To)
	}
	if move.Old == move.New {
		return said, nil
	}
	locked := refs.Bookkeeping
	if issue := roleOf(&Ref{Name: name}); issue != "" {
		locked = issue.RefName()
	}
	return said, s.repo.WithNamedLocks(ctx, []string{locked}, func() error { return s.repo.MoveRefs(ctx, "doctor: its object is missing", move) })
}

// keepBroken stores a ref's value in a private file. If the file of the ref contains no
// object id, keepBroken moves that file away instead.
func (s *Doctor) keepBroken(name, value string) (string, error) {
	dir := filepath.Join(s.repo.Info.CommonDir, "git-checkpoint", "broken")
	if err := s.repo.Objects.MakeDirs(dir); err != nil {
		return "", err
	}
	base := strings.ReplaceAll(strings.TrimPrefix(name, "refs/"), "/", "~") + "-" + s.repo.Now().UTC().Format("20060102T150405.000000Z")
	kept := filepath.Join(dir, base)
	if err := operation.MoveKept(s.repo, name, kept+"-files"); err != nil {
		return "", err
	}
	if value == "" {
		return kept, os.Rename(filepath.Join(s.repo.Info.CommonDir, filepath.FromSlash(name)), kept)
	}
	return kept, s.repo.WriteFile(kept, []byte(value+"\n"))
}

// A Usage is the disk space used by an issue's checkpoints.
type Usage struct {
	Issue       checkpoint.Issue
	Checkpoints int   // includes archived checkpoints
	Bytes       int64 // on disk, without objects that branches, tags or remote-tracking branches reach
}

// Usage measures the disk space of an issue with its archive. Objects that several issues
// share count for each issue. It requires git 2.31, and reads every commit and tree.
func (s *Doctor) Usage(ctx context.Context, issue checkpoint.Issue) (Usage, error) {
	u := Usage{Issue: issue}
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
