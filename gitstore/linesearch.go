package gitstore

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/trees"
	"git-checkpoint/gitstore/trace"

	"github.com/go-git/go-git/v5/plumbing"
)

// A ChangeQuery selects checkpoints by their changes since the state before. A zero field selects
// all.
type ChangeQuery struct {
	Paths   []string // pathspecs of git, relative to the working directory
	Content string   // the number of occurrences of this text has changed in a file, as git log -S
}

// Changed returns the checkpoints of an issue whose changes a query selects, with one git process.
func (s *Store) Changed(ctx context.Context, issue checkpoint.Issue, q ChangeQuery) (map[checkpoint.ID]bool, error) {
	defer trace.Begin(trace.Step, "search of states").End()
	line, err := s.Line(ctx, issue)
	if err != nil {
		return nil, err
	}
	var in strings.Builder
	pairs := map[string][]checkpoint.ID{} // by the line that git repeats
	for i := range line.States {
		st := &line.States[i]
		before, err := line.treeBefore(st)
		if err != nil {
			return nil, err
		}
		pair := before.String() + " " + st.Tree.String()
		if pairs[pair] == nil {
			in.WriteString(pair + "\n")
		}
		pairs[pair] = append(pairs[pair], st.Checkpoint.ID)
	}
	args := []string{"diff-tree", "--stdin", "-r", "--name-only"}
	if q.Content != "" {
		args = append(args, "-S"+q.Content)
	}
	g := line.Git
	g.UserPathspecs = true
	out, err := g.Pipe(ctx, []byte(in.String()), append(append(args, "--"), q.Paths...)...)
	if err != nil {
		return nil, fmt.Errorf("search the states of issue %s: %w", issue, err)
	}
	found := map[checkpoint.ID]bool{}
	var at []checkpoint.ID // of the pair whose changed files follow
	for text := range bytes.Lines(out) {
		if ids, ok := pairs[string(bytes.TrimSuffix(text, []byte("\n")))]; ok {
			at = ids
			continue
		}
		for _, id := range at {
			found[id] = true
		}
	}
	return found, nil
}

// treeBefore returns the tree that the changes of a state count from: of the state before it, or of
// HEAD at the save.
func (l *Line) treeBefore(st *LineState) (plumbing.Hash, error) {
	if before := l.StateBefore(st); before != nil {
		return before.Tree, nil
	}
	if st.Head.IsZero() || !l.store.repo.Objects.Has(st.Head) {
		return trees.Empty, nil
	}
	return l.store.repo.TreeOfCommit(st.Head)
}
