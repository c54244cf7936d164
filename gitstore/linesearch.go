package gitstore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/trees"
	"git-checkpoint/gitstore/trace"
)

// A ChangeQuery selects checkpoints by their changes since the state before. A zero field selects
// all.
type ChangeQuery struct {
	Paths   []string // pathspecs of git, relative to the working directory
	Content string   // the number of occurrences of this text has changed in a file, as git log -S
}

// Changed returns the checkpoints of an issue, live and archived, whose changes a query selects, with one
// git process for the chain and one for the archive.
func (s *Store) Changed(ctx context.Context, issue checkpoint.Issue, q ChangeQuery) (map[checkpoint.ID]bool, error) {
	defer trace.Begin(trace.Step, "search of states").End()
	found := map[checkpoint.ID]bool{}
	for archived := false; ; archived = true {
		line, err := s.line(ctx, issue, archived)
		if archived && errors.As(err, new(*repo.NoneError)) {
			return found, nil
		}
		if err == nil {
			defer line.Close()
			err = line.changed(ctx, q, found)
		}
		if err != nil || line.own.Chain.Ref == repo.ArchiveRef(issue) {
			return found, err
		}
	}
}

// changed adds the checkpoints of a line whose changes a query selects.
func (l *Line) changed(ctx context.Context, q ChangeQuery, found map[checkpoint.ID]bool) error {
	byHead := map[string][]checkpoint.ID{} // by the line that git prints before the files of a state
	var in strings.Builder
	for i := range l.States {
		st := &l.States[i]
		head, before := st.Commit.String(), l.commitsBefore(st)
		if len(before) == 0 {
			head = trees.Empty.String() + " " + st.Tree.String()
		}
		byHead[head] = append(byHead[head], st.Checkpoint.ID)
		in.WriteString(strings.Join(append([]string{head}, before...), " ") + "\n")
	}
	args := []string{"diff-tree", "--stdin", "-r", "-c", "--name-status"} // a file of joined states differs from all of them
	if q.Content != "" {
		args = append(args, "-S"+q.Content)
	}
	g := l.Git
	g.UserPathspecs = true
	out, err := g.Pipe(ctx, []byte(in.String()), append(append(args, "--"), q.Paths...)...)
	if err != nil {
		return fmt.Errorf("search the states of issue %s: %w", l.own.Chain.Issue, err)
	}
	var at []checkpoint.ID // of the state whose changed files follow
	for text := range strings.Lines(string(out)) {
		if !strings.Contains(text, "\t") {
			at = byHead[strings.TrimSuffix(text, "\n")]
			continue
		}
		for _, id := range at {
			found[id] = true
		}
	}
	return nil
}

// commitsBefore returns the commits from which the changes of a state count: the states before it, the
// source of a fork, or HEAD at the save.
func (l *Line) commitsBefore(st *LineState) (before []string) {
	from := st.Before
	if st.After > 0 {
		from = from[:st.After]
	}
	for _, n := range from {
		before = append(before, l.States[n].Commit.String())
	}
	if len(before) == 0 && l.head(st.Head) != nil {
		before = append(before, st.Head.String())
	}
	return before
}
