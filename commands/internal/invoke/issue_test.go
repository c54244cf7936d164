package invoke

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNamesCheckpoint(t *testing.T) {
	for in, want := range map[string]bool{
		"CP-ready-2026": true, "latest": true, "latest~2": true, "1f0c9a2b": true, "dead": true,
		"42": false, "2026": false, "PROJ-42": false, "abc": false, "feature": false,
	} {
		assert.Equal(t, want, NamesCheckpoint(in), in)
	}
}

// A path outside of the root or beside it is not below the root.
func TestBelowRefusesPathsOutsideTheRoot(t *testing.T) {
	root := t.TempDir()
	assert.Equal(t, "a/b", Below(root, root+"/a/b"))
	assert.Equal(t, "..", Below(root, "/etc/passwd"))
	assert.Equal(t, "..", Below(root, root+"x/a"))
}
