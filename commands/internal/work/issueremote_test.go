package work

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"git-checkpoint/gitstore"
)

func TestIssueRemote(t *testing.T) {
	entries := func(pairs ...string) []gitstore.ConfigEntry {
		var all []gitstore.ConfigEntry
		for i := 0; i < len(pairs); i += 2 {
			all = append(all, gitstore.ConfigEntry{Key: pairs[i], Value: pairs[i+1]})
		}
		return all
	}
	fork := entries("remote.origin.url", "git@github.com:me/r", "remote.other.url", "git@github.com:other/r", "branch.b.remote", "other",
		"url.https://git.example.com/.insteadof", "ex:", "url.git@github.com:.insteadof", "ex:gh/")
	for _, c := range []struct {
		name, branch, project, want string
		config                      []gitstore.ConfigEntry
	}{
		{"origin", "main", "", "github.com/me/r", fork},
		{"the branch's", "b", "", "github.com/other/r", fork},
		{"upstream", "b", "", "github.com/them/r", append(entries("remote.upstream.url", "https://github.com/them/r"), fork...)},
		{"the only one", "main", "", "gitlab.com/g/p", entries("remote.x.y.url", "https://gitlab.com/g/p.git")},
		{"the last value", "main", "", "gitlab.com/g/q", entries("remote.o.url", "https://gitlab.com/g/p", "remote.o.url", "https://gitlab.com/g/q")},
		{"a short form", "main", "", "git.example.com/g/p", append(entries("remote.upstream.url", "ex:g/p"), fork...)},
		{"the longest short form", "main", "", "github.com/g/p", append(entries("remote.upstream.url", "ex:gh/g/p"), fork...)},
		{"the setting", "main", "them/r", "github.com/them/r", fork},
		{"the setting without a remote", "main", "https://gitlab.com/a/b", "gitlab.com/a/b", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := issueRemote(c.config, c.branch, c.project)
			assert.NoError(t, err)
			assert.Equal(t, c.want, got.Host+"/"+got.Path)
		})
	}
	_, err := issueRemote(entries("remote.a.url", "https://github.com/o/r", "remote.b.url", "https://github.com/o/s"), "main", "")
	assert.EqualError(t, err, "no remote names a server with issues")
	_, err = issueRemote(entries("remote.origin.url", "/srv/hunter2"), "main", "")
	assert.EqualError(t, err, "remote origin: not the URL of a project on a server")
	_, err = issueRemote(nil, "main", "them/r")
	assert.EqualError(t, err, "issue_project: there is no remote: want a URL with the host")
}

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
