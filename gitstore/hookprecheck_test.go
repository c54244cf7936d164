package gitstore

import (
	"os"
	"testing"

	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHookPrecheck(t *testing.T) {
	r := gittest.New(t)
	t.Chdir(r.Dir)
	r.Write("a", "a")
	r.Git("add", "a")
	r.Git("commit", "-qm", "first")
	g := ReadHookPrecheck(t.Context())
	assert.True(t, g.HasNoCheckpoints())
	assert.True(t, g.IsForeign("42-fix"))
	r.Git("update-ref", "refs/checkpoints/42", "HEAD")
	r.Git("pack-refs", "--all")
	r.Git("update-ref", "refs/checkpoints/PROJ-7%2Fx", "HEAD")
	r.Git("switch", "-qc", "feature/issue-42-x")
	g = ReadHookPrecheck(t.Context())
	assert.False(t, g.HasNoCheckpoints())
	assert.Equal(t, "feature/issue-42-x", g.Branch)
	for branch, foreign := range map[string]bool{"feature/issue-42-x": false, "proj-7/x": false, "main": true, "4-2": true, "": true} {
		assert.Equal(t, foreign, g.IsForeign(branch), branch)
	}
	r.Git("branch", "-m", "fix/login")
	assert.False(t, ReadHookPrecheck(t.Context()).IsForeign("fix/login"), "a renamed branch")
	r.Git("switch", "-q", "--detach")
	assert.Empty(t, ReadHookPrecheck(t.Context()).Branch)

	// without an answer from files, nothing is certain
	t.Setenv("GIT_DIR", r.GitPath(""))
	assert.False(t, ReadHookPrecheck(t.Context()).HasNoCheckpoints())
	assert.False(t, ReadHookPrecheck(t.Context()).IsForeign("main"))
	require.NoError(t, os.Unsetenv("GIT_DIR"))
	t.Setenv("GIT_REFERENCE_BACKEND", "files://"+t.TempDir())
	assert.False(t, ReadHookPrecheck(t.Context()).IsForeign("main"))
	require.NoError(t, os.Unsetenv("GIT_REFERENCE_BACKEND"))
	assert.True(t, ReadHookPrecheck(t.Context()).IsForeign("main"))
	r.Write(".git/HEAD", "ref: refs/heads/.invalid\n") // extensions.refStorage = files://<directory>
	assert.False(t, ReadHookPrecheck(t.Context()).IsForeign("main"))
}
