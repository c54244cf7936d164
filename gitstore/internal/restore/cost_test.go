package restore_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/internal/restore"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/require"
)

// TestRestoreCost measures a restore of ten files beside git read-tree -m -u of the same
// files. The variable GIT_CHECKPOINT_TEST_RESTORE_FILES sets the number of files. Results
// are logged and not compared with a limit, since machines differ.
func TestRestoreCost(t *testing.T) {
	t.Parallel()
	var files int
	if _, err := fmt.Sscan(os.Getenv("GIT_CHECKPOINT_TEST_RESTORE_FILES"), &files); err != nil {
		t.Skip("GIT_CHECKPOINT_TEST_RESTORE_FILES is not set")
	}
	x := newSite(t)
	x.remove(".git")
	x.Repo = big(t, files)
	x.reopen()
	x.Stage(files, 10, 1)
	c := x.save()
	tree, index := x.Git("write-tree"), c.Commit.String()+"^2^{tree}"
	require.Equal(t, tree, x.Git("rev-parse", index))
	x.Git("reset", "-q", "--hard")
	var restore, staged, readTree, status, clean []time.Duration
	for range 15 {
		readTree = append(readTree, took(func() { x.Git("read-tree", "-m", "-u", "HEAD", tree) }))
		x.Git("read-tree", "-m", "-u", tree, "HEAD")
		clean = append(clean, took(func() { x.Git("status", "--porcelain", "-uno") }))
		restore = append(restore, took(func() { x.openAndRestore(c, false) }))
		status = append(status, took(func() { x.Git("status", "--porcelain", "-uno") }))
		x.undo()
		staged = append(staged, took(func() { x.openAndRestore(c, true) }))
		x.undo()
		x.Git("update-index", "-q", "--refresh")
	}
	m := func(d []time.Duration) time.Duration {
		slices.Sort(d)
		return d[len(d)/2].Round(100 * time.Microsecond)
	}
	t.Logf("%d files: restore %v, staged %v; read-tree -m -u %v; status %v before, %v after", files, m(restore), m(staged), m(readTree), m(clean), m(status))
	t.Logf("ratios: restore %.2f, staged %.2f", float64(m(restore))/float64(m(readTree)), float64(m(staged))/float64(m(readTree)))
}

func big(t *testing.T, files int) *gittest.Repo {
	r := gittest.New(t)
	r.Generate(files)
	r.Checkout()
	return r
}

func took(f func()) time.Duration {
	began := time.Now()
	f()
	return time.Since(began)
}

// openAndRestore does the work of one restore process, except process startup.
func (x *site) openAndRestore(c *gitstore.Checkpoint, staged bool) {
	s := x.openAt(x.Dir)
	_, err := s.Restore(context.Background(), gitstore.RestoreRequest{Checkpoint: c, Request: restore.Request{Staged: staged}})
	require.NoError(x.t, err)
}
