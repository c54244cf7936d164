package repository

import (
	"context"
	"slices"
	"strings"

	"git-checkpoint/gitstore/internal/git"
)

// A WorktreeEntry is an entry of git worktree list.
type WorktreeEntry struct {
	Path   string
	Branch string // ref of the checked-out branch, "" if HEAD is detached
	Bare   bool
}

// Worktrees returns the worktrees of the repository, the main worktree first.
func Worktrees(ctx context.Context, g git.Git) ([]WorktreeEntry, error) {
	end := "\x00"
	out, err := g.Output(ctx, "worktree", "list", "--porcelain", "-z")
	if err != nil { // git before 2.36 has no -z
		end = "\n"
		out, err = g.Output(ctx, "worktree", "list", "--porcelain")
	}
	return parseWorktrees(string(out), end), err
}

// parseWorktrees parses the output of git worktree list. If end is "\n", a path with a
// line break is truncated.
func parseWorktrees(text, end string) []WorktreeEntry {
	var list []WorktreeEntry
	for line := range strings.SplitSeq(text, end) {
		key, value, _ := strings.Cut(line, " ")
		if key == "worktree" {
			list = append(list, WorktreeEntry{Path: value})
		}
		if len(list) == 0 {
			continue
		}
		switch last := &list[len(list)-1]; key {
		case "branch":
			last.Branch = value
		case "bare":
			last.Bare = true
		}
	}
	return list
}

// CheckedOut returns the path of the worktree in which a branch is checked out, or "".
func CheckedOut(ctx context.Context, g git.Git, branch string) string {
	list, err := Worktrees(ctx, g)
	if err != nil {
		return ""
	}
	i := slices.IndexFunc(list, func(w WorktreeEntry) bool { return w.Branch == "refs/heads/"+branch })
	if i < 0 {
		return ""
	}
	return list[i].Path
}

// MainRoot returns the root of the main worktree, or "" if it is bare. It runs git only
// in linked worktrees.
func (r Info) MainRoot(ctx context.Context, g git.Git) (string, error) {
	if r.Root != "" && r.Dir == r.CommonDir {
		return r.Root, nil
	}
	list, err := Worktrees(ctx, g)
	if err != nil || len(list) == 0 || list[0].Bare {
		return "", err
	}
	return list[0].Path, nil
}
