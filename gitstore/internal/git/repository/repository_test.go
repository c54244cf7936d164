package repository

import (
	"testing"

	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/objectformat"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Refs in files of another directory are not treated as the files backend.
func TestRefFormat(t *testing.T) {
	for _, tc := range []struct{ setting, environment, want string }{
		{"", "", "files"},
		{"files", "", "files"},
		{"reftable", "", "reftable"},
		{"files:///elsewhere", "", "files:///elsewhere"},
		{"", "files:///elsewhere", "files:///elsewhere"},
		{"files", "reftable:///elsewhere", "reftable:///elsewhere"},
	} {
		t.Setenv("GIT_REFERENCE_BACKEND", tc.environment)
		r := Info{RefFormat: "files"}
		config := []git.ConfigEntry{{Key: "extensions.objectformat", Value: objectformat.Name, Scope: "local"}}
		if tc.setting != "" {
			config = append(config, git.ConfigEntry{Key: "extensions.refstorage", Value: tc.setting, Scope: "local"})
		}
		require.NoError(t, r.extend(config))
		assert.Equal(t, tc.want, r.RefFormat)
	}
}
