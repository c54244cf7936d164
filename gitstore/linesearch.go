package gitstore

import (
	"context"
	"fmt"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/trees"
	"git-checkpoint/gitstore/trace"
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
	defer line.Close()
	byHead := map[string][]checkpoint.ID{} // by the line that git prints before the files of a state
	var in strings.Builder
	for i := range line.States {
		st := &line.States[i]
		head, before := st.Commit.String(), line.commitsBefore(st)
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
	g := line.Git
	g.UserPathspecs = true
	out, err := g.Pipe(ctx, []byte(in.String()), append(append(args, "--"), q.Paths...)...)
	if err != nil {
		return nil, fmt.Errorf("search the states of issue %s: %w", issue, err)
	}
	found := map[checkpoint.ID]bool{}
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
	return found, nil
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
