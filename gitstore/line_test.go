package gitstore

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// lineOf returns the line of an issue, which the test closes.
func (w *world) lineOf(issue checkpoint.Issue) *Line {
	w.t.Helper()
	line, err := w.s.Line(ctx, issue)
	require.NoError(w.t, err)
	w.t.Cleanup(line.Close)
	return line
}

// find returns a checkpoint.
func (w *world) find(id checkpoint.ID) *Checkpoint {
	w.t.Helper()
	cp, err := w.s.ByID(ctx, "42", id)
	require.NoError(w.t, err)
	return cp
}

// TestLineAddsOneStateForANewTurn checks that a new checkpoint adds one state and another commit of
// tips, and that a line without a change writes nothing.
func TestLineAddsOneStateForANewTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, text := range []string{"one", "two", "three"} {
		w.Write("dir/new.txt", text+"\n")
		w.save(w.request(checkpoint.Manual))
	}
	count := func() int {
		line := w.lineOf("42")
		assert.Empty(t, line.temp)
		assert.Equal(t, line.Tips.String(), w.Git("rev-parse", repo.LineRef("42")))
		return strings.Count(w.Git("cat-file", "--batch-all-objects", "--batch-check"), " commit ")
	}
	before := count()
	assert.Equal(t, before, count())
	w.Write("dir/new.txt", "four\n")
	w.save(w.request(checkpoint.Manual))
	saved := strings.Count(w.Git("cat-file", "--batch-all-objects", "--batch-check"), " commit ")
	assert.Equal(t, saved+2, count())
}

// TestChainThatLosesACheckpointLosesItsLine checks operations that remove a checkpoint: they delete
// the refs of all lines with its state, and a new line does not have the state.
func TestChainThatLosesACheckpointLosesItsLine(t *testing.T) {
	t.Parallel()
	for name, remove := range map[string]func(*world, []checkpoint.ID) error{
		"drop":    func(w *world, ids []checkpoint.ID) error { return w.s.Drop(ctx, "42", ids[1:2]) },
		"archive": func(w *world, ids []checkpoint.ID) error { _, err := w.s.Archive(ctx, "42", ids[1:2], ""); return err },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			var ids []checkpoint.ID
			for _, text := range []string{"one", "two", "three"} {
				w.Write("new.txt", text+"\n")
				ids = append(ids, w.save(w.request(checkpoint.Manual)).ID)
			}
			forks, err := w.s.Fork(ctx, ForkRequest{From: w.find(ids[1]), Names: []string{"a"}})
			require.NoError(t, err)
			gone := w.lineOf("42").ByID(ids[1]).Commit.String()
			assert.NotNil(t, w.lineOf("42+a").ByID(ids[1]), "the source of a fork is a part of its line")
			require.NoError(t, remove(w, ids))
			assert.Empty(t, w.Git("for-each-ref", repo.LineRefs))
			for _, issue := range []checkpoint.Issue{"42", "42+a"} {
				line := w.lineOf(issue)
				assert.Nil(t, line.ByID(ids[1]))
				assert.NotContains(t, w.Git("rev-list", repo.LineRef(issue)), gone)
			}
			assert.NotNil(t, w.lineOf("42+a").ByID(forks[0].ID))
			assert.NotNil(t, w.lineOf("42+a").ByID(ids[0]), "it came after the first one still")
		})
	}
}

// TestLineOfARepositoryThatCannotBeWritten has the same commits in a temporary folder.
func TestLineOfARepositoryThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Write("new.txt", "one\n")
	id := w.save(w.request(checkpoint.Manual)).ID
	w.Git("repack", "-adq")
	w.Git("prune-packed")
	for n := range 256 { // a directory for loose objects cannot be made
		require.NoError(t, os.RemoveAll(w.GitPath(fmt.Sprintf("objects/%02x", n))))
		require.NoError(t, os.WriteFile(w.GitPath(fmt.Sprintf("objects/%02x", n)), nil, 0o666))
	}
	w.Write("new.txt", "one\ntwo\n")
	lines, err := w.s.Blame(ctx, BlameRequest{Issue: "42", Path: "new.txt"})
	require.NoError(t, err)
	assert.Equal(t, id, lines[0].Source.Checkpoint.ID)
	assert.True(t, lines[1].Source.NotSaved)
	line := w.lineOf("42")
	assert.DirExists(t, line.temp)
	assert.Empty(t, w.Git("for-each-ref", repo.LineRefs))
	trial, err := line.NewTrial(ctx)
	require.NoError(t, err)
	require.NoError(t, trial.CheckOut(ctx, line.States[0].Commit))
	trial.Close()
	line.Close()
	assert.NoDirExists(t, line.temp)
}
