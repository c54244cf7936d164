package restore_test

import (
	"os"
	"testing"
	"time"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRestoreFilters checks that git's filters apply on save and restore, and that git
// status reports no new changes.
func TestRestoreFilters(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: not in short mode")
	}
	filters := map[string]struct {
		attributes string
		setup      func(*site)
		saved      string // content of a in the worktree
		want       string
	}{
		"crlf":   {"* text=auto eol=crlf\n", nil, "one\r\ntwo\r\n", "one\r\ntwo\r\n"},
		"ident":  {"a ident\n", nil, "$Id$\n", "$Id: " + gittest.ByFormat("055c8729cdcc372500a08db659c045e16c4409fb", "746298a10ca2cb9f978433b2e3ccb0dc69fe53a9838ef2ed765be6d8b780a98d") + " $\n"},
		"custom": {"a filter=swap\n", func(x *site) { x.filter("swap", "tr ab ba", "tr ab ba") }, "aabb\n", "aabb\n"},
		"unstable": {"a filter=stamp\n", func(x *site) {
			x.filter("stamp", "cat && date +%N", "cat")
		}, "text\n", ""},
		"encoding": {"a working-tree-encoding=UTF-16LE\n", nil, "h\x00i\x00\n\x00", "h\x00i\x00\n\x00"},
	}
	for name, f := range filters {
		t.Run(name, func(t *testing.T) {
			x := newSite(t)
			if f.setup != nil {
				f.setup(x)
			}
			x.Write(".gitattributes", f.attributes)
			x.Git("add", "-A")
			x.Commit("attributes")
			x.reopen()
			x.Write("a", f.saved)
			x.Git("add", "-A")
			c := x.save()
			staged := x.Git("ls-files", "-s")
			x.clean()
			later := time.Now().Add(2 * time.Second) // git then trusts stat data, as usual
			require.NoError(t, os.Chtimes(x.GitPath("index"), later, later))
			clean := x.picture()
			done := x.restore(c)
			assert.Empty(t, done.Skipped)
			if f.want != "" {
				assert.Equal(t, f.want, x.Read("a"))
			}
			assert.Equal(t, staged, x.Git("ls-files", "-s"))
			if name != "unstable" {
				assert.Empty(t, x.Git("diff-files"))
			}
			x.undo()
			assert.Equal(t, clean, x.picture())
			x.noLitter()
		})
	}
}

func (x *site) filter(name, clean, smudge string) {
	x.Git("config", "filter."+name+".clean", clean)
	x.Git("config", "filter."+name+".smudge", smudge)
}

// TestRestoreAttributesComeAlong checks that restored .gitattributes files apply to
// restored files, and that removed ones do not.
func TestRestoreAttributesComeAlong(t *testing.T) {
	t.Parallel()
	x := newSite(t, "d/deep/g")
	x.Write(".gitattributes", "b text eol=crlf\n")
	x.Git("add", "-A")
	x.Commit("attributes that stay")
	x.Write("b", "3\r\n4\r\n")
	x.Write("d/.gitattributes", "g text eol=crlf\n")
	x.Write("d/deep/g", "1\r\n2\r\n")
	x.Git("add", "-A")
	saved := x.picture()
	c := x.save()
	x.clean()
	x.restore(c)
	assert.Equal(t, "1\r\n2\r\n", x.Read("d/deep/g"))
	assert.Equal(t, "3\r\n4\r\n", x.Read("b"))
	assert.Equal(t, saved, x.picture())
	assert.Empty(t, x.Git("diff-files"))
	x.noLitter()
}

func TestRestoreWithoutSymlinksAndModes(t *testing.T) {
	t.Parallel()
	x := newSite(t)
	x.link("b", "s")
	x.Git("add", "-A")
	x.Commit("a symlink")
	x.link("a", "s")
	x.Git("update-index", "--chmod=+x", "a")
	x.Git("add", "s")
	c := x.save(func(r *gitstore.SaveRequest) { r.Staged = true })
	x.Git("config", "core.symlinks", "false")
	x.Git("config", "core.fileMode", "false")
	x.remove("s")
	x.clean()
	x.reopen()
	clean := x.picture()
	done := x.restore(c)
	assert.Equal(t, []string{"a", "s"}, done.Restored)
	info, err := os.Lstat(x.Path("s"))
	require.NoError(t, err)
	assert.True(t, info.Mode().IsRegular())
	assert.Equal(t, "a", x.Read("s"))
	assert.Equal(t, "M  a\nM  s", x.status())
	assert.Empty(t, x.restore(c).Restored)
	x.undo()
	assert.Equal(t, clean, x.picture())
	assert.Empty(t, x.status())
}
