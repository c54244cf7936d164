package gitstore

import (
	"context"
	"slices"
	"strings"
)

// A worktreeEntry is what git lists of one worktree.
type worktreeEntry struct {
	path   string
	branch string // the ref of the branch that is checked out, "" for none
	bare   bool
}

// worktrees lists those of the repository, the main one first.
func (s *Store) worktrees(ctx context.Context) ([]worktreeEntry, error) {
	end := "\x00"
	out, err := s.git.Output(ctx, "worktree", "list", "--porcelain", "-z")
	if err != nil { // git before 2.36 has no -z
		end = "\n"
		out, err = s.git.Output(ctx, "worktree", "list", "--porcelain")
	}
	return parseWorktrees(string(out), end), err
}

// parseWorktrees reads what git lists. A path may hold anything but the end of a
// line: with "\n", one that does is cut short.
func parseWorktrees(text, end string) []worktreeEntry {
	var list []worktreeEntry
	for line := range strings.SplitSeq(text, end) {
		key, value, _ := strings.Cut(line, " ")
		if key == "worktree" {
			list = append(list, worktreeEntry{path: value})
		}
		if len(list) == 0 {
			continue
		}
		switch last := &list[len(list)-1]; key {
		case "branch":
			last.branch = value
		case "bare":
			last.bare = true
		}
	}
	return list
}

// checkedOut is the worktree that a branch is checked out in, "" for none.
func (s *Store) checkedOut(ctx context.Context, branch string) string {
	list, err := s.worktrees(ctx)
	if err != nil {
		return ""
	}
	i := slices.IndexFunc(list, func(w worktreeEntry) bool { return w.branch == "refs/heads/"+branch })
	if i < 0 {
		return ""
	}
	return list[i].path
}

// MainRoot is the root of the main worktree, "" where there is none.
func (s *Store) MainRoot(ctx context.Context) (string, error) {
	if s.repo.root != "" && s.repo.dir == s.repo.commonDir {
		return s.repo.root, nil
	}
	list, err := s.worktrees(ctx)
	if err != nil || len(list) == 0 || list[0].bare {
		return "", err
	}
	return list[0].path, nil
}
