package doctor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/odb"
	"git-checkpoint/gitstore/internal/operation"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
)

// refs reports broken refs of this program, each of which makes git gc fail, and chains that other
// tools changed. It returns the issues with a readable chain and with a readable archive.
func (s *Doctor) refs(ctx context.Context) (found []Finding, live, archived []checkpoint.Issue, err error) {
	var names []string
	for _, prefix := range []string{repo.LiveRefs, repo.ArchiveRefs, repo.BookRefs} {
		some, err := s.repo.Refs.Names(ctx, prefix)
		if err != nil {
			return nil, nil, nil, err
		}
		names = append(names, some...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	hidden := sync.OnceValue(func() error { return odb.Hidden(s.repo.Info.ObjectDirs()) })
	s.repo.Objects.Hold(true)
	defer s.repo.Objects.Hold(false)
	for _, name := range names {
		issue, isKey := issueOf(name)
		hash, err := s.value(ctx, name, isKey)
		switch {
		case err != nil:
			f := damage("%s: %s", name, strings.TrimPrefix(err.Error(), name+": "))
			switch {
			case isUnread(err):
				f.Text += "; it may be intact"
			case !hash.IsZero() && s.repo.Objects.Check(hash) != nil && hidden() != nil:
				f.Text += fmt.Sprintf("; it may be intact: %v", hidden())
			default:
				f = s.broken(ctx, f, name, issue, hash)
			}
			found = append(found, f)
		case !isKey:
			found = append(found, warning("%s: not a valid issue key; all commands ignore it", name))
		case strings.HasPrefix(name, repo.OwnRefs) && s.chain.Lacks(ctx, issue):
			found = append(found, s.lacking(issue))
		case strings.HasPrefix(name, repo.LiveRefs):
			live = append(live, issue)
		case strings.HasPrefix(name, repo.ArchiveRefs):
			archived = append(archived, issue)
		}
	}
	for _, issue := range s.repo.NotedIssues() { // own/ was deleted too
		if _, isThere := slices.BinarySearch(names, repo.OwnRef(issue)); !isThere && s.chain.Lacks(ctx, issue) {
			found = append(found, s.lacking(issue))
		}
	}
	return found, live, archived, nil
}

// lacking returns the finding about a chain that lacks checkpoints of this clone.
func (s *Doctor) lacking(issue checkpoint.Issue) Finding {
	text := "refs/checkpoints/" + string(issue)
	return warning("%s: checkpoints of this clone were removed outside git-checkpoint", text).withFix(func(ctx context.Context) (string, error) {
		return "restored the checkpoints of this clone in " + text, s.chain.Retry(ctx, issue, func() error { return nil })
	})
}

// issueOf returns the issue of a ref of a chain, an archive or own/, "" for other refs. It returns
// false if the name is no key of an issue.
func issueOf(ref string) (checkpoint.Issue, bool) {
	for _, prefix := range []string{repo.LiveRefs, repo.ArchiveRefs, repo.OwnRefs} {
		if rest, ok := strings.CutPrefix(ref, prefix); ok {
			issue, err := checkpoint.IssueFromRef(rest)
			return issue, err == nil
		}
	}
	return "", true
}

// value returns the value of a ref, zero if it is invalid, and why the ref is broken, or nil.
func (s *Doctor) value(ctx context.Context, name string, isKey bool) (plumbing.Hash, error) {
	hash, err := s.repo.ReadRef(ctx, name)
	switch {
	case err != nil:
		return hash, err
	case hash.IsZero():
		return hash, errors.New("broken ref: git does not read it")
	}
	switch _, err := s.repo.ReadCommit(hash); {
	case err == nil && strings.HasPrefix(name, operation.Refs):
		return hash, operation.Check(s.repo, name, hash)
	case errors.Is(err, plumbing.ErrObjectNotFound):
		return hash, fmt.Errorf("it points to %s, which does not exist", hash)
	case isKey || isUnread(err):
		return hash, err
	}
	return hash, nil
}

// isUnread reports whether the object of a ref can be intact after an error. A disk that fails once may
// read it later.
func isUnread(err error) bool { return odb.IsOfSystem(err) || errors.Is(err, syscall.EIO) }

// broken adds the fix of a broken ref to its finding. A chain is reset to its last valid commit
// if known. Otherwise the ref is set aside, but only if HEAD is readable, because a
// missing disk may return later.
func (s *Doctor) broken(ctx context.Context, f Finding, name string, issue checkpoint.Issue, hash plumbing.Hash) Finding {
	if issue != "" {
		if good := s.lastSound(ctx, issue, name); !good.IsZero() {
			return f.withFix(func(ctx context.Context) (string, error) {
				return s.replaceBroken(ctx, name, hash, good, fmt.Sprintf("put %s back to %s", name, good))
			})
		}
	}
	head, err := s.repo.ReadHead(ctx)
	if err != nil || !head.Commit.IsZero() && !s.repo.Objects.Has(head.Commit) {
		return f
	}
	said := "set " + name + " aside: its object is missing"
	if strings.HasPrefix(name, operation.Refs) {
		said = "set " + name + " aside: it is no operation that undo can revert"
	}
	return f.withFix(func(ctx context.Context) (string, error) {
		return s.replaceBroken(ctx, name, hash, plumbing.ZeroHash, said)
	})
}

// lastSound returns the newest completely readable tip of a ref, or zero. Candidates are
// the values in the ref's reflog, then the tips of other refs that have the issue's
// chain.
func (s *Doctor) lastSound(ctx context.Context, i checkpoint.Issue, name string) plumbing.Hash {
	var candidates []plumbing.Hash
	if s.repo.Info.RefFormat == "files" { // git refuses to show reflogs of broken refs
		entries, _ := refs.ReadLog(s.repo.Info.CommonDir, name)
		for _, e := range entries {
			candidates = append(candidates, e.New, e.Old)
		}
	}
	if name != repo.ArchiveRef(i) {
		for _, other := range []string{repo.OwnRef(i), repo.LiveRef(i)} {
			if hash, err := s.repo.ReadRef(ctx, other); err == nil {
				candidates = append(candidates, hash)
			}
		}
		tracking, _ := s.repo.TrackingRefs(ctx, i)
		for _, other := range slices.Sorted(maps.Keys(tracking)) {
			candidates = append(candidates, tracking[other])
		}
	}
	for _, tip := range candidates {
		if tip.IsZero() || !s.repo.Objects.Has(tip) {
			continue
		}
		if c, err := s.chain.Walk(i, name, tip, 0); err == nil && (c.Rooted || c.Cut) {
			return tip
		}
	}
	return plumbing.ZeroHash
}

// replaceBroken moves a ref with the value old to another commit, or deletes it and keeps its value in
// a file. If old is zero, the file of the ref contains no object id, and git refuses to change it: then
// the file moves to a folder of this program, for inspection.
func (s *Doctor) replaceBroken(ctx context.Context, name string, old, to plumbing.Hash, said string) (string, error) {
	now, err := s.repo.ReadRef(ctx, name)
	if old.IsZero() && err == nil && !now.IsZero() {
		return "", fmt.Errorf("%s: another process has already fixed it", name)
	}
	if isFile := old.IsZero(); isFile || to.IsZero() {
		kept, err := s.keepBroken(ctx, name, old)
		if err != nil {
			return "", fmt.Errorf("set %s aside: %w", name, err)
		}
		said += "; " + s.shown(kept) + " has what it held"
		if isFile { // it may have hidden a packed value
			if old, err = s.repo.ReadRef(ctx, name); err != nil {
				return "", err
			}
		}
	}
	if old == to {
		return said, nil
	}
	locked := refs.Bookkeeping
	if issue, ok := issueOf(name); ok && issue != "" {
		locked = issue.RefName()
	}
	return said, s.repo.WithNamedLocks(ctx, []string{locked}, func() error {
		return s.repo.MoveRefs(ctx, "doctor: its object is missing", refs.Move{Name: name, Old: old, New: to})
	})
}

// keepBroken stores a ref's value in a private file. If the file of the ref contains no
// object id, keepBroken moves that file away instead. It deletes a symbolic ref of a reftable.
func (s *Doctor) keepBroken(ctx context.Context, name string, value plumbing.Hash) (kept string, err error) {
	dir := filepath.Join(s.repo.Info.CommonDir, "git-checkpoint", "broken")
	if err := s.repo.Objects.MakeDirs(dir); err != nil {
		return "", err
	}
	base := strings.ReplaceAll(strings.TrimPrefix(name, "refs/"), "/", "~") + "-" + s.repo.Now().UTC().Format("20060102T150405.000000Z")
	kept = filepath.Join(dir, base)
	if err := operation.MoveKept(s.repo, name, kept+"-files"); err != nil {
		return "", err
	}
	if value.IsZero() && s.repo.Info.RefFormat != "files" { // a symbolic ref
		target, err := s.repo.Git.Line(ctx, "symbolic-ref", name)
		if err == nil {
			err = s.repo.WriteFile(kept, []byte("ref: "+target+"\n"))
		}
		if err == nil {
			_, err = s.repo.Git.Output(ctx, "symbolic-ref", "--delete", name)
		}
		return kept, err
	}
	if value.IsZero() {
		return kept, os.Rename(filepath.Join(s.repo.Info.CommonDir, filepath.FromSlash(name)), kept)
	}
	return kept, s.repo.WriteFile(kept, []byte(value.String()+"\n"))
}
