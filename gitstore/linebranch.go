package gitstore

import (
	"cmp"
	"context"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/trace"

	"github.com/go-git/go-git/v5/plumbing"
)

// CreateBranch creates a branch with a commit for each checkpoint of an issue that the newest one came
// after, so that any git tool can read the states of the work. It is the Line with commits of HEAD
// instead of steps: each state has the state before it as the first parent and, if HEAD has moved, HEAD
// as the last. It returns the tip and the number of states. An existing branch is not moved: the error
// is git's *git.CommandError. Nothing else changes: neither index, worktree nor HEAD.
func (s *Store) CreateBranch(ctx context.Context, issue checkpoint.Issue, name string) (tip plumbing.Hash, n int, err error) {
	defer trace.Begin(trace.Step, "branch of states").End()
	if _, err := s.repo.Git.Output(ctx, "check-ref-format", "--branch", name); err != nil {
		return tip, 0, err
	}
	l, err := s.Line(ctx, issue)
	if err != nil {
		return tip, 0, err
	}
	defer l.Close()
	k := s.repo.NewObjectWriter()
	commits := map[plumbing.Hash]plumbing.Hash{} // by commit of the line
	reached := l.Reached(len(l.States) - 1)
	for i := range l.States {
		if !reached[i] {
			continue
		}
		st := &l.States[i]
		parents := make([]plumbing.Hash, len(st.Parents))
		for k, p := range st.Parents {
			parents[k] = cmp.Or(l.steps[p], commits[p], p)
		}
		n++
		of, err := s.repo.ReadCommit(st.Checkpoint.Commit)
		if err != nil {
			return tip, 0, err
		}
		tip = k.AddCommit(l.encode(st, of, parents))
		commits[st.Commit] = tip
	}
	if err := k.Flush(ctx); err != nil {
		return tip, 0, err
	}
	_, err = s.repo.Git.Output(ctx, "branch", "--no-track", "--end-of-options", name, tip.String())
	return tip, n, err
}
