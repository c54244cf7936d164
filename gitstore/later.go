package gitstore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/gitstore/gitcmd"
	"git-checkpoint/gitstore/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// later are the files that came after the checkpoint, as targets that want
// them away: those that were staged since, are not in HEAD, and were not in
// the staging area; and where the checkpoint captured untracked files, those
// that are untracked now and were not captured. Ignored files, and those that
// were left out of the checkpoint, are never among them.
func (s *Store) later(ctx context.Context, st *stored, area *stagingArea, targets []target) ([]target, error) {
	known := map[string]bool{}
	for _, t := range targets {
		known[t.path] = true
	}
	files, err := s.laterStaged(ctx, st, area)
	if err != nil {
		return nil, err
	}
	var list []target
	for _, f := range files {
		if !known[f.path] {
			now := side{f.mode, f.hash}
			list = append(list, target{path: f.path, index: true, work: f.mode != trees.ModeGitlink, indexBase: merged(now), workBase: now})
		}
	}
	if st.record.Snapshot().Untracked {
		untracked, err := s.laterUntracked(ctx, st)
		if err != nil {
			return nil, err
		}
		for _, path := range untracked {
			if !known[path] {
				list = append(list, target{path: path, work: true, any: true})
			}
		}
	}
	slices.SortFunc(list, func(a, b target) int { return strings.Compare(a.path, b.path) })
	return list, nil
}

func (s *Store) laterStaged(ctx context.Context, st *stored, area *stagingArea) ([]file, error) {
	now, err := s.readHead(ctx)
	if err != nil {
		return nil, err
	}
	var head plumbing.Hash
	if !now.commit.IsZero() {
		c, err := s.readCommit(now.commit)
		if err != nil {
			return nil, fmt.Errorf("read HEAD: %w", err)
		}
		head = c.tree
	}
	changes, err := trees.Diff(area.k, head, area.tree)
	if err != nil {
		return nil, err
	}
	var files []file
	for _, c := range changes {
		if !c.Old.Hash.IsZero() {
			continue
		}
		if had, err := s.sideAt(st.staged, c.Path); err != nil {
			return nil, err
		} else if had == (side{}) {
			files = append(files, file{c.Path, c.New.Mode, c.New.Hash})
		}
	}
	return files, nil
}

func (s *Store) laterUntracked(ctx context.Context, st *stored) ([]string, error) {
	g := s.git
	g.Dir = s.repo.root
	out, err := g.Output(ctx, "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return nil, fmt.Errorf("list untracked files: %w", err)
	}
	skipped := map[string]bool{}
	for _, f := range st.record.Snapshot().Skipped {
		skipped[f.Path] = true
	}
	var paths []string
	for _, path := range gitcmd.Fields(out) {
		had, err := s.sideAt(st.staged, path)
		if err != nil {
			return nil, err
		}
		if had == (side{}) && !skipped[path] && !strings.HasSuffix(path, "/") {
			paths = append(paths, path)
		}
	}
	return paths, nil
}

// below reports whether a path is dir or below it; dir may end in a slash, and
// "." is the root.
func below(path, dir string) bool {
	dir = strings.TrimSuffix(dir, "/")
	return dir == "." || path == dir || strings.HasPrefix(path, dir+"/")
}
