package work

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Git matches exactly the folder of a pattern, even if its name has special characters.
func TestExcludeLine(t *testing.T) {
	for folder, line := range map[string]string{
		".claude/checkpoints": "/.claude/checkpoints/",
		"cp/{issue}/x":        "/cp/*/x/",
		"a{issue_number}":     "/a*/",
		"#odd! [a] b*c?":      `/\#odd\!\ \[a\]\ b\*c\?/`,
		`back\slash`:          `/back\\slash/`,
	} {
		assert.Equal(t, line, excludeLine(folder))
	}
	dir := t.TempDir()
	git := func(args ...string) error { return exec.Command("git", append([]string{"-C", dir}, args...)...).Run() }
	require.NoError(t, git("init", "-q"))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, ".git", "info"), 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".git", "info", "exclude"), []byte(excludeLine("#odd! [a] b*c?")+"\n"), 0o666))
	require.NoError(t, git("check-ignore", "-q", "#odd! [a] b*c?/x.json"))
	require.Error(t, git("check-ignore", "-q", "#odd! a bxc?/x.json"))
}
