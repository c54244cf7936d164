package gitstore

import (
	"context"
	"fmt"
	"slices"
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
	defer line.Close()
	pairs := make([][]string, len(line.States)) // the lines "<tree> <tree>" of each state, that git repeats
	files := map[string]map[string]bool{}       // by pair
	var in strings.Builder
	for i := range line.States {
		st := &line.States[i]
		for _, tree := range line.treesBefore(st) {
			pair := tree.String() + " " + st.Tree.String()
			pairs[i] = append(pairs[i], pair)
			if files[pair] == nil {
				files[pair] = map[string]bool{}
				in.WriteString(pair + "\n")
			}
		}
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
	var at map[string]bool // of the pair whose changed files follow
	for text := range strings.Lines(string(out)) {
		text = strings.TrimSuffix(text, "\n")
		if changed, ok := files[text]; ok {
			at = changed
		} else if at != nil {
			at[text] = true
		}
	}
	found := map[checkpoint.ID]bool{}
	for i := range line.States {
		for file := range files[pairs[i][0]] {
			if !slices.ContainsFunc(pairs[i], func(pair string) bool { return !files[pair][file] }) {
				found[line.States[i].Checkpoint.ID] = true
			}
		}
	}
	return found, nil
}

// treesBefore returns the trees that the changes of a state count from: of the states that it came after,
// of the source of a fork, or of HEAD at the save. A file of joined states is changed if it differs from
// all of them.
func (l *Line) treesBefore(st *LineState) (before []plumbing.Hash) {
	from := st.Before
	if st.After > 0 {
		from = from[:st.After]
	}
	for _, n := range from {
		before = append(before, l.States[n].Tree)
	}
	if len(before) > 0 {
		return before
	}
	if c := l.head(st.Head); c != nil {
		return append(before, c.Tree)
	}
	return append(before, trees.Empty)
}
