package commands

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// state returns every file of the repository, worktree and git directory, with its kind,
// permissions, date and content. Files for which leave returns true are left out.
func (v *victim) state(leave func(name string) bool) map[string]string {
	v.t.Helper()
	state := map[string]string{}
	require.NoError(v.t, filepath.WalkDir(v.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(v.dir, path)
		if leave != nil && leave(name) {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content := ""
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			content, err = os.Readlink(path)
		case info.Mode().IsRegular():
			var data []byte
			data, err = os.ReadFile(path)
			content = string(data)
		}
		state[name] = fmt.Sprintf("%s %d %q", info.Mode(), info.ModTime().UnixNano(), content)
		return err
	}))
	return state
}

// ours reports whether a save may change a path: the refs of the issue, its bookkeeping,
// the object store, and their parent directories.
func ours(name string) bool {
	for _, dir := range []string{
		".git/objects", ".git/git-checkpoint", ".git/refs/git-checkpoint", ".git/logs/refs/git-checkpoint",
	} {
		if name == dir || strings.HasPrefix(name, dir+"/") {
			return true
		}
	}
	switch name {
	case ".git", ".git/refs", ".git/logs", ".git/logs/refs", ".git/refs/checkpoints", ".git/logs/refs/checkpoints",
		".git/refs/checkpoints/42", ".git/logs/refs/checkpoints/42":
		return true
	}
	return false
}

// untouched returns the state that no save may change.
func (v *victim) untouched() map[string]string { return v.state(ours) }

// A save with any flags changes only the refs of its issue, its bookkeeping and the
// object store. HEAD, branches, the index, the worktree, the stash, reflogs and their
// dates stay.
func TestTortureSaveTouchesNothingElse(t *testing.T) {
	t.Parallel()
	gittest.Slow(t)
	v := newVictim(t)
	v.git("stash")
	v.git("stash", "apply", "-q")
	v.git("branch", "other")
	v.git("tag", "v1")
	v.git("pack-refs", "--all")
	v.git("commit", "-q", "--allow-empty", "-m", "second")
	v.write("dir/b.txt", "changed\n")
	v.write("staged.txt", "staged\n")
	v.write("later.txt", "later\n")
	v.git("add", "staged.txt")
	v.git("add", "-N", "later.txt")
	v.write("untracked.txt", "untracked\n")
	v.write(".git/info/exclude", "ignored.txt\n")
	v.write("ignored.txt", "ignored\n")
	v.write("state.yaml", "workflow_state:\n  phase_attempt: 2\n")
	v.write("issue.yaml", "title: A title\nbody: text\n")
	require.NoError(t, os.Symlink("a.txt", v.path("link")))
	v.tool("save", "7")
	other := v.git("rev-parse", "refs/checkpoints/7")
	before := v.untouched()
	require.Contains(t, before, ".git/refs/checkpoints/7")
	for _, args := range [][]string{
		{},
		{"-m", "a note", "--phase", "implementing", "--batch", "1", "--trigger", "batch_complete"},
		{"--trigger", "agent_complete", "--agent", "a", "--action", "b"},
		{"--trigger", "conflict_start", "--conflict", "c1"},
		{"--staged"},
		{"--artifact", "ignored.txt"},
		{"--state", "state.yaml", "--set", "custom.key=3", "--session", "0f3f2f6e-1111-4222-8333-444455556666"},
		{"--issue-file", "issue.yaml", "--resume-from", "here"},
		{"--no-resume", "because"},
		{"--replace"},
		{"--if-changed"},
		{"--no-prune"},
		{"--dry-run"},
		{"--json"},
		{"-q"},
		{"-v"},
		{"--trigger", "user_interrupt"},
		{"--trigger", "user_interrupt"},
	} {
		v.tool(append([]string{"save", "42"}, args...)...)
		assert.Equalf(t, before, v.untouched(), "save %v", args)
	}
	v.tool("verify")
	assert.Equal(t, before, v.untouched(), "verify")
	assert.Equal(t, other, v.git("rev-parse", "refs/checkpoints/7"))
}
