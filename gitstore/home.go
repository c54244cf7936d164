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
	out, err := s.git.Output(ctx, "worktree", "list", "--porcelain")
	if err != nil {
		return ""
	}
	place := ""
	for line := range strings.Lines(string(out)) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch {
		case key == "worktree":
			place = value
		case key == "branch" && value == "refs/heads/"+branch:
			return place
		}
	}
	return ""
}
