package restore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"sync"

	"git-checkpoint/gitstore/internal/contents"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// Paths that a checkpoint did not change against its HEAD: files that were as in HEAD, and files
// that did not exist.

// clean returns targets for tracked files that were as in HEAD at the save and differ from HEAD
// now. Files that a commit has changed since are among them only if the files go back.
func (s *worktree) clean(ctx context.Context, snap *contents.Files, area *lockedIndex) ([]Target, error) {
	paths, _, err := s.lists(ctx)
	if err != nil {
		return nil, err
	}
	// If all files are missing, the worktree was lost, and its files were not removed as part of the work.
	s.lost = len(paths) > 0 && len(paths) >= len(area.list) && !slices.ContainsFunc(paths, s.exists)
	for _, change := range area.changes {
		paths = append(paths, change.Path)
	}
	if s.req.goesBack() && area.head != snap.Snap.Base {
		commits, err := trees.Diff(s.objects, snap.Snap.Base, area.head)
		if err != nil {
			return nil, err
		}
		for _, change := range commits {
			paths = append(paths, change.Path)
		}
	}
	slices.Sort(paths)
	var list []Target
	for _, path := range slices.Compact(paths) {
		base, now := snap.Version(snap.Snap.Base, path), snap.Version(area.head, path)
		isNew := base == Side{} && now.IsBlob() && snap.IsWhole()
		if snap.ByPath[path] != nil || !base.IsBlob() && !isNew || now != base && !s.req.goesBack() || !snap.Knows(path) {
			continue
		}
		entry := contents.Merged(base)
		t := contents.Target{Path: path, Index: true, Work: true, IndexBase: entry, IndexWant: entry, WorkBase: base, WorkWant: base}
		list, snap.ByPath[path] = append(list, Target{Target: t, clean: true}), &t // later leaves it out
	}
	return list, nil
}

// later returns files that came after the checkpoint, as targets to remove: staged files that
// exist neither in HEAD nor in the checkpoint's index, also unmerged ones and those of git add -N, and
// untracked files. Absence needs proof:
// an untracked file is returned only if the save captured all files, and the rules for ignored
// files are those of the save. Files that the checkpoint left out are never returned.
func (s *worktree) later(ctx context.Context, snap *contents.Files, area *lockedIndex) ([]Target, error) {
	var list []Target
	isNew := func(path string) bool { return snap.ByPath[path] == nil && !snap.States.Lacks(path) }
	staged := func(path string, work bool) {
		if snap.Entry(path) == (Side{}) && isNew(path) {
			list = append(list, Target{Target: contents.Target{Path: path, Index: true, Work: work}, later: true})
		}
	}
	for _, c := range area.changes {
		if c.Old.IsZero() && !c.New.IsZero() {
			staged(c.Path, c.NewMode != trees.ModeGitlink)
		}
	}
	for _, path := range append(area.list.paths("123"), area.intended...) {
		if snap.Version(area.head, path) == (Side{}) {
			staged(path, true)
		}
	}
	if !snap.IsWhole() {
		return list, nil
	}
	_, untracked, err := s.lists(ctx)
	if err != nil {
		return nil, err
	}
	limits := s.repo.Boundary(ctx)
	untracked = slices.DeleteFunc(untracked, func(path string) bool {
		return limits.Find(path).Reason != "" || snap.Entry(path) != (Side{}) || !isNew(path)
	})
	if len(untracked) == 0 {
		return list, nil
	}
	if same, err := s.ignoresAlike(ctx, snap.Snap, area); err != nil || !same {
		return list, err
	}
	for _, path := range untracked {
		list = append(list, Target{Target: contents.Target{Path: path, Work: true}, later: true})
	}
	return list, nil
}

// ignoresAlike reports whether git ignores the same files as at the save: the rules that the
// snapshot does not have match the recorded digest, and all other .gitignore files have their
// content of the save.
func (s *worktree) ignoresAlike(ctx context.Context, snap *contents.Contents, area *lockedIndex) (bool, error) {
	if rules, err := s.snapshot.Ignores(ctx); err != nil || rules != snap.Record.Snapshot().Ignores {
		return false, err
	}
	then := map[string]plumbing.Hash{}
	files, err := trees.Diff(s.objects, plumbing.ZeroHash, snap.State)
	if err != nil {
		return false, err
	}
	for _, f := range files {
		if path.Base(f.Path) == ".gitignore" {
			then[f.Path] = f.New.Hash
		}
	}
	out, err := s.repo.RootGit().Output(ctx, "ls-files", "--cached", "--others", "--exclude-standard", "-z", "--", ":(glob)**/.gitignore")
	if err != nil {
		return false, fmt.Errorf("list .gitignore files: %w", err)
	}
	paths := git.Fields(out)
	slices.Sort(paths)
	now, err := area.hash(ctx, slices.Compact(paths))
	return maps.Equal(then, now), err
}

// A Look lists the files of a worktree that differ from the index, and the untracked ones, at its
// first use. Plans of one command share it. A plan reads the present content of each file anyway.
type Look struct {
	first     sync.Once
	modified  []string // tracked files that may differ from the index
	untracked []string // untracked files that git does not ignore
	err       error
}

func (s *worktree) lists(ctx context.Context) (modified, untracked []string, err error) {
	l := s.look
	l.first.Do(func() {
		var more sync.WaitGroup
		var others []byte
		var failed error
		more.Go(func() {
			others, failed = s.repo.RootGit().Output(ctx, "ls-files", "--others", "--exclude-standard", "-z")
		})
		out, err := s.repo.RootGit().Output(ctx, "diff-files", "-0", "-z", "--raw", "--no-renames", "--ignore-submodules=dirty")
		more.Wait()
		changes, _, parsed := git.ParseRaw(out)
		if l.err = cmp.Or(err, failed, parsed); l.err != nil {
			l.err = fmt.Errorf("list modified and untracked files: %w", l.err)
		}
		for _, c := range changes {
			if c.OldMode != trees.ModeGitlink {
				l.modified = append(l.modified, c.Path)
			}
		}
		l.untracked = git.Fields(others)
	})
	return slices.Clone(l.modified), slices.Clone(l.untracked), l.err
}
