package restore_test

import (
	"testing"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/internal/restore"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func force(r *gitstore.RestoreRequest)      { r.Force = true }
func dryRun(r *gitstore.RestoreRequest)     { r.DryRun = true }
func stagedOnly(r *gitstore.RestoreRequest) { r.Staged = true }

func back(r *gitstore.RestoreRequest)       { r.Asked = true }
func takeTheirs(r *gitstore.RestoreRequest) { r.Asked, r.Changed = true, restore.FromCheckpoint }
func mergeBoth(r *gitstore.RestoreRequest)  { r.Changed = restore.Merged }

// stageSome changes, adds and removes files, and stages these changes.
func (x *site) stageSome() {
	x.Write("a", "staged a\n")
	x.Write("new/n", "staged n\n")
	x.Git("rm", "-q", "d/e")
	x.Git("add", "-A")
}

func TestRestoreRefusesInTheMiddle(t *testing.T) {
	t.Parallel()
	for what, file := range map[string]string{"merge": "MERGE_HEAD", "am": "rebase-apply/applying"} {
		t.Run(what, func(t *testing.T) {
			x := newSite(t)
			x.stageSome()
			c := x.save()
			x.clean()
			x.Write(".git/"+file, x.Git("rev-parse", "HEAD")+"\n")
			_, err := x.try(c)
			var refused *gitstore.RefusedError
			require.ErrorAs(t, err, &refused)
			assert.Equal(t, "a "+what+" is under way", refused.Reason)
			assert.NotEmpty(t, x.restore(c, force).Restored)
		})
	}
}

// TestRestoreCheckpointSavedInAMerge checks that conflict stages are restored in the same merge. If
// that merge is not in progress, the result names the commit to merge.
func TestRestoreCheckpointSavedInAMerge(t *testing.T) {
	t.Parallel()
	x := newSite(t)
	x.Git("switch", "-qc", "side")
	x.Write("a", "theirs\n")
	x.Git("commit", "-qam", "theirs")
	side := x.Git("rev-parse", "HEAD")
	x.Git("switch", "-q", "main")
	x.Write("a", "ours\n")
	x.Git("commit", "-qam", "ours")
	_, err := x.Run(nil, "merge", "side")
	require.Error(t, err)
	saved := x.picture()
	c := x.save()
	x.Write("a", "resolved\n")
	x.Git("add", "a")
	assert.Equal(t, []string{"a"}, x.restore(c).Unsaved, "the conflict was resolved since")
	done := x.restore(c, takeTheirs)
	assert.Empty(t, done.Merging)
	assert.Equal(t, saved, x.picture())

	x.Git("merge", "--abort")
	done = x.restore(c)
	assert.Equal(t, []string{side}, done.Merging)
	assert.Equal(t, saved, x.picture())
	x.undo()
	assert.Empty(t, x.status())
}

func TestRestoreHeldLock(t *testing.T) {
	t.Parallel()
	x := newSite(t)
	x.stageSome()
	c := x.save()
	x.clean()
	x.Write(".git/index.lock", "somebody else's")
	before, index := x.picture(), x.Read(".git/index")
	_, err := x.try(c)
	var refused *gitstore.RefusedError
	require.ErrorAs(t, err, &refused)
	assert.Contains(t, refused.Reason, "locked by another git process")
	assert.Equal(t, before, x.picture())
	assert.Equal(t, index, x.Read(".git/index"))
	assert.Equal(t, "somebody else's", x.Read(".git/index.lock"))
	assert.NotEmpty(t, x.restore(c, dryRun).Restored, "a dry run takes no lock")
}

// TestRestoreOfTwoCases checks a checkpoint with two files whose names differ only in case. With
// core.ignorecase, a restore writes one file with its own content, and reports the second path.
func TestRestoreOfTwoCases(t *testing.T) {
	t.Parallel()
	x := newSite(t)
	x.Write("README", "upper\n")
	x.Write("readme", "lower\n")
	x.Git("add", "-A")
	c := x.save()
	x.clean()
	clean := x.picture()
	x.Git("config", "core.ignorecase", "true")
	x.reopen()
	for _, force := range []bool{false, true} {
		done := x.restore(c, func(r *gitstore.RestoreRequest) { r.Force = force })
		assert.Equal(t, []string{"README"}, done.Restored)
		assert.Equal(t, []string{"readme"}, done.InTheWay)
		assert.Equal(t, "upper\n", x.Read("README"))
		assert.Equal(t, "A  README", x.status())
		x.undo()
		assert.Equal(t, clean, x.picture())
	}
}

// TestRestoreKeepsUnmergedPathsBelow checks that a restore writes no index entry for a file if
// unmerged paths are below it. Git would keep both.
func TestRestoreKeepsUnmergedPathsBelow(t *testing.T) {
	t.Parallel()
	x := newSite(t)
	x.Git("rm", "-qr", "d")
	x.Write("d", "a file\n")
	x.Git("add", "d")
	c := x.save()
	x.clean()
	one := x.Hash("one\n")
	x.Pipe([]byte("0 "+plumbing.ZeroHash.String()+"\td/e\n100644 "+one+" 1\td/e\n100644 "+one+" 3\td/e\n"), "update-index", "--index-info")
	done := x.restore(c, stagedOnly)
	assert.Equal(t, []string{"d"}, done.InTheWay)
	assert.Equal(t, []string{"d/e"}, done.Unsaved)
	assert.Equal(t, "d/e\nd/e", x.Git("ls-files", "d"))
}
