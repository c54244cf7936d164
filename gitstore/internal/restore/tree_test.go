package restore_test

import (
	"os"
	"strings"
	"testing"

	"git-checkpoint/gitstore"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func (x *site) link(target, name string) {
	x.t.Helper()
	require.NoError(x.t, os.RemoveAll(x.Path(name)))
	require.NoError(x.t, os.Symlink(target, x.Path(name)))
}

func (x *site) remove(name string) {
	x.t.Helper()
	require.NoError(x.t, os.RemoveAll(x.Path(name)))
}

// roundTrip saves changes staged by make, resets to HEAD, restores, and undoes.
func roundTrip(t *testing.T, make func(*site), save ...func(*gitstore.SaveRequest)) {
	t.Helper()
	x := newSite(t)
	make(x)
	x.reopen()
	saved := x.picture()
	c := x.save(save...)
	x.Git("reset", "-q", "--hard")
	x.Git("clean", "-qfdx")
	clean := x.picture()
	done := x.restore(c)
	assert.Empty(t, done.InTheWay)
	assert.Empty(t, done.Skipped)
	require.Equal(t, saved, x.picture())
	x.noLitter()
	x.undo()
	require.Equal(t, clean, x.picture())
	assert.Empty(t, x.status())
	x.noLitter()
}

func TestRestoreShapes(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: not in short mode")
	}
	long := strings.Repeat("n", 250)
	names := []string{"line\nbreak", "sp ace", "quo\"te", "ta\tb", "back\\slash", "caf\xe9", "übung", "-dash", ":(top)x", "*", long, strings.Repeat(long[:100]+"/", 30) + "deep", " lead", "trail "}
	tests := map[string]func(*site){
		"file becomes directory": func(x *site) {
			x.Git("rm", "-q", "a")
			x.Write("a/x", "1")
			x.Write("a/y/z", "2")
			x.Git("add", "-A")
		},
		"directory becomes file": func(x *site) {
			x.Git("rm", "-rq", "d")
			x.Write("d", "now a file")
			x.Git("add", "-A")
		},
		"directory becomes symlink": func(x *site) {
			x.Git("rm", "-rq", "d")
			x.link("/etc", "d")
			x.Git("add", "-A")
		},
		"file becomes symlink": func(x *site) {
			x.link("b", "a")
			x.Git("add", "-A")
		},
		"mode alone": func(x *site) { x.Git("update-index", "--chmod=+x", "a"); x.Git("checkout-index", "-f", "a") },
		"everything goes": func(x *site) {
			x.Git("rm", "-rq", ".")
		},
		"names": func(x *site) {
			for _, n := range names {
				x.Write(n, "in "+n)
			}
			x.Git("add", "-A")
		},
		"empty file": func(x *site) { x.Write("empty", ""); x.Write("a", ""); x.Git("add", "-A") },
		"submodule": func(x *site) {
			x.Git("update-index", "--add", "--cacheinfo", "160000,"+x.Git("rev-parse", "HEAD")+",sub")
		},
		"file becomes submodule": func(x *site) {
			x.Git("update-index", "--add", "--cacheinfo", "160000,"+x.Git("rev-parse", "HEAD")+",a")
		},
	}
	for name, make := range tests {
		t.Run(name, func(t *testing.T) { roundTrip(t, make) })
	}
}

// TestRestoreNeverFollowsSymlinks checks that symlinks created since the save are
// replaced if allowed, and never followed.
func TestRestoreNeverFollowsSymlinks(t *testing.T) {
	t.Parallel()
	x := newSite(t)
	x.Write("d/e", "staged\n")
	x.Write("d/new", "staged\n")
	x.Write("a", "staged\n")
	x.Git("add", "-A")
	c := x.save()
	x.clean()
	outside := t.TempDir()
	require.NoError(t, os.WriteFile(outside+"/e", []byte("outside\n"), 0o600))
	x.remove("d")
	x.link(outside, "d")
	x.link(outside+"/e", "a")
	for _, f := range []func(*gitstore.RestoreRequest){takeTheirs, force} {
		done := x.restore(c, f)
		assert.Subset(t, done.InTheWay, []string{"d/new"})
		data, err := os.ReadFile(outside + "/e")
		require.NoError(t, err)
		assert.Equal(t, "outside\n", string(data))
		entries, err := os.ReadDir(outside)
		require.NoError(t, err)
		assert.Len(t, entries, 1)
	}
	assert.Equal(t, "staged\n", x.Read("a"))
	info, err := os.Lstat(x.Path("a"))
	require.NoError(t, err)
	assert.True(t, info.Mode().IsRegular())
}
