package restore_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"git-checkpoint/gitstore"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRestoreChanged(t *testing.T) {
	t.Parallel()
	const theirs = "0 a\nx\ny\nz\ntheir end\n"
	tests := map[string]struct {
		mine string
		mode func(*gitstore.RestoreRequest)
		want string
		out  func(*gitstore.Restored) []string
	}{
		"mine":       {"my a\nx\ny\nz\nend\n", func(r *gitstore.RestoreRequest) { r.Changed = "mine" }, "my a\nx\ny\nz\nend\n", func(r *gitstore.Restored) []string { return r.Skipped }},
		"checkpoint": {"my a\nx\ny\nz\nend\n", takeTheirs, theirs, func(r *gitstore.Restored) []string { return r.Restored }},
		"force":      {"my a\nx\ny\nz\nend\n", force, theirs, func(r *gitstore.Restored) []string { return r.Restored }},
		"clean":      {"my a\nx\ny\nz\nend\n", mergeBoth, "my a\nx\ny\nz\ntheir end\n", func(r *gitstore.Restored) []string { return r.Restored }},
		"conflict": {
			"0 a\nx\ny\nz\nmy end\n", mergeBoth,
			"0 a\nx\ny\nz\n<<<<<<< mine\nmy end\n=======\ntheir end\n>>>>>>> checkpoint\n",
			func(r *gitstore.Restored) []string { return r.Merged },
		},
		"binary": {"my\x00a", mergeBoth, "my\x00a", func(r *gitstore.Restored) []string { return r.Skipped }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			x := newSite(t)
			x.Write("a", theirs)
			x.Git("add", "-A")
			c := x.save()
			x.clean()
			x.forgetHere()
			x.Write("a", tc.mine)
			before := x.picture()
			done := x.restore(c, tc.mode)
			assert.Equal(t, []string{"a"}, tc.out(done))
			assert.Equal(t, tc.want, x.Read("a"))
			x.noLitter()
			if done.Undo != "" {
				x.undo()
				assert.Equal(t, before, x.picture())
			}
		})
	}
}

// TestRestoreMergesCleaned checks that merges use blobs after clean filters, so that line
// endings do not matter. An executable bit set by one side must be kept.
func TestRestoreMergesCleaned(t *testing.T) {
	t.Parallel()
	x := newSite(t)
	x.Write(".gitattributes", "a text eol=crlf\n")
	x.Git("add", "-A")
	x.Commit("attributes")
	x.Write("a", "0 a\r\nx\r\ny\r\nz\r\ntheir end\r\n")
	x.Git("add", "-A")
	c := x.save()
	x.clean()
	x.forgetHere()
	x.Write("a", "my a\r\nx\r\ny\r\nz\r\nend\r\n")
	require.NoError(t, os.Chmod(x.Path("a"), 0o755))
	done := x.restore(c, mergeBoth)
	assert.Empty(t, done.Merged)
	assert.Equal(t, "my a\r\nx\r\ny\r\nz\r\ntheir end\r\n", x.Read("a"))
	info, err := os.Stat(x.Path("a"))
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o755), info.Mode().Perm())
}

// A file that git ignores counts as unknown, even if a checkpoint has its content.
func TestRestoreKeepsIgnoredFiles(t *testing.T) {
	t.Parallel()
	x := newSite(t)
	x.Write(".gitignore", "out\n")
	x.Git("add", "-A")
	x.Commit("ignore")
	save := func(text string) *gitstore.Checkpoint {
		x.Write("out", text)
		return x.save(func(r *gitstore.SaveRequest) { r.Artifacts = []string{"out"} })
	}
	first := save("first\n")
	save("second\n")
	assert.Equal(t, []string{"out"}, x.restore(first, back).Skipped)
	assert.Equal(t, "second\n", x.Read("out"))
	assert.Equal(t, []string{"out"}, x.restore(first, back, force).Restored)
	x.undo()
	assert.Equal(t, "second\n", x.Read("out"))
	require.NoError(t, os.Remove(x.Path("out")))
	assert.Equal(t, []string{"out"}, x.restore(first, back).Restored, "it is gone")
}

func TestRestoreStagedAndPaths(t *testing.T) {
	t.Parallel()
	x := newSite(t)
	x.stageSome()
	c := x.save()
	x.clean()
	done := x.restore(c, stagedOnly)
	assert.Equal(t, []string{"a", "d/e", "new/n"}, done.Restored)
	assert.Equal(t, "MM a\nD  d/e\nAD new/n\n?? d/e", x.status())
	x.undo()
	assert.Empty(t, x.status())

	assert.Equal(t, []string{"d/e", "new/n"}, x.restore(c, only("d/", "new/n")).Restored)
	x.undo()
	assert.Equal(t, []string{"a", "d/e", "new/n"}, x.restore(c, only(".")).Restored)
	_, err := x.try(c, only("b"))
	require.ErrorContains(t, err, `the checkpoint has no change to "b"`)
}

func TestRestoreLater(t *testing.T) {
	t.Parallel()
	x := newSite(t)
	x.Write(".gitignore", "ignored\n")
	x.Git("add", "-A")
	x.Commit("ignore")
	x.Write("u", "untracked\n")
	x.stageSome()
	c := x.save()
	saved := x.picture()
	x.Write("later/staged", "1")
	x.Git("add", "later/staged")
	x.Write("later/untracked", "2")
	x.Write("edited", "3")
	x.Git("add", "edited")
	x.Write("edited", "4")
	before := x.picture()
	x.Write("ignored", "5")

	done := x.restore(c)
	assert.Equal(t, []string{"edited", "later/staged", "later/untracked"}, done.Later)
	assert.Empty(t, done.Restored)
	assert.Equal(t, []string{"later/staged", "later/untracked"}, x.restore(c, exact, only("later")).Later)
	x.undo()
	done = x.restore(c, exact)
	assert.Equal(t, []string{"edited", "later/staged", "later/untracked"}, done.Restored)
	assert.Equal(t, "5", x.Read("ignored"))
	x.remove("ignored")
	assert.Equal(t, saved, x.picture())
	x.undo()
	assert.Equal(t, before, x.picture())
}

// TestRestoreUnknownFiles checks that untracked files are kept.
func TestRestoreUnknownFiles(t *testing.T) {
	t.Parallel()
	x := newSite(t)
	x.Write("n", "staged\n")
	x.Write("sub/n", "staged\n")
	x.Git("add", "-A")
	c := x.save()
	x.clean()
	x.Write(".git/info/exclude", "n\n")
	x.Write("n", "ignored\n")
	x.Write("sub", "untracked\n")
	done := x.restore(c, takeTheirs)
	assert.Equal(t, []string{"n", "sub/n"}, done.InTheWay)
	assert.Equal(t, "ignored\n", x.Read("n"))
	assert.Equal(t, "untracked\n", x.Read("sub"))
	before := x.picture()
	done = x.restore(c, force)
	assert.Equal(t, []string{"n"}, done.Restored)
	assert.Equal(t, []string{"sub/n"}, done.InTheWay)
	x.undo()
	assert.Equal(t, before, x.picture())
}

func TestRestoreDryRunChangesNothing(t *testing.T) {
	t.Parallel()
	x := newSite(t)
	x.stageSome()
	x.Write("u", "untracked\n")
	c := x.save()
	x.clean()
	x.Write("a", "mine\n")
	x.restore(c, dryRun)
	before := everything(t, x.Dir)
	for _, mode := range []func(*gitstore.RestoreRequest){func(*gitstore.RestoreRequest) {}, force, exact, mergeBoth, stagedOnly} {
		done := x.restore(c, dryRun, mode)
		assert.NotEmpty(t, done.Restored)
		assert.Empty(t, done.Undo)
	}
	assert.Equal(t, before, everything(t, x.Dir))
}

// everything returns all files below dir, including the repository.
func everything(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		b.WriteString(p + " " + info.Mode().String())
		if !d.IsDir() {
			b.WriteString(" " + info.ModTime().Format(time.RFC3339Nano))
		}
		b.WriteString("\n")
		return nil
	}))
	return b.String()
}
