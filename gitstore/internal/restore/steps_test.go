package restore

import (
	"encoding/json"
	"testing"

	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/odb"
	"git-checkpoint/gitstore/internal/operation"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/trees"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestStoredStepsStayInTheWorktree checks that an entry with a path outside the worktree is damaged.
func TestStoredStepsStayInTheWorktree(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	store, err := odb.Open(odb.Config{Dir: r.GitPath("objects"), Git: git.Git{Dir: r.Dir}})
	require.NoError(t, err)
	t.Cleanup(func() { store.Close() })
	s := &Restorer{repo: &repo.Repo{Objects: store}}
	for stored, want := range map[string]string{
		"a/b": "a/b", `"a\377"`: "a\xff", "../a": "", "/a": "", "": "", ".git/config": "", "a//b": "", `"a`: "",
	} {
		data, err := json.Marshal([]Step{{Path: stored}})
		require.NoError(t, err)
		e := &operation.Entry{Content: []trees.Entry{{Name: stepsName, Hash: plumbing.NewHash(r.Hash(string(data)))}}}
		steps, err := s.steps(e, operation.Do)
		if want == "" {
			assert.ErrorAs(t, err, new(*repo.CorruptError), stored)
			continue
		}
		require.NoError(t, err, stored)
		assert.Equal(t, want, steps[0].Path)
	}
}
