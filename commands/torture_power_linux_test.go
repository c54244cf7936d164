package commands

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/gitstore/testing/gittest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/require"
)

// tracedScript saves checkpoints in different situations: the first of an issue, with new
// files and directories, of other issues, with retention, and during a gc. Other commands
// that move the chain follow.
const tracedScript = `
git-checkpoint save 42
mkdir -p new/er; echo new > new/er/c.txt; echo three > a.txt; git add -A
git-checkpoint save 42 -m 'new files'
echo four > a.txt; echo five > d.txt
git-checkpoint save 42
git-checkpoint save PROJ-1
git-checkpoint save 42 --trigger batch_complete
git-checkpoint save 42 --trigger batch_complete
git-checkpoint save 42 --trigger batch_complete
echo six > a.txt; git add a.txt
git-checkpoint save 42 --trigger batch_complete
echo 1 host > .git/gc.pid
git-checkpoint save 42
rm .git/gc.pid
git-checkpoint pin 42 latest > pinned
git-checkpoint archive 42 latest~2 > archived
git-checkpoint drop long $OLDEST --yes
git-checkpoint save 42
`

// A loss of power at any time, with the loss of any data that was not synced, loses no
// checkpoint with a printed id. All chains stay complete.
func TestTorturePowerLoss(t *testing.T) {
	gittest.SkipShort(t)
	template := newVictim(t).durable()
	for range dose(205) { // more than 200 commits are rewritten as a pack
		template.tool("save", "long", "--no-prune")
	}
	template.git("gc", "-q")
	t.Run("each file apart", func(t *testing.T) {
		t.Parallel()
		template.copy(t).losePower(false)
	})
	// This is the behaviour of ext4. On another file system, all other subtests still
	// apply.
	t.Run("ordered journal", func(t *testing.T) {
		t.Parallel()
		template.copy(t).losePower(true)
	})
}

func (v *victim) losePower(ordered bool) {
	t := v.t
	base := filepath.Join(t.TempDir(), "base")
	require.NoError(t, copyTree(v.path(".git"), base))
	long := v.ids("long")
	d := newTracedDisk(v, base, v.trace("OLDEST="+long[len(long)-1]+tracedScript))
	d.ordered = ordered
	require.Len(t, d.print, 10)
	require.NotEmpty(t, d.locks)
	last := d.ops[len(d.ops)-1].end
	stay := v.everywhere()
	locked, unprinted := 0, 0
	for i := range dose(100) {
		now := rand.IntN(last + 2)
		switch i % 4 {
		case 0: // right after an id was printed
			now = d.print[rand.IntN(len(d.print))].end
		case 1: // while a ref is locked
			now = d.locks[rand.IntN(len(d.locks))]
		case 2: // in the middle of a group of syncs
			now = d.syncs[rand.IntN(len(d.syncs))].end
		}
		kind := i % lossKinds
		c := &victim{t: t, dir: filepath.Join(t.TempDir(), "repo"), env: v.env}
		d.crash(c.path(".git"), now, kind)
		if len(c.locks()) > 0 {
			locked++
		}
		c.later()
		c.afterCrash(fmt.Sprintf("at %d of %d, lost %d", now, last, kind))
		have := c.everywhere()
		for _, p := range d.print {
			if p.end <= now && stay[p.id] {
				require.Truef(t, have[p.id], "%s was printed at %d and is lost at %d (%d)", p.id, p.end, now, kind)
			} else if p.end > now && have[p.id] {
				unprinted++
			}
		}
		c.next("save", "42")
		for _, lock := range c.locks() { // the next process that moves the ref removes it
			require.NotContains(t, lock, "/refs/checkpoints/42.lock")
		}
		c.tool("verify")
		require.NoError(t, os.RemoveAll(c.dir))
	}
	t.Logf("%d losses of power, %d with left locks, %d times an id was in the chain that was not printed yet", dose(100), locked, unprinted)
}

// everywhere returns the checkpoints of all chains, including archived checkpoints.
func (v *victim) everywhere() map[string]bool {
	v.t.Helper()
	ids := map[string]bool{}
	out := v.git("for-each-ref", "--format=%(refname)", "refs/checkpoints", "refs/checkpoints-archive")
	for _, ref := range strings.Fields(out) {
		for _, line := range strings.Split(v.git("log", "--first-parent", "--format=%(trailers:key=Checkpoint-Id,valueonly,separator=)", ref), "\n") {
			if line != "" {
				ids[line] = true
			}
		}
	}
	return ids
}

// afterCrash fails unless all refs are readable and their objects exist.
func (v *victim) afterCrash(what string) {
	v.t.Helper()
	_ = os.Remove(v.path(".git/index.lock")) // git does not sync its index
	v.git("read-tree", "HEAD")
	refs := v.try("git", "for-each-ref", "--format=%(objectname)")
	require.Zerof(v.t, refs.code, "%s: %s", what, refs.err)
	require.Emptyf(v.t, refs.err, "%s", what)
	args := append([]string{"fsck", "--connectivity-only", "--no-dangling", "--no-progress"}, strings.Fields(refs.out)...)
	fsck := v.try("git", args...)
	require.Zerof(v.t, fsck.code, "%s: %s %s", what, fsck.out, fsck.err)
	v.tool("verify")
}

// unsyncedScript runs git commands before saves, without a sync by git.
const unsyncedScript = `
git config core.fsync none
mkdir -p new/er; echo new > new/er/c.txt; git add -A; git commit -qm 'the work'
git-checkpoint save 42
git-checkpoint save PROJ-1
echo four > a.txt; git add -A; git write-tree > /dev/null
git-checkpoint save 42
git pack-refs --all --prune
git-checkpoint save 42
git switch -qc topic; echo five > new/er/c.txt; git commit -qam topic
git switch -q main; echo six > dir/b.txt; git commit -qam main; git merge -q --no-edit topic
git-checkpoint save 42
git gc -q
git-checkpoint save PROJ-1
git switch -q topic; git rebase -q main; echo seven > a.txt; git commit -qam seven
git repack -adq
git-checkpoint save 42
`

// After an id was printed, files that git wrote before without a sync are durable.
func TestTorturePowerLossAfterGit(t *testing.T) {
	gittest.SkipShort(t)
	template := newVictim(t).durable()
	for name, ordered := range map[string]bool{"each file apart": false, "ordered journal": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := template.copy(t)
			base := filepath.Join(t.TempDir(), "base")
			require.NoError(t, copyTree(v.path(".git"), base))
			d := newTracedDisk(v, base, v.trace(unsyncedScript))
			d.ordered = ordered
			require.Len(t, d.print, 7)
			for i := range d.print {
				for kind := range lossKinds {
					d.afterPrint(i, kind)
				}
			}
		})
	}
}

// packingScript packs the loose objects of saves, and then deletes them: the directory objects/17
// becomes as full as after many saves.
func packingScript() string {
	var blobs strings.Builder
	for n, left := 0, 8; left > 0; n++ {
		if text := fmt.Sprint(n); strings.HasPrefix(plumbing.ComputeHash(plumbing.BlobObject, []byte(text)).String(), "17") {
			fmt.Fprintf(&blobs, "printf %s | git hash-object -w --stdin > blob\n", text)
			left--
		}
	}
	return `
git-checkpoint save 42
echo four > a.txt; git add -A
git-checkpoint save 42
` + blobs.String() + `
git-checkpoint save 42
git-checkpoint save 42
`
}

// While loose objects are deleted, the pack that replaces them is durable.
func TestTorturePowerLossWhilePacking(t *testing.T) {
	gittest.SkipShort(t)
	v := newVictim(t).durable()
	v.git("config", "gc.autoDetach", "false")
	base := filepath.Join(t.TempDir(), "base")
	require.NoError(t, copyTree(v.path(".git"), base))
	d := newTracedDisk(v, base, v.trace(packingScript()))
	require.Len(t, d.print, 4)
	var deleted []int
	for _, op := range d.ops {
		for path, f := range op.names {
			if dir, name := filepath.Split(strings.TrimPrefix(path, d.root+"/objects/")); f == nil && len(dir) == len("ab/") && len(name) >= 38 {
				deleted = append(deleted, op.end)
			}
		}
	}
	require.Greater(t, len(deleted), 5)
	for i := range 12 {
		now, kind := deleted[len(deleted)-1-i%3], []int{loseSome, loseAll, loseSome, loseNames}[i%4]
		c := &victim{t: t, dir: filepath.Join(t.TempDir(), "repo"), env: v.env}
		d.crash(c.path(".git"), now, kind)
		require.NoError(t, os.RemoveAll(c.path(".git/index"))) // git does not sync its index
		c.afterCrash(fmt.Sprintf("deleted at %d, lost %d", now, kind))
		have := c.everywhere()
		for _, p := range d.print[:2] {
			require.Truef(t, have[p.id], "%s is lost at %d (%d)", p.id, now, kind)
		}
		require.NoError(t, os.RemoveAll(c.dir))
	}
}

// afterPrint checks the repository after a loss of power right after an id was printed.
func (d *tracedDisk) afterPrint(i, kind int) {
	t := d.v.t
	c := &victim{t: t, dir: filepath.Join(t.TempDir(), "repo"), env: d.v.env}
	d.crash(c.path(".git"), d.print[i].end, kind)
	require.NoError(t, os.RemoveAll(c.path(".git/index"))) // git does not sync its index
	c.afterCrash(fmt.Sprintf("after id %d, lost %d", i, kind))
	have := c.everywhere()
	for _, p := range d.print[:i+1] {
		require.Truef(t, have[p.id], "%s is lost after id %d (%d)", p.id, i, kind)
	}
	require.NoError(t, os.RemoveAll(c.dir))
}
