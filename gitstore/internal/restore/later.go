package restore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/trees"
)

// later returns files added after the checkpoint, as targets to remove. These are staged
// files that exist neither in HEAD nor in the checkpoint's index. If the checkpoint
// captured untracked files, current untracked files missing from it are added. Ignored
// files, and files that a limit excluded from the checkpoint, are never returned.
func (s *Worktree) later(ctx context.Context, snap *Contents, area *lockedIndex, targets []Target) ([]Target, error) {
	known := map[string]bool{}
	for _, t := range targets {
		known[t.Path] = true
	}
	files, err := s.laterStaged(ctx, snap, area)
	if err != nil {
		return nil, err
	}
	for _, f := range snap.Record.Snapshot().Skipped {
		known[f.Path] = true // possibly existed at the save
	}
	var list []Target
	for _, f := range files {
		if !known[f.path] {
			list = append(list, Target{Path: f.path, Index: true, Work: f.Mode != trees.ModeGitlink, IndexBase: merged(f.Side), WorkBase: f.Side, later: true})
		}
	}
	if snap.Record.Snapshot().Untracked {
		untracked, err := s.laterUntracked(ctx, snap)
		if err != nil {
			return nil, err
		}
		for _, path := range untracked {
			if !known[path] {
				list = append(list, Target{Path: path, Work: true, any: true, later: true})
			}
		}
	}
	slices.SortFunc(list, func(a, b Target) int { return strings.Compare(a.Path, b.Path) })
	return list, nil
}

// A named is a Side with its path.
type named struct {
	path string
	Side
}

func (s *Worktree) laterStaged(ctx context.Context, snap *Contents, area *lockedIndex) ([]named, error) {
	head, err := s.Head(ctx)
	if err != nil {
		return nil, err
	}
	changes, err := trees.Diff(s.Objects, head, area.tree)
	if err != nil {
		return nil, err
	}
	var files []named
	find := &trees.Finder{Reader: s.Objects}
	for _, c := range changes {
		if !c.Old.Hash.IsZero() {
			continue
		}
		if had, err := sideAt(find, snap.Staged, c.Path); err != nil {
			return nil, err
		} else if had == (Side{}) {
			files = append(files, named{c.Path, Side{c.New.Mode, c.New.Hash}})
		}
	}
	return files, nil
}

func (s *Worktree) laterUntracked(ctx context.Context, snap *Contents) ([]string, error) {
	g := s.Git
	g.Dir = s.Root
	out, err := g.Output(ctx, "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return nil, fmt.Errorf("list untracked files: %w", err)
	}
	var paths []string
	find := &trees.Finder{Reader: s.Objects}
	for _, path := range git.Fields(out) {
		had, err := sideAt(find, snap.Staged, path)
		if err != nil {
			return nil, err
		}
		if had == (Side{}) && !strings.HasSuffix(path, "/") {
			paths = append(paths, path)
		}
	}
	return paths, nil
}

// below reports whether a path equals dir or is below it. dir may end with a slash; "."
// means the root.
func below(path, dir string) bool {
	dir = strings.TrimSuffix(dir, "/")
	return dir == "." || path == dir || strings.HasPrefix(path, dir+"/")
}
