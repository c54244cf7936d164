package gitstore

import (
	"os"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/refs"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Locks of several issues store the moves of each issue in its own file. The next process
// that locks an issue removes git's locks of this issue only.
func TestLockOfSeveralIssues(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.many(2)
	tip := plumbing.NewHash(w.Git("rev-parse", LiveRef("many-00")))
	require.NoError(t, w.s.repo.WithIssueLocks(ctx, []checkpoint.Issue{"many-01", "many-00"}, func() error {
		w.s.repo.IssueLock.Begin("", []refs.Move{{Name: LiveRef("many-00"), Old: tip, New: tip}, {Name: LiveRef("many-01"), Old: tip, New: tip}})
		return nil
	}))
	for _, issue := range []checkpoint.Issue{"many-00", "many-01"} {
		lock(t, w, LiveRef(issue), tip.String()+"\n")
	}
	require.NoError(t, w.s.repo.WithIssueLock(ctx, "many-01", func() error { return nil }))
	assert.NoFileExists(t, w.GitPath(LiveRef("many-01")+".lock"))
	assert.FileExists(t, w.GitPath(LiveRef("many-00")+".lock"))
	require.NoError(t, w.s.repo.WithIssueLocks(ctx, []checkpoint.Issue{"many-00", "many-01"}, func() error { return nil }))
	assert.NoFileExists(t, w.GitPath(LiveRef("many-00")+".lock"))
}

// lock creates a stale lock, as left by a killed git.
func lock(t *testing.T, w *world, ref, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(w.GitPath(ref)+".lock", []byte(text), 0o666))
}
