package git

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseGitVersion(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]Version{
		"git version 2.39.5":                     {2, 39},
		"git version 2.54.0.windows.1":           {2, 54},
		"git version 2.39.3 (Apple Git-146)":     {2, 39},
		"git version 2.55-rc1":                   {2, 55},
		"git version 3.0":                        {3, 0},
		"git version 2.47.1.543.gdeadbeef-dirty": {2, 47},
	} {
		v, err := ParseVersion(line)
		require.NoError(t, err, line)
		assert.Equal(t, want, v, line)
	}
	for _, line := range []string{"", "git version", "git version x.y"} {
		_, err := ParseVersion(line)
		assert.Error(t, err, line)
	}
	assert.True(t, Version{3, 0}.AtLeast(2, 54))
	assert.False(t, Version{2, 53}.AtLeast(2, 54))
}
