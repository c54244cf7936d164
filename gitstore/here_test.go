package gitstore

import (
	"path/filepath"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The worktree has the files of the last save or complete restore. An undo has the former
// checkpoint again, and a redo the restored one.
func TestHereNamesTheCheckpointOfTheFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	here := func() checkpoint.ID { return w.s.chain.Here(ctx, "42").ID }
	saveFile := func(text string) *Checkpoint {
		w.Write("file", text)
		req := w.request(checkpoint.Manual)
		return &w.save(req).Checkpoint
	}
	restore := func(c *Checkpoint, options RestoreOptions) *Restored {
		options.Asked = true
		done, err := w.s.Restore(ctx, RestoreRequest{Checkpoint: c, Request: options})
		require.NoError(t, err)
		return done
	}
	assert.Empty(t, here())
	first := saveFile("one\n")
	assert.Equal(t, first.ID, here())
	second := saveFile("two\n")
	assert.Equal(t, second.ID, here())

	restore(first, RestoreOptions{DryRun: true})
	restore(first, RestoreOptions{Paths: []string{"file"}})
	assert.Equal(t, second.ID, here(), "a part of the files")
	restore(first, RestoreOptions{})
	assert.Equal(t, first.ID, here(), "all files, although none of them changed")
	restore(second, RestoreOptions{})
	assert.Equal(t, second.ID, here())
	_, err := w.s.Revert(ctx, "undo", Which{Issue: "42"}, nil)
	require.NoError(t, err)
	assert.Equal(t, first.ID, here())
	_, err = w.s.Revert(ctx, "redo", Which{Issue: "42"}, nil)
	require.NoError(t, err)
	assert.Equal(t, second.ID, here())

	w.Write("file", "unknown\n")
	require.Equal(t, []string{"file"}, restore(first, RestoreOptions{}).Skipped)
	at := w.s.chain.Here(ctx, "42")
	assert.Equal(t, first.ID, at.ID)
	assert.Equal(t, map[string]checkpoint.ID{"file": second.ID}, at.Open, "a file was left as it is")
	assert.Equal(t, []checkpoint.ID{second.ID}, at.Heads)

	for _, text := range []string{"", "state of not an id\n", "state of none\n\nHere-After: x 1\n", "state of none\n\nHere-Open: none x\n"} {
		w.Git("update-ref", "refs/git-checkpoint/here/_main/42", w.Git("commit-tree", "-m", text, "-p", "HEAD", "-p", "HEAD", "HEAD^{tree}"))
		assert.Empty(t, w.s.chain.Here(ctx, "42").Heads, "%q", text)
	}
	_, err = w.s.Purge(ctx, "42", []checkpoint.ID{first.ID})
	require.NoError(t, err)
	assert.Empty(t, w.Git("for-each-ref", "refs/git-checkpoint/here/"))
	for range 2 {
		require.NoError(t, w.s.chain.SetHere(ctx, "42", &chain.Here{}, w.s.repo.NewObjectWriter()))
		assert.Empty(t, w.Git("for-each-ref", "refs/git-checkpoint/here/"))
	}
}

// A resume that leaves a file keeps its base, and the base of the other files moves on. So the choice
// merge, typed later, still has both sides of the file, and an edit since is no conflict.
func TestResumeKeepsTheBaseOfAFileThatItLeaves(t *testing.T) {
	t.Parallel()
	a, b, _, _ := pair(t, 1)
	save := func(w *world, open, other string) {
		w.Write("open", open)
		w.Write("other", other)
		w.save(w.request(checkpoint.Manual))
	}
	resume := func(choice Changed) *Restored {
		newest, err := b.s.Newest(ctx, "42")
		require.NoError(t, err)
		done, err := b.s.Restore(ctx, RestoreRequest{Checkpoint: newest, AnyHead: true, AnyBranch: true, Request: RestoreOptions{Changed: choice}})
		require.NoError(t, err)
		return done
	}
	save(a, "1\n2\n3\n", "1\n")
	a.sync()
	b.sync()
	require.Equal(t, []string{"open", "other"}, resume("").Restored)
	save(a, "1\ntheirs\n3\n", "2\n")
	a.sync()
	b.sync()
	b.Write("open", "1\nmine\n3\n")
	done := resume("")
	require.Equal(t, []string{"other"}, done.Restored)
	require.Equal(t, []string{"open"}, done.Skipped)

	b.Write("other", "edited\n")
	assert.Equal(t, []string{"open"}, resume("").Skipped, "the edit of the other file is no conflict")
	done = resume("merge")
	assert.Equal(t, []string{"open"}, done.Merged)
	text := b.Read("open")
	assert.Contains(t, text, "mine")
	assert.Contains(t, text, "theirs")
	assert.Equal(t, "edited\n", b.Read("other"))
	assert.Equal(t, []string{"open"}, done.Restored, "nothing else")
	assert.Empty(t, resume("").Skipped)
}

// A restore of some files moves their base alone. A save that captures some files keeps the base of the
// others.
func TestPartialRestoresAndSavesMoveTheBaseOfTheirFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	save := func(text string, staged bool) *Checkpoint {
		w.Write("a", text)
		w.Write("b", text)
		req := w.request(checkpoint.Manual)
		req.Staged = staged
		return &w.save(req).Checkpoint
	}
	w.Write("a", "0\n")
	w.Write("b", "0\n")
	w.Git("add", "a", "b")
	w.Git("commit", "-qm", "files")
	first, second := save("1\n", false), save("2\n", false)
	_, err := w.s.Restore(ctx, RestoreRequest{Checkpoint: first, Request: RestoreOptions{Asked: true, Paths: []string{"a"}}})
	require.NoError(t, err)
	at := w.s.chain.Here(ctx, "42")
	assert.Equal(t, second.ID, at.ID)
	assert.Equal(t, map[string]checkpoint.ID{"a": first.ID}, at.Open)
	assert.Equal(t, []checkpoint.ID{first.ID}, at.Sources)
	assert.Equal(t, "1\n", w.Git("cat-file", "blob", "refs/git-checkpoint/here/_main/42:a")+"\n")
	assert.Equal(t, "2\n", w.Git("cat-file", "blob", "refs/git-checkpoint/here/_main/42:b")+"\n")

	w.Write("b", "3\n")
	w.Git("add", "b")
	third := save("3\n", true)
	at = w.s.chain.Here(ctx, "42")
	assert.Equal(t, third.ID, at.ID)
	assert.Equal(t, map[string]checkpoint.ID{"a": first.ID}, at.Open, "it is not staged")
	assert.Equal(t, "1\n", w.Git("cat-file", "blob", LiveRef("42")+":state/a")+"\n", "the carried version")

	save("4\n", false)
	assert.Equal(t, w.Git("rev-parse", LiveRef("42")+"^2"), w.Git("rev-parse", "refs/git-checkpoint/here/_main/42"), "the state commit")
}

// A worktree with the name of a removed one agreed on nothing.
func TestHereOfARemovedWorktreeDoesNotCount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, name := range []string{"linked", "linked", "other"} {
		dir := filepath.Join(t.TempDir(), name)
		w.Git("worktree", "add", "-q", "--detach", dir)
		s := w.open(dir)
		assert.Empty(t, s.chain.Here(ctx, "42").ID)
		req := w.request(checkpoint.Manual)
		saved, err := s.Save(ctx, req)
		require.NoError(t, err)
		assert.Equal(t, saved.ID, s.chain.Here(ctx, "42").ID)
		w.Git("worktree", "remove", "--force", dir)
	}
	assert.Equal(t, "refs/git-checkpoint/here/w-other/42", w.Git("for-each-ref", "--format=%(refname)", "refs/git-checkpoint/here"), "the other worktree has deleted the first ref")
}
