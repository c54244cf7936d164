package gitstore

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/trace"

	"github.com/go-git/go-git/v5/plumbing"
)

// CreateBranch creates a branch with a commit for each checkpoint of an issue, so that any git
// tool can read the states of the work. It is the Line with commits of HEAD instead of steps:
// each state has the state before it as the first parent and, if HEAD has moved, HEAD as the
// last. It returns the tip and the number of states. An existing branch is not moved: the error
// is git's *git.CommandError. Nothing else changes: neither index, worktree nor HEAD.
func (s *Store) CreateBranch(ctx context.Context, issue checkpoint.Issue, name string) (tip plumbing.Hash, n int, err error) {
	defer trace.Begin(trace.Step, "branch of states").End()
	if _, err := s.repo.Git.Output(ctx, "check-ref-format", "--branch", name); err != nil {
		return tip, 0, err
	}
	line, err := s.Line(ctx, issue)
	if err != nil {
		return tip, 0, err
	}
	if tip, err = line.joined(); err != nil {
		return tip, 0, err
	}
	if err := line.copyTo(ctx, s.repo.Git, tip); err != nil {
		return tip, 0, fmt.Errorf("branch %s: %w", name, err)
	}
	_, err = s.repo.Git.Output(ctx, "branch", "--no-track", "--end-of-options", name, tip.String())
	return tip, len(line.States), err
}

// joined writes the commits of the line with HEAD instead of steps beside the line, and returns
// that of the newest state.
func (l *Line) joined() (tip plumbing.Hash, err error) {
	w := newLineObjects(l.store.repo.Objects)
	commits := map[plumbing.Hash]plumbing.Hash{} // by commit of the line
	for i := range l.States {
		st := &l.States[i]
		parents := make([]plumbing.Hash, len(st.Parents))
		for k, p := range st.Parents {
			if head, isStep := l.steps[p]; isStep {
				parents[k] = head
			} else {
				parents[k] = cmp.Or(commits[p], p)
			}
		}
		data, err := l.encode(st, parents)
		if err != nil {
			return tip, err
		}
		tip = w.Add(plumbing.CommitObject, data)
		commits[st.Commit] = tip
	}
	return tip, w.write(l.dir)
}

// copyTo stores a commit that is beside the line in a repository, with the objects that the
// commits of HEAD lack.
func (l *Line) copyTo(ctx context.Context, to git.Git, commit plumbing.Hash) error {
	revs := commit.String() + "\n"
	for _, head := range l.steps {
		revs += "^" + head.String() + "\n"
	}
	for _, st := range l.States {
		if !st.Head.IsZero() && l.store.repo.Objects.Has(st.Head) {
			revs += "^" + st.Head.String() + "\n"
		}
	}
	pack, err := os.CreateTemp(l.dir, "pack-*")
	if err != nil {
		return err
	}
	defer os.Remove(pack.Name())
	defer pack.Close()
	if err := l.Git.Filter(ctx, strings.NewReader(revs), pack, "pack-objects", "--revs", "--stdout", "-q", "--delta-base-offset"); err != nil {
		return err
	}
	if _, err := pack.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err = to.Stream(ctx, pack, "index-pack", "--stdin", "--fix-thin")
	return err
}
