package commands

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/require"
)

// beforePowerLoss are git commands shortly before a save, in a repository with two
// issues. Git syncs little of their output by default (core.fsync).
var beforePowerLoss = []struct{ name, script string }{
	{"commit", "work one; git commit -qm one"},
	{"commit on a new branch", "git switch -qc topic; work one; git commit -qm one; work two; git commit -qm two"},
	{"staged tree", "work one; git write-tree > tree"},
	{"staged tree of a conflict", "apart; git merge -q topic > merged || :; work one"},
	{"merge", "apart; git merge -q --no-edit -X ours topic"},
	{"rebase", "apart; git rebase -q -X ours topic"},
	{"cherry-pick", "apart; git cherry-pick -X theirs topic > picked"},
	{"stash", "work one; git stash -q; git stash apply -q --index"},
	{"fetch", "upstream; git fetch -q ../up 'refs/heads/*:refs/remotes/up/*' 'refs/checkpoints/*:refs/checkpoints/*'; git merge -q --ff-only up/main"},
	{"fetch of a pack", "upstream; git -c fetch.unpackLimit=1 fetch -q ../up main; git merge -q --ff-only FETCH_HEAD"},
	{"pack that reaches loose objects", "work one; git commit -qm one; git push -q ../up HEAD:main; upstream; git -c fetch.unpackLimit=1 fetch -q ../up main; git reset -q --hard FETCH_HEAD"},
	{"gc", "work one; git commit -qm one; git gc -q"},
	{"pack-refs", "git pack-refs --all --prune"},
	{"repack", "work one; git commit -qm one; git repack -adq"},
	{"maintenance", "work one; git commit -qm one; loose; work two; git commit -qm two; loose; git maintenance run --quiet --task=incremental-repack"},
	{"large commit", "mkdir big; for n in $(seq 1100); do echo $n > big/$n; done; git add .; git commit -qm big"},
	{"copy", "work one; git commit -qm one; cd ..; cp -a repo copy; rm -r repo; mv copy repo; cd repo"},
}

const powerLossFunctions = `
work() { mkdir -p new/$1; for n in 1 2 3; do echo "$1 $n" > new/$1/$n.txt; done; echo $1 >> a.txt; git add -A; }
apart() { git switch -qc topic; work one; git commit -qm one; git switch -q main; work two; git commit -qm two; }
upstream() { git clone -q ../up ../other; (cd ../other; git pull -q ../repo HEAD; work three; git commit -qm three; git push -q origin HEAD:main
	git-checkpoint save 99 --quiet > /dev/null; git push -q origin refs/checkpoints/99); }
loose() { git maintenance run --quiet --task=loose-objects; git maintenance run --quiet --task=loose-objects; }
`

// After an id was printed, a loss of power loses no checkpoint, whatever git command ran
// just before. A copy of a mounted device simulates the power loss. On xfs, a third of
// the situations is tried each day unless GIT_CHECKPOINT_TEST_TORTURE=full.
func TestPowerLossOnDisk(t *testing.T) {
	gittest.SkipShort(t)
	for _, kind := range []string{"ext4", "xfs"} {
		t.Run(kind, func(t *testing.T) {
			n := 0
			newImage(t, kind).losePower(t, func(string) bool {
				n++
				return kind == "ext4" || n%3 == gittest.Day()%3 || gittest.Torture()
			})
		})
	}
}

// The same with reftables. Git's own sync does not help here, because it runs before the
// last bytes are written.
func TestPowerLossOnDiskReftable(t *testing.T) {
	gittest.SkipShort(t)
	if exec.Command("git", "init", "-q", "--ref-format=reftable", t.TempDir()).Run() != nil {
		other := "/tmp/git-checkpoint-git-trixie/bin"
		if _, err := os.Stat(other); err != nil {
			t.Skip("this git has no reftable (2.45 has)")
		}
		t.Setenv("PATH", other+string(os.PathListSeparator)+os.Getenv("PATH"))
	}
	d := newImage(t, "xfs")
	d.tables = true
	d.losePower(t, func(name string) bool { return slices.Contains([]string{"commit on a new branch", "gc", "copy"}, name) })
}

// losePower loses the power after each selected situation.
func (d *image) losePower(t *testing.T, chosen func(name string) bool) {
	for _, s := range beforePowerLoss {
		if !chosen(s.name) {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			v := d.repository(t, strings.ReplaceAll(s.name, " ", "-"))
			v.must("sh", "-ec", powerLossFunctions+s.script)
			v.tool("save", "42", "-m", "after "+s.name)
			d.copied(t, v).whole(v)
		})
	}
}

// Changes of other commands survive a power loss too.
func TestPowerLossAfterCommands(t *testing.T) {
	gittest.SkipShort(t)
	d := newImage(t, "ext4")
	for name, args := range map[string][]string{
		"archive": {"archive", "42", "latest~1"}, "drop": {"drop", "42", "latest~1", "--yes"}, "pin": {"pin", "42", "latest~1"},
		"fetch": {"fetch", "99", "--remote", "../up"}, "sync": {"sync", "99", "--yes", "--remote", "../up"},
	} {
		t.Run(name, func(t *testing.T) {
			v := d.repository(t, "command-"+name)
			v.must("sh", "-ec", powerLossFunctions+"upstream; git gc -q")
			v.tool(args...)
			c := d.copied(t, v)
			c.whole(v)
			if name == "fetch" || name == "sync" {
				require.Equal(t, v.ids("99"), c.ids("99"))
			}
		})
	}
}

// An image is a file system in a file.
type image struct {
	kind, file, dir string

	tables bool // use reftables
}

func newImage(t *testing.T, kind string) *image {
	if _, err := exec.LookPath("mkfs." + kind); err != nil {
		without(t, "mkfs."+kind)
	}
	if os.Getuid() != 0 {
		without(t, "root, to mount a file system")
	}
	dir := t.TempDir()
	d := &image{kind: kind, file: filepath.Join(dir, "image"), dir: filepath.Join(dir, "disk")}
	require.NoError(t, os.WriteFile(d.file, nil, 0o666))
	require.NoError(t, os.Truncate(d.file, 320<<20))
	out, err := exec.Command("mkfs."+kind, "-q", d.file).CombinedOutput()
	require.NoErrorf(t, err, "%s", out)
	d.mount(t)
	return d
}

// mount mounts the image through a loop device.
func (d *image) mount(t *testing.T) (unmount func()) {
	t.Helper()
	options := "loop"
	if d.kind == "xfs" {
		options += ",nouuid" // a copy has the same UUID
	}
	require.NoError(t, os.MkdirAll(d.dir, 0o777))
	if out, err := exec.Command("mount", "-t", d.kind, "-o", options, d.file, d.dir).CombinedOutput(); err != nil {
		t.Skipf("%s cannot be mounted through a loop device here: %s", d.kind, out)
	}
	mounted := true
	unmount = func() {
		if mounted {
			out, err := exec.Command("umount", d.dir).CombinedOutput()
			require.NoErrorf(t, err, "%s", out)
		}
		mounted = false
	}
	t.Cleanup(unmount)
	return unmount
}

// repository creates a repository with checkpoints of two issues and a remote, all on the
// image.
func (d *image) repository(t *testing.T, name string) *victim {
	t.Helper()
	v := victimAt(t, filepath.Join(d.dir, name)).durable()
	if d.tables {
		require.NoError(t, os.RemoveAll(v.path(".git")))
		v.git("init", "-q", "--ref-format=reftable", "--template=", "-b", "main")
	}
	v.write("a.txt", "one\n")
	v.git("add", ".")
	v.git("commit", "-qm", "first")
	v.git("init", "-q", "--bare", "--template=", "-b", "main", "../up")
	v.git("push", "-q", "../up", "HEAD:main")
	v.tool("save", "7", "-m", "seven")
	v.tool("save", "42", "-m", "first")
	v.tool("save", "42", "-m", "second")
	v.must("sync", "-f", ".")
	return v
}

// copied returns the repository in a copy of the current image, after the recovery of the
// file system.
func (d *image) copied(t *testing.T, v *victim) *victim {
	t.Helper()
	dir := t.TempDir()
	c := &image{kind: d.kind, file: filepath.Join(dir, "image"), dir: filepath.Join(dir, "disk")}
	out, err := exec.Command("cp", "--sparse=always", d.file, c.file).CombinedOutput()
	require.NoErrorf(t, err, "%s", out)
	c.mount(t)
	return &victim{t: t, dir: c.dir + strings.TrimPrefix(v.dir, d.dir), env: v.env}
}

// whole fails if refs, checkpoints or commits are missing.
func (c *victim) whole(before *victim) {
	t := c.t
	t.Helper()
	if _, err := os.Stat(c.path(".git/index")); err == nil && c.try("git", "ls-files").code != 0 {
		require.NoError(t, os.Remove(c.path(".git/index"))) // git does not sync its index
	}
	c.fsck()
	for _, issue := range []string{"7", "42"} {
		require.Equal(t, before.ids(issue), c.ids(issue))
	}
	c.tool("verify")
	require.Equal(t, before.git("rev-parse", "HEAD"), c.git("rev-parse", "HEAD"))
	c.tool("restore", "42", "--force")
}
