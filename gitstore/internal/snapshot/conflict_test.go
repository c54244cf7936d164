package snapshot_test

import (
	"strings"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
)

func TestSaveInAConflict(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gittest.Conflict)
	req := w.request(checkpoint.ConflictStart)
	saved := w.save(req)
	rev := saved.Commit.String()
	for path, want := range map[string]string{
		"conflicts/1/a.txt": "one", "conflicts/2/a.txt": "ours", "conflicts/3/a.txt": "theirs",
		"conflicts/1/dir/b.txt": "two", "conflicts/3/dir/b.txt": "theirs",
		"conflicts/2/new.txt": "ours", "conflicts/3/new.txt": "theirs",
	} {
		assert.Equal(t, want, w.Git("cat-file", "blob", rev+":"+path), path)
	}
	assert.Equal(t, []string{"a.txt", "new.txt"}, w.paths(rev+":conflicts/2"))
	assert.Equal(t, w.Git("rev-parse", "HEAD:a.txt"), w.Git("rev-parse", rev+":staged/a.txt"), "staged/ has HEAD's version")
	assert.Equal(t, []string{checkpoint.HashText(w.Git("rev-parse", "MERGE_HEAD"))}, saved.Record.Snapshot().MergeHead)
	assert.Contains(t, w.Git("cat-file", "blob", rev+":state/a.txt"), "<<<<<<<")
	var conflicted []string
	for _, f := range saved.Record.Files() {
		if f.Status == "conflicted" {
			conflicted = append(conflicted, f.Path)
		}
	}
	assert.Equal(t, []string{"a.txt", "dir/b.txt", "new.txt"}, conflicted)
	w.sound()
}

// TestDeletedInAConflict checks that a conflicted file missing from the worktree counts
// as deleted.
func TestDeletedInAConflict(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gittest.Conflict)
	w.remove("a.txt")
	req := w.request(checkpoint.Manual)
	saved := w.save(req)
	assert.Equal(t, []string{"a.txt"}, saved.Record.Snapshot().Deleted)
	assert.Empty(t, saved.Record.Snapshot().Skipped)
}

func TestIntentToAdd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Write("later.txt", "x\n")
	w.Write("deep/er/later.txt", "x\n")
	w.Git("add", "-N", ".")
	req := w.request(checkpoint.Manual)
	saved := w.save(req)
	rev := saved.Commit.String()
	assert.Equal(t, []string{"deep/er/later.txt", "later.txt"}, saved.Record.Snapshot().IntentToAdd)
	assert.NotContains(t, strings.Join(w.paths(rev+":staged"), " "), "later")
	assert.Equal(t, []string{"deep/er/later.txt", "later.txt"}, w.unstaged(rev))
	w.checkStaged(saved)
}
