package gitstore

import (
	"strings"
	"testing"

	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Saves accept exactly the files that servers with fsck checks accept.
func TestSaveRejectsFilesThatFsckRejects(t *testing.T) {
	gittest.Slow(t)
	module := func(name, more string) string { return "[submodule \"" + name + "\"]\n\tpath = a\n\turl = x\n" + more }
	for name, c := range map[string]struct {
		file, text string
		bad        bool
	}{
		"plain":                 {".gitmodules", module("a", "\tupdate = rebase\n"), false},
		"web":                   {".gitmodules", module("a", "\turl = https://example.com/a.git\n"), false},
		"ssh":                   {".gitmodules", module("a", "\turl = git@example.com:a/b.git\n"), false},
		"relative":              {".gitmodules", module("a", "\turl = ../b.git\n"), false},
		"not to be parsed":      {".gitmodules", "[submodule \"a\"\n", false},
		"an option":             {"sub/.gitmodules", module("a", "\turl = --upload-pack=x\n"), true},
		"a line break":          {".gitmodules", module("a", "\turl = https://example.com/%0ahost=x\n"), true},
		"no host":               {".gitmodules", module("a", "\turl = http:///x\n"), true},
		"no host at all":        {".gitmodules", module("a", "\turl = http::://one.example.com/foo\n"), true},
		"a name that leads out": {".gitmodules", module("x/../../a", ""), true},
		"a path with a dash":    {".gitmodules", module("a", "\tpath = -b\n"), true},
		"a command":             {".gitmodules", module("a", "\tupdate = !rm\n"), true},
		"attributes":            {".gitattributes", "*.txt " + strings.Repeat("a", 2048-7) + "\n*.c text\n", false},
		"long attributes":       {"dir/.gitattributes", "*.txt " + strings.Repeat("a", 2048-6) + "\n", true},
		"another file":          {"gitattributes", strings.Repeat("a", 4000), false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.Write(c.file, c.text)
			w.Git("add", "-A")
			_, fsck := w.Run(nil, "fsck", "--strict", "--no-dangling", "--no-progress", w.Git("write-tree"))
			assert.Equal(t, c.bad, fsck != nil, "what git says")
			saved, err := w.s.Save(ctx, w.request("manual"))
			if !c.bad {
				require.NoError(t, err)
				assert.NotEmpty(t, saved.ID)
				return
			}
			var refused *RefusedError
			require.ErrorAs(t, err, &refused)
			assert.Contains(t, err.Error(), c.file+" is staged, and git rejects it: git")
			assert.Equal(t, "git restore --staged -- "+c.file, refused.Hint)
		})
	}
}

// Invalid files in HEAD do not prevent saves.
func TestSaveAcceptsInvalidFilesOfHead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Write(".gitattributes", strings.Repeat("a", 4000))
	w.Git("add", "-A")
	w.Commit("it is there")
	w.manual(1)
}
