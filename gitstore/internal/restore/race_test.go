package restore_test

import (
	"os"
	"testing"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/internal/restore"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// at calls f once at a fault point.
func at(t *testing.T, point string, f func()) {
	t.Helper()
	t.Cleanup(func() { restore.SetFault(nil) })
	done := false
	restore.SetFault(func(p string) error {
		if p == point && !done {
			done = true
			f()
		}
		return nil
	})
}

// TestRestoreLosesNoEditInBetween checks that edits made after readState are kept and
// reported.
func TestRestoreLosesNoEditInBetween(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: not in short mode")
	}
	outside := t.TempDir()
	edits := map[string]func(*site){
		"edited":          func(x *site) { x.Write("a", "in between\n") },
		"replaced":        func(x *site) { x.link("b", "a") },
		"removed":         func(x *site) { x.remove("a") },
		"now a directory": func(x *site) { x.remove("a"); x.Write("a/x", "1") },
		"doomed edited":   func(x *site) { x.Write("d/e", "in between\n") },
		"new one there":   func(x *site) { x.Write("new/n", "in between\n") },
		"new is a link":   func(x *site) { x.link(outside, "new") },
		"parent a link":   func(x *site) { x.remove("d"); x.link(outside, "d") },
		"parent a file":   func(x *site) { x.Write("new", "in between\n") },
	}
	for name, edit := range edits {
		t.Run(name, func(t *testing.T) {
			x := newSite(t)
			x.stageSome()
			x.Write("d/f", "staged f\n")
			x.Git("add", "-A")
			c := x.save()
			x.clean()
			edit(x)
			want := map[string]string{}
			for _, p := range []string{"a", "a/x", "d/e", "new/n", "new"} {
				want[p] = look(x, p)
			}
			x.clean()
			at(t, "entry", func() { edit(x) })
			done := x.restore(c)
			assert.NotEmpty(t, done.Skipped)
			for _, p := range []string{"a", "a/x", "d/e", "new/n", "new"} {
				if got := look(x, p); got == "none" || want[p] == "none" {
					continue
				} else if want[p] != "0 a\nx\ny\nz\nend\n" && want[p] != "2 d/e\nx\ny\nz\nend\n" {
					assert.Equal(t, want[p], got, p)
				}
			}
			entries, err := os.ReadDir(outside)
			require.NoError(t, err)
			assert.Empty(t, entries)
			x.noLitter()
		})
	}
}

func look(x *site, name string) string {
	if target, err := os.Readlink(x.Path(name)); err == nil {
		return "-> " + target
	}
	data, err := os.ReadFile(x.Path(name))
	if err != nil {
		return "none"
	}
	return string(data)
}

// TestRestoreSeesAnEditBeforeItActs checks that a concurrent edit before the first change
// stops the whole restore.
func TestRestoreSeesAnEditBeforeItActs(t *testing.T) {
	x := newSite(t)
	x.stageSome()
	c := x.save()
	x.clean()
	at(t, "planned", func() { x.Write("a", "in between\n") })
	_, err := x.try(c)
	var refused *gitstore.RefusedError
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, " M a", x.status())
	x.noLitter()
}

// TestRestoreFollowsNoDirectoryThatMovesAway moves a directory away between two files of it, and
// leaves a symlink or nothing in its place.
func TestRestoreFollowsNoDirectoryThatMovesAway(t *testing.T) {
	for name, leave := range map[string]func(x *site, outside string){
		"symlink": func(x *site, outside string) { x.link(outside, "d") },
		"another": func(x *site, _ string) { x.Write("d/f", "another\n") },
	} {
		t.Run(name, func(t *testing.T) {
			x := newSite(t)
			x.Write("d/e", "staged e\n")
			x.Write("d/f", "staged f\n")
			x.Git("add", "-A")
			c := x.save()
			x.clean()
			old := x.Read("d/f")
			outside := x.Path("../outside")
			at(t, "moved", func() {
				require.NoError(t, os.Rename(x.Path("d"), outside))
				leave(x, outside)
			})
			done := x.restore(c)
			assert.Equal(t, []string{"d/f"}, done.Skipped)
			assert.Equal(t, "staged e\n", x.Read("../outside/e"), "it was there when the file was restored")
			assert.Equal(t, old, x.Read("../outside/f"))
			x.noLitter()
		})
	}
}
