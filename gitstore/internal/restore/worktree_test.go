package restore_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"
	"time"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/require"
)

// site is a test repository with a few files and one commit.
type site struct {
	*gittest.Repo
	t     testing.TB
	s     *gitstore.Store
	clock time.Time
}

func newSite(t testing.TB, files ...string) *site {
	t.Helper()
	r := gittest.New(t)
	for i, name := range append([]string{"a", "b", "d/e", "d/f"}, files...) {
		r.Write(name, fmt.Sprintf("%d %s\nx\ny\nz\nend\n", i, name))
	}
	r.Git("add", "-A")
	r.Commit("first")
	x := &site{Repo: r, t: t, clock: gittest.Epoch.Add(time.Hour)}
	x.reopen()
	return x
}

// reopen reads the configuration again.
func (x *site) reopen() { x.s = x.openAt(x.Dir) }

func (x *site) openAt(dir string) *gitstore.Store {
	x.t.Helper()
	s, err := gitstore.Open(context.Background(), gitstore.Options{Dir: dir, Now: func() time.Time { return x.clock }})
	require.NoError(x.t, err)
	x.t.Cleanup(func() { s.Close() })
	return s
}

// save records a checkpoint of issue 42; change modifies the request.
func (x *site) save(change ...func(*gitstore.SaveRequest)) *gitstore.Checkpoint {
	x.t.Helper()
	x.clock = x.clock.Add(time.Minute)
	req := gitstore.SaveRequest{Issue: "42", Edit: func(r *checkpoint.Record) (*checkpoint.Record, error) {
		if r == nil {
			r = checkpoint.New()
		}
		r.SetTrigger(checkpoint.Manual)
		return r, nil
	}}
	for _, f := range change {
		f(&req)
	}
	saved, err := x.s.Save(context.Background(), req)
	require.NoError(x.t, err)
	return &saved.Checkpoint
}

// restore restores a checkpoint and fails the test on error.
func (x *site) restore(c *gitstore.Checkpoint, change ...func(*gitstore.RestoreRequest)) *gitstore.Restored {
	x.t.Helper()
	done, err := x.try(c, change...)
	require.NoError(x.t, err)
	return done
}

func (x *site) try(c *gitstore.Checkpoint, change ...func(*gitstore.RestoreRequest)) (*gitstore.Restored, error) {
	x.clock = x.clock.Add(time.Minute)
	req := gitstore.RestoreRequest{Checkpoint: c}
	for _, f := range change {
		f(&req)
	}
	return x.s.Restore(context.Background(), req)
}

func (x *site) undo() *gitstore.Restored {
	x.t.Helper()
	done, err := x.s.Revert(context.Background(), "undo", gitstore.Which{Issue: "42"}, nil)
	require.NoError(x.t, err)
	require.NotNil(x.t, done.Restored)
	return done.Restored
}

// forgetHere makes the worktree one that agreed on no checkpoint, as in a new clone.
func (x *site) forgetHere() {
	x.t.Helper()
	x.Git("update-ref", "-d", "refs/git-checkpoint/here/_main/42")
}

// clean resets worktree and index to HEAD.
func (x *site) clean() {
	x.t.Helper()
	x.Git("reset", "-q", "--hard")
	x.Git("clean", "-qfdx")
}

// status returns git status, which shows unexpected changes.
func (x *site) status() string {
	x.t.Helper()
	return x.Git("status", "--porcelain", "-uall", "--ignored")
}

// picture returns everything that a restore may change: files with mode and content, and
// index entries.
func (x *site) picture() string {
	x.t.Helper()
	var lines []string
	err := filepath.WalkDir(x.Dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(x.Dir, p)
		if rel == ".git" {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content, _ := os.Readlink(p)
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			content = string(data)
		}
		lines = append(lines, fmt.Sprintf("%v %q %q", info.Mode(), rel, content))
		return nil
	})
	require.NoError(x.t, err)
	sort.Strings(lines)
	return strings.Join(lines, "\n") + "\n--\n" +
		intentMode.ReplaceAllString(x.Git("ls-files", "-s", "-t")+"\n"+x.Git("diff", "--cached", "--raw", "--ita-visible-in-index"), "$1$2")
}

// intentMode matches the mode of an entry of git add -N, which has the empty blob and no content
// to protect.
var intentMode = regexp.MustCompile(`(?m)\d{6}( e69de29\S*)|\d{6}( \w+ e69de29\S*) [AMT]`)

// noLitter fails if a restore left temporary files.
func (x *site) noLitter() {
	x.t.Helper()
	for _, name := range []string{"index.lock", "index.git-checkpoint", "index.git-checkpoint.lock", "git-checkpoint/index.lock", "git-checkpoint/files", "git-checkpoint/restore"} {
		_, err := os.Lstat(x.GitPath(name))
		require.ErrorIs(x.t, err, fs.ErrNotExist, name)
	}
	require.NotContains(x.t, x.picture(), ".git-checkpoint-")
	x.Git("fsck", "--strict", "--no-dangling")
}
