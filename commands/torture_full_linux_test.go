package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/gitstore/failure"

	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// mount mounts a file system until the end of a test.
func mount(t *testing.T, source, dir, kind string, flags uintptr, options string) {
	t.Helper()
	if os.Getuid() != 0 {
		without(t, "root, to mount a file system")
	}
	require.NoError(t, os.MkdirAll(dir, 0o777))
	require.NoError(t, unix.Mount(source, dir, kind, flags, options))
	t.Cleanup(func() { require.NoError(t, unix.Unmount(dir, unix.MNT_DETACH)) })
}

// A smallDisk is a file system that can be filled except for some pages.
type smallDisk struct {
	t   *testing.T
	dir string
}

const page = 4096

func newSmallDisk(t *testing.T) *smallDisk {
	d := &smallDisk{t, filepath.Join(t.TempDir(), "disk")}
	mount(t, "tmpfs", d.dir, "tmpfs", 0, "size=8m")
	return d
}

func (d *smallDisk) fill(leave int) {
	d.t.Helper()
	var s unix.Statfs_t
	require.NoError(d.t, unix.Statfs(d.dir, &s))
	require.NoError(d.t, os.WriteFile(filepath.Join(d.dir, "fill"), make([]byte, int64(s.Bavail)*s.Bsize-int64(leave*page)), 0o666))
}

func (d *smallDisk) free() {
	d.t.Helper()
	require.NoError(d.t, os.Remove(filepath.Join(d.dir, "fill")))
}

// refused fails unless a command failed and reported the cause.
func (o outcome) refused(t *testing.T, why string) {
	t.Helper()
	// A restore that cannot revert its changes either is refused until they can be
	// reverted, with the command for that as a hint.
	require.Containsf(t, []int{failure.Failure, failure.Refused}, o.code, "%s: %s", o.name, o.err)
	require.Equal(t, o.code == failure.Refused, strings.Contains(o.err, "hint: git checkpoint restore --abort"), o.err)
	require.Regexpf(t, "(?is)^git-checkpoint: "+args0(o)+".*("+why+")", o.err, "%s", o.name)
}

// args0 returns the name of the command.
func args0(o outcome) string { return strings.Fields(o.name)[1] }

// noSpace matches the messages about a full disk, of this program and of git.
const noSpace = "no space left on device|couldn't write|write error|unable to (write|append)"

// onFullDisk runs a command with an increasing number of free pages, until it succeeds
// three times in a row. Each run fails for lack of space or succeeds, and check examines
// both. A save whose error names the checkpoint has succeeded: only bookkeeping is missing.
func onFullDisk(t *testing.T, template *victim, args []string, check func(v *victim, ok bool)) {
	t.Helper()
	d := newSmallDisk(t)
	stride := 1
	if !gittest.Torture() {
		stride = 6
	}
	enough, failed := 0, 0
	for leave := gittest.Day() % stride; enough < 3; leave += stride {
		require.Less(t, leave, 500, "it never works")
		v := &victim{t: t, dir: filepath.Join(d.dir, "repo"), env: template.env}
		require.NoError(t, copyTree(template.dir, v.dir))
		d.fill(leave)
		o := v.try("git-checkpoint", args...)
		ok := o.code == 0
		if ok {
			enough++
		} else {
			o.refused(t, noSpace)
			enough, failed = 0, failed+1
		}
		d.free()
		require.Emptyf(t, v.locks(), "with %d pages left", leave)
		litter, _ := filepath.Glob(v.path(".git/objects/??/tmp_obj_???????*")) // git leaves its own, with six letters, to git gc
		require.Emptyf(t, litter, "with %d pages left", leave)
		v.sound()
		check(v, ok || strings.Contains(o.err, " is in the chain, but: "))
		v.sound()
		require.NoError(t, os.RemoveAll(v.dir))
	}
	require.NotZero(t, failed)
	t.Logf("%s: failed at %d steps of %d KB", strings.Join(args, " "), failed, stride*page/1024)
}

func TestTortureFullDisk(t *testing.T) {
	gittest.Slow(t)
	t.Run("save", func(t *testing.T) {
		template := newVictim(t).durable()
		template.tool("save", "42")
		template.git("gc", "-q")
		before := template.ids("42")
		template.write("a.txt", strings.Repeat("three\n", 2000))
		template.write("new.txt", strings.Repeat("new\n", 3000))
		onFullDisk(t, template, []string{"save", "42"}, func(v *victim, ok bool) {
			have := v.ids("42")
			if ok {
				require.Len(t, have, len(before)+1)
			} else {
				require.Equal(t, before, have)
			}
			v.next("save", "42")
			require.Len(t, v.ids("42"), len(have)+1)
		})
	})
	t.Run("first save", func(t *testing.T) {
		template := newVictim(t).durable()
		onFullDisk(t, template, []string{"save", "42"}, func(v *victim, ok bool) {
			if !ok {
				require.Empty(t, v.git("for-each-ref", "refs/checkpoints"))
			}
			v.next("save", "42")
		})
	})
	t.Run("prune", func(t *testing.T) {
		template := newVictim(t).durable()
		for range 5 {
			template.tool("save", "42", "--trigger", "batch_complete", "--no-prune")
		}
		template.tool("save", "42", "--no-prune")
		template.git("gc", "-q")
		before := template.ids("42")
		onFullDisk(t, template, []string{"prune", "42"}, func(v *victim, ok bool) {
			if !ok {
				require.Equal(t, before, v.ids("42"))
			}
			v.next("prune", "42")
			require.Len(t, v.ids("42"), len(before)-2)
		})
	})
	t.Run("restore", func(t *testing.T) {
		template, before, after := restoreTemplate(t)
		onFullDisk(t, template, []string{"restore", "42"}, func(v *victim, ok bool) {
			have := v.files()
			if ok {
				require.Equal(t, after, have)
			}
			for name := range union(before, after) {
				require.Contains(t, []string{before[name], after[name]}, have[name], name)
			}
			v.next("restore", "42")
			require.Equal(t, after, v.files())
			v.git("add", "-A")
		})
	})
}

// In a read-only repository all reading commands work, and writing commands report the
// cause of their failure.
func TestTortureReadOnly(t *testing.T) {
	gittest.Slow(t)
	v := newVictim(t).durable()
	v.tool("save", "42")
	v.write("a.txt", "three\n")
	before := v.ids("42")
	tree := v.state(nil)
	git := v.path(".git")
	mount(t, git, git, "", unix.MS_BIND, "")
	require.NoError(t, unix.Mount("", git, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, ""))
	for _, args := range [][]string{
		{"save", "42"},
		{"save", "new"},
		{"save", "42"},
		{"pin", "42", "latest"},
		{"drop", "42", "latest", "--yes"},
		{"archive", "42"},
		{"restore", "42", "--force"},
	} {
		o := v.try("git-checkpoint", args...)
		o.refused(t, "read-only file system")
	}
	for _, args := range [][]string{
		{"list", "42"},
		{"show", "42"},
		{"status", "42"},
		{"verify"},
		{"save", "42", "--dry-run"},
		{"prune", "42", "--dry-run"},
		{"restore", "42", "--dry-run"},
		{"diff", "42", "latest", "latest"},
	} {
		o := v.try("git-checkpoint", args...)
		assert.Zerof(t, o.code, "%s: %s", o.name, o.err)
	}
	assert.Equal(t, before, v.ids("42"))
	assert.Equal(t, tree, v.state(nil))
	require.NoError(t, unix.Mount("", git, "", unix.MS_REMOUNT|unix.MS_BIND, ""))
	v.next("save", "42")
	require.Len(t, v.ids("42"), len(before)+1)
	v.sound()
}
