//go:build unix

package restore_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/restore"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMain can run this binary as a restore process for kill tests. If
// GIT_CHECKPOINT_TEST_KILL_RESTORE is set, the process restores the named checkpoint in
// the working directory, or runs undo or redo. At fault point number GIT_CHECKPOINT_TEST_KILL_AT, it kills its
// process group.
func TestMain(m *testing.M) {
	if id := os.Getenv("GIT_CHECKPOINT_TEST_KILL_RESTORE"); id != "" {
		os.Exit(restoreToBeKilled(id))
	}
	os.Exit(gittest.Main(m))
}

func restoreToBeKilled(id string) int {
	n, _ := strconv.Atoi(os.Getenv("GIT_CHECKPOINT_TEST_KILL_AT"))
	restore.SetFault(func(string) error {
		if n--; n == 0 {
			_ = syscall.Kill(0, syscall.SIGKILL) // the whole process group
		}
		return nil
	})
	ctx := context.Background()
	s, err := gitstore.Open(ctx, gitstore.Options{})
	switch {
	case err != nil:
	case id == "undo", id == "redo":
		_, err = s.Revert(ctx, gitstore.Way(id), gitstore.Which{}, nil)
	default:
		var c *gitstore.Checkpoint
		if c, err = s.Find(ctx, "42", id); err == nil {
			_, err = s.Restore(ctx, gitstore.RestoreRequest{Checkpoint: c, Request: restore.Request{Changed: restore.FromCheckpoint}})
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// startRestore starts a restore in a new process group.
func (x *site) startRestore(c *gitstore.Checkpoint, killAt int) *exec.Cmd {
	x.t.Helper()
	return x.start(string(c.ID), killAt)
}

// start starts a restore of a checkpoint, an undo or a redo in a new process group.
func (x *site) start(what string, killAt int) *exec.Cmd {
	x.t.Helper()
	self, err := os.Executable()
	require.NoError(x.t, err)
	cmd := exec.Command(self)
	cmd.Dir = x.Dir
	cmd.Env = append(x.Env(), "GIT_CHECKPOINT_TEST_KILL_RESTORE="+what, "GIT_CHECKPOINT_TEST_KILL_AT="+strconv.Itoa(killAt))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Stderr = new(bytes.Buffer)
	require.NoError(x.t, cmd.Start())
	return cmd
}

// killSite returns a repository with a checkpoint of every kind of change, and with
// conflicting user changes.
func killSite(t *testing.T) (x *site, c *gitstore.Checkpoint, before, after string) {
	x = newSite(t, "g/h/i")
	x.stageSome()
	x.Git("rm", "-rq", "g")
	x.Write("g", "a file now\n")
	x.Git("rm", "-q", "b")
	x.Write("b/c", "a directory now\n")
	x.link("a", "l")
	for i := range 20 {
		x.Write(fmt.Sprintf("many/f%02d", i), "f\n")
	}
	x.Git("add", "-A")
	after = x.picture()
	c = x.save()
	x.clean()
	x.Write("a", "mine\n")
	return x, c, x.picture(), after
}

// whole fails unless every file has its content from before or after the restore.
func whole(t *testing.T, x *site, before, after string) {
	t.Helper()
	files, _, _ := strings.Cut(x.picture(), "\n--\n")
	for line := range strings.Lines(files) {
		line = strings.TrimSuffix(line, "\n")
		if !strings.Contains(before, line) && !strings.Contains(after, line) {
			t.Errorf("neither before nor after: %s", line)
		}
	}
}

// A command that changes only checkpoints settles a killed restore first.
func TestADropSettlesAKilledRestore(t *testing.T) {
	t.Parallel()
	x, c, before, _ := killSite(t)
	require.Error(t, x.startRestore(c, 8).Wait())
	require.True(t, x.s.Restorer.Pending(t.Context()))
	require.NoError(t, x.s.Drop(t.Context(), "42", []checkpoint.ID{c.ID}))
	assert.False(t, x.s.Restorer.Pending(t.Context()))
	assert.Equal(t, before, x.picture())
	x.noLitter()
}

// TestRestoreKilledAtEveryPoint kills a restore at each fault point and recovers in each
// of three ways.
func TestRestoreKilledAtEveryPoint(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: not in short mode")
	}
	step := 8
	if gittest.Torture() {
		step = 1
	}
	for first, way := range []string{"restore", "continue", "abort"} {
		t.Run(way, func(t *testing.T) {
			x, c, before, after := killSite(t)
			for n := 1 + (first+gittest.Day())%step; ; n += step {
				cmd := x.startRestore(c, n)
				if err := cmd.Wait(); err == nil {
					assert.Greater(t, n, 25)
					break
				}
				whole(t, x, before, after)
				x.goOn(c, way, before, after)
				x.backTo(before)
			}
		})
	}
}

// goOn recovers from a kill.
func (x *site) goOn(c *gitstore.Checkpoint, way, before, after string) {
	x.t.Helper()
	pending := x.s.Restorer.Pending(x.t.Context())
	want := x.picture()
	if want != before && want != after {
		require.True(x.t, pending, "files have changed, and nothing tells it")
	}
	if pending { // restore has started to change files
		want = map[string]string{"continue": after, "abort": before}[way]
	}
	switch way {
	case "continue":
		was, err := x.s.Restorer.Continue(context.Background())
		require.NoError(x.t, err)
		assert.Equal(x.t, pending, was)
	case "abort":
		was, err := x.s.Restorer.Abort(context.Background())
		require.NoError(x.t, err)
		assert.Equal(x.t, pending, was)
	default:
		want = after
		x.restore(c, takeTheirs)
	}
	if got := x.picture(); got != want {
		require.Fail(x.t, way+" did not give what it should", got)
	}
	x.noLitter()
}

// A killed undo or redo is finished by the next one. The next one does not revert another operation,
// because the user does not know that the first one has begun.
func TestUndoKilledAtEveryPoint(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: not in short mode")
	}
	x, c, _, after := killSite(t)
	first := x.restore(c, takeTheirs)
	x.clean()
	x.Write("a", "between\n")
	between := x.picture()
	x.restore(c, takeTheirs)
	require.NotEmpty(t, first.Undo)
	again := func(what string) {
		done, err := x.s.Revert(t.Context(), gitstore.Way(what), gitstore.Which{}, nil)
		require.NoError(t, err, what)
		require.Equal(t, 2, done.Number, what)
	}
	for n, killed := 1+gittest.Day()%4, 0; ; n += 4 {
		alive := 0
		for _, step := range []struct{ what, want string }{{"undo", between}, {"redo", after}} {
			if x.start(step.what, n).Wait() == nil {
				alive++
			} else {
				killed++
				whole(t, x, between, after)
				if !x.s.Restorer.Pending(t.Context()) && x.picture() == step.want {
					continue // killed after its end
				}
				again(step.what)
			}
			require.Equal(t, step.want, x.picture(), "%s killed at %d", step.what, n)
			x.noLitter()
		}
		if alive == 2 {
			assert.Positive(t, killed)
			break
		}
	}
	x.undo()
	require.Equal(t, between, x.picture())
}

// canUndo reports whether there is an operation that was not undone.
func (x *site) canUndo() bool {
	return strings.Contains(x.Git("for-each-ref", "--format=%(subject)", "refs/git-checkpoint/operations"), ": done")
}

// backTo runs all undos and checks that the previous state returns.
func (x *site) backTo(before string) {
	x.t.Helper()
	for x.canUndo() {
		x.undo()
	}
	require.Equal(x.t, before, x.picture())
}

// TestRestoreKilledAnytime kills a restore at random times, including during git
// commands.
func TestRestoreKilledAnytime(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: not in short mode")
	}
	x, c, before, after := killSite(t)
	began := time.Now()
	require.NoError(t, x.startRestore(c, 0).Wait())
	took := time.Since(began)
	x.backTo(before)
	rounds, killed := 20, 0
	for i := range rounds {
		cmd := x.startRestore(c, 0)
		time.Sleep(rand.N(took))
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		if cmd.Wait() != nil {
			killed++
		}
		whole(t, x, before, after)
		x.goOn(c, []string{"restore", "continue", "abort"}[i%3], before, after)
		x.restore(c, takeTheirs) // leftovers block nothing
		require.Equal(t, after, x.picture())
		x.noLitter()
		x.backTo(before)
	}
	assert.Positive(t, killed)
	left, err := filepath.Glob(x.Path(".git/git-checkpoint/*"))
	require.NoError(t, err)
	for _, file := range left {
		assert.NotContains(t, []string{"files", "index.lock"}, filepath.Base(file))
	}
}
