//go:build unix

package refs

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// killedIn writes the note of a transaction whose process was killed.
func (w *world) killedIn(moves ...Move) {
	t := w.dir.Lock(context.Background(), []string{"42"})
	t.Begin("save: one", moves)
	t.Unlock()
}

// removes locks and unlocks an issue and fails unless that removes lock files. Lock keeps lock
// files if a git may work in the repository that was started before them. Linux does not show an
// ordinary user where the git of another user works. If there is such a git, the test is skipped.
func (w *world) removes(t *testing.T, issue string, names ...string) {
	t.Helper()
	exists := func(name string) bool { return fsutil.Exists(w.dir.file(name)) }
	for range 100 { // a git of another user may end between Lock and UnseenGit
		w.dir.Lock(context.Background(), []string{issue}).Unlock()
		if !slices.ContainsFunc(names, exists) {
			return
		}
		if pid := gittest.UnseenGit(); pid != "" {
			t.Skipf("git process %s of another user may work in the repository", pid)
		}
	}
	t.Fatalf("one of %v remains", names)
}

// next locks and unlocks issue 42.
func (w *world) next() { w.dir.Lock(context.Background(), []string{"42"}).Unlock() }

// interrupted returns the result of Interrupted when there is one. Interrupted skips a note that
// another process has open, and a process that a parallel test starts has it open for a moment.
func (w *world) interrupted() []string {
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if issues := w.dir.Interrupted(); issues != nil {
			return issues
		}
	}
	return nil
}

// The lock file of a killed git is removed at once, with any partial content. The note
// remains until the transaction is settled.
func TestLockFileOfKilledGitIsRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	move := w.on(0, 1)[0]
	value := move.New.String() + "\n"
	for name, text := range map[string]string{"empty": "", "half": value[:len(value)/2], "no newline": strings.TrimSuffix(value, "\n"), "whole": value} {
		w.killedIn(move)
		w.put(one+".lock", text)
		t.Log(name)
		w.removes(t, "42", one+".lock")
		assert.Equal(t, []string{"42"}, w.interrupted())
		l := w.dir.Lock(t.Context(), []string{"42"})
		assert.Equal(t, []Move{move}, l.Interrupted()[0].Moves)
		assert.Equal(t, "save: one", l.Interrupted()[0].Message)
		l.Settled("42")
		l.Unlock()
		assert.Empty(t, w.dir.Interrupted())
	}
}

// Lock files of other processes remain.
func TestLockFileOfOtherProcessRemains(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	move := w.on(0, 1)[0]
	for name, c := range map[string]struct {
		text string
		age  time.Duration
	}{
		"another value":       {w.commits[2].String() + "\n", 0},
		"half of another":     {w.commits[2].String()[:7], 0},
		"older than the note": {"", time.Minute},
	} {
		w.killedIn(move)
		w.put(one+".lock", c.text)
		when := time.Now().Add(-c.age)
		require.NoError(t, os.Chtimes(w.dir.file(one)+".lock", when, when))
		w.next()
		assert.FileExists(t, w.dir.file(one)+".lock", name)
		w.remove(one + ".lock")
	}
}

// The empty lock file of a running git remains, and is removed after that git was killed.
func TestLockFileOfRunningGitRemains(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("it is not known here which processes run")
	}
	w := newWorld(t)
	w.killedIn(w.on(0, 1)[0])
	git := exec.Command("sh", "-c", "git update-ref --stdin; exit") // has another parent process
	git.Dir, git.SysProcAttr = w.Dir, &syscall.SysProcAttr{Setpgid: true}
	in, err := git.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, git.Start())
	_, err = in.Write([]byte("start\ndelete " + one + "\nprepare\n"))
	require.NoError(t, err)
	require.Eventually(t, func() bool { return fsutil.Exists(w.dir.file(one) + ".lock") }, 2*time.Minute, time.Millisecond)
	for range 2 { // the note remains for the second lock
		l := w.dir.Lock(t.Context(), []string{"42"})
		l.Settled("42")
		l.Unlock()
		require.FileExists(t, w.dir.file(one)+".lock")
		require.FileExists(t, w.GitPath("packed-refs.lock"))
	}
	require.NoError(t, syscall.Kill(-git.Process.Pid, syscall.SIGKILL))
	_ = git.Wait() // waits for the shell; the killed git may exit later
	require.Eventually(t, func() bool { return !w.dir.GitRuns(time.Now()) || gittest.UnseenGit() != "" }, 2*time.Minute, time.Millisecond)
	w.removes(t, "42", one+".lock")
	assert.Empty(t, w.dir.Interrupted())
}

// A deletion locks packed-refs too. Locking any issue removes that lock file.
func TestPackedRefsLockOfKilledGitIsRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.killedIn(Move{Name: one, Old: w.commits[0]})
	w.put(one+".lock", "")
	w.put("packed-refs.lock", "")
	w.put("packed-refs.new", "# half")
	w.removes(t, "7", "packed-refs.lock", "packed-refs.new")
	w.removes(t, "42", one+".lock")
	w.killedIn(w.on(0, 1)...)
	w.put("packed-refs.lock", "")
	w.next()
	assert.FileExists(t, w.GitPath("packed-refs.lock"), "the move locks no packed-refs")
}

// Updating a ref in a reftable locks the list of tables and sometimes tables. Locking any
// issue removes these lock files if they are younger than the note.
func TestReftableLocksOfKilledGitAreRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.NoError(t, os.Mkdir(w.GitPath("reftable"), 0o777))
	locks := []string{"reftable/tables.list.lock", "reftable/0x01-0x03-24636bb3.ref.lock"}
	w.put(locks[1], "")
	old := time.Now().Add(-time.Minute)
	require.NoError(t, os.Chtimes(w.GitPath(locks[1]), old, old))
	w.killedIn(w.on(0, 1)...)
	w.put(locks[0], "0x01-0x03-24636bb3.ref\n")
	w.removes(t, "7", locks[0])
	assert.FileExists(t, w.GitPath(locks[1]), "it is older")
	w.put(locks[1], "")
	w.removes(t, "7", locks[1])
}

// A note without an end line has no effect.
func TestTruncatedNoteIsIgnored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.killedIn(w.on(0, 1)...)
	whole := w.Read(".git/git-checkpoint/lock/42")
	for n := range len(whole) {
		w.put("git-checkpoint/lock/42", whole[:n])
		l := w.dir.Lock(t.Context(), []string{"42"})
		require.Empty(t, l.Interrupted(), whole[:n])
		l.Unlock()
	}
}

// A killed fetch leaves the lock file of a new ref, with any content. The next lock
// removes the note and lock files, in both backends.
func TestLockFilesOfKilledFetchAreRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	name := IncomingRefs + "1795379032-UBWPEZSG/42"
	l := w.dir.LockIncoming(t.Context(), []string{name})
	require.NoError(t, os.MkdirAll(filepath.Dir(w.dir.file(name)), 0o777))
	w.put(name+".lock", w.commits[0].String()+"\n")
	require.NoError(t, os.MkdirAll(w.GitPath("reftable"), 0o777))
	require.NoError(t, os.WriteFile(w.GitPath("reftable/tables.list.lock"), nil, 0o666))
	assert.Empty(t, w.dir.Interrupted(), "the fetch runs")
	for _, f := range l.files {
		f.Close() // simulates the exit of the process
	}
	left := w.interrupted()
	require.Len(t, left, 1)
	w.removes(t, left[0], name+".lock", "reftable/tables.list.lock")
	again := w.dir.Lock(t.Context(), left)
	again.Settled(left[0])
	again.Unlock()
	assert.NoFileExists(t, w.dir.file(name)+".lock")
	assert.NoFileExists(t, w.GitPath("reftable/tables.list.lock"))
	assert.NoFileExists(t, filepath.Join(w.dir.noteFolder(), left[0]))

	l = w.dir.LockIncoming(t.Context(), []string{name})
	l.Done()
	l.Unlock()
	entries, err := os.ReadDir(w.dir.noteFolder())
	require.NoError(t, err)
	assert.Empty(t, entries)
}
