package gitstore

import (
	"os"
	"testing"

	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAreForeign(t *testing.T) {
	r := gittest.New(t)
	t.Chdir(r.Dir)
	r.Write("a", "a")
	r.Git("add", "a")
	r.Git("commit", "-qm", "first")
	assert.True(t, AreForeign(t.Context(), "42-fix"))
	r.Git("update-ref", "refs/checkpoints/42", "HEAD")
	r.Git("pack-refs", "--all")
	r.Git("update-ref", "refs/checkpoints/PROJ-7%2Fx", "HEAD")
	assert.True(t, AreForeign(t.Context()))
	r.Git("switch", "-qc", "feature/issue-42-x")
	assert.False(t, AreForeign(t.Context()))
	for branch, foreign := range map[string]bool{"feature/issue-42-x": false, "proj-7/x": false, "main": true, "4-2": true, "schön": false} {
		assert.Equal(t, foreign, AreForeign(t.Context(), branch), branch)
		assert.Equal(t, foreign, AreForeign(t.Context(), "main", branch), branch)
	}
	r.Git("branch", "-m", "fix/login")
	assert.False(t, AreForeign(t.Context(), "fix/login"), "a renamed branch")
	r.Git("switch", "-q", "--detach")
	assert.True(t, AreForeign(t.Context()))

	// without an answer from files, nothing is certain
	t.Setenv("GIT_DIR", r.GitPath(""))
	assert.False(t, AreForeign(t.Context(), "main"))
	require.NoError(t, os.Unsetenv("GIT_DIR"))
	t.Setenv("GIT_REFERENCE_BACKEND", "files://"+t.TempDir())
	assert.False(t, AreForeign(t.Context(), "main"))
	require.NoError(t, os.Unsetenv("GIT_REFERENCE_BACKEND"))
	assert.True(t, AreForeign(t.Context(), "main"))
	r.Write(".git/HEAD", "ref: refs/heads/.invalid\n") // extensions.refStorage = files://<directory>
	assert.False(t, AreForeign(t.Context(), "main"))
}
