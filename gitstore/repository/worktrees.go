package repository

import (
	"context"
	"slices"
	"strings"

	"git-checkpoint/gitstore/gitcmd"
)

// A WorktreeEntry is what git lists of one.
type WorktreeEntry struct {
	Path   string
	Branch string // the ref of the branch that is checked out, "" for none
	Bare   bool
}

// Worktrees lists those of the repository, the main one first.
func Worktrees(ctx context.Context, g gitcmd.Git) ([]WorktreeEntry, error) {
	end := "\x00"
	out, err := g.Output(ctx, "worktree", "list", "--porcelain", "-z")
	if err != nil { // git before 2.36 has no -z
		end = "\n"
		out, err = g.Output(ctx, "worktree", "list", "--porcelain")
	}
	return parseWorktrees(string(out), end), err
}

// parseWorktrees reads what git lists. A path may hold anything but the end of a
// line: with "\n", one that does is cut short.
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

// CheckedOut is the worktree that a branch is checked out in, "" for none.
func CheckedOut(ctx context.Context, g gitcmd.Git, branch string) string {
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

// MainRoot is the root of the main worktree, "" where there is none. Git is not
// asked in the main worktree itself.
func (r Info) MainRoot(ctx context.Context, g gitcmd.Git) (string, error) {
	if r.Root != "" && r.Dir == r.CommonDir {
		return r.Root, nil
	}
	list, err := Worktrees(ctx, g)
	if err != nil || len(list) == 0 || list[0].Bare {
		return "", err
	}
	return list[0].Path, nil
}
