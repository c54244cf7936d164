package gitstore

import (
	"context"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Home is where work on a checkpoint's branch can go on.
type Home struct {
	Branch   string // the branch, where it is there and has the checkpoint's HEAD in it
	Worktree string // where it is checked out, "" for nowhere but perhaps here
}

// home finds the branch of a checkpoint, unless HEAD is on it or what it has
// is not what the checkpoint was made on.
func (s *Store) home(ctx context.Context, branch string, head plumbing.Hash) Home {
	if branch == "" || head.IsZero() {
		return Home{}
	}
	now, err := s.readHead(ctx)
	tip, tipErr := s.readRef(ctx, "refs/heads/"+branch)
	if err != nil || tipErr != nil || now.branch == branch || tip.IsZero() {
		return Home{}
	}
	if _, err := s.git.Output(ctx, "merge-base", "--is-ancestor", head.String(), tip.String()); err != nil {
		return Home{}
	}
	return Home{Branch: branch, Worktree: s.checkedOut(ctx, branch)}
}

// checkedOut is the worktree that a branch is checked out in.
func (s *Store) checkedOut(ctx context.Context, branch string) string {
	end := "\x00"
	out, err := s.git.Output(ctx, "worktree", "list", "--porcelain", "-z")
	if err != nil { // git before 2.36 has no -z
		end = "\n"
		out, err = s.git.Output(ctx, "worktree", "list", "--porcelain")
	}
	if err != nil {
		return ""
	}
	return worktreeOf(string(out), end, branch)
}

// worktreeOf finds a branch's worktree in what git lists. A path may hold
// anything but the end of a line: with "\n", one that does is cut short.
func worktreeOf(list, end, branch string) string {
	place := ""
	for line := range strings.SplitSeq(list, end) {
		key, value, _ := strings.Cut(line, " ")
		switch {
		case key == "worktree":
			place = value
		case key == "branch" && value == "refs/heads/"+branch:
			return place
		}
	}
	return ""
}
