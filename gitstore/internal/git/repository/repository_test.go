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
		config := []git.ConfigEntry{
			{Key: "core.repositoryformatversion", Value: "1", Scope: "local"},
			{Key: "extensions.objectformat", Value: objectformat.Name, Scope: "local"},
		}
		if tc.setting != "" {
			config = append(config, git.ConfigEntry{Key: "extensions.refstorage", Value: tc.setting, Scope: "local"})
		}
		require.NoError(t, r.extend(config))
		assert.Equal(t, tc.want, r.RefFormat)
	}
}

// Extensions that do not change what this program reads or writes are accepted. In a
// repository of format 0, git ignores extensions that it does not know.
func TestExtensions(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ version, extension, refused string }{
		{"1", "noop", ""},
		{"1", "noop-v1", ""},
		{"1", "preciousobjects", ""},
		{"1", "relativeworktrees", ""},
		{"1", "submodulepathconfig", ""},
		{"1", "compatobjectformat", "unsupported repository: extensions.compatobjectformat"},
		{"1", "later", "unsupported repository: extensions.later"},
		{"0", "later", ""},
	} {
		config := []git.ConfigEntry{
			{Key: "core.repositoryformatversion", Value: tc.version, Scope: "local"},
			{Key: "extensions.objectformat", Value: objectformat.Name, Scope: "local"},
			{Key: "extensions." + tc.extension, Value: "true", Scope: "local"},
		}
		err := (&Info{RefFormat: "files"}).extend(config)
		if tc.refused == "" {
			assert.NoError(t, err, "%+v", tc)
		} else {
			assert.EqualError(t, err, tc.refused, "%+v", tc)
		}
	}
}
