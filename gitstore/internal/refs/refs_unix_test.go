//go:build unix

package refs

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"git-checkpoint/gitstore/testing/gittest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	one = "refs/checkpoints/42"
	two = "refs/git-checkpoint/own/42"
)

// A world contains a repository with two refs at the first commit.
type world struct {
	*gittest.Repo
	dir     Dir
	commits []plumbing.Hash
}

func newWorld(t *testing.T) *world {
	w := &world{Repo: gittest.New(t)}
	w.dir = Dir{Path: w.GitPath("."), Share: func(...string) {}}
	for i := range 4 {
		w.Write("a.txt", fmt.Sprint(i))
		w.commits = append(w.commits, plumbing.NewHash(w.Commit(fmt.Sprint(i))))
	}
	for _, ref := range []string{one, two} {
		w.Git("update-ref", "--create-reflog", "-m", "made", ref, w.commits[0].String())
	}
	return w
}

func (w *world) on(from, to int) []Move {
	return []Move{{one, w.commits[from], w.commits[to]}, {two, w.commits[from], w.commits[to]}}
}

func entry(message string) ReflogEntry {
	return ReflogEntry{Name: "A U Thor", Email: "a@example.com", At: time.Unix(1767323285, 0), Message: message}
}

func (w *world) move(moves []Move) error {
	m, err := w.dir.Stage(moves)
	if err != nil {
		return err
	}
	defer m.Discard()
	return m.Commit(entry("save: one"))
}

// files returns the contents of refs, reflogs and files of this package.
func (w *world) files(t *testing.T) map[string]string {
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(w.dir.Path, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(w.dir.Path, path)
		ours := name == "packed-refs" || slices.Contains([]string{"refs", "logs", "git-checkpoint"}, strings.Split(name, "/")[0])
		if err == nil && d.Type().IsRegular() && ours {
			data, err := os.ReadFile(path)
			all[name] = string(data)
			return err
		}
		return err
	}))
	return all
}

// A move leaves the same files as git update-ref, byte for byte.
func TestMoveLeavesSameFilesAsGit(t *testing.T) {
	for name, packed := range map[string]bool{"files of their own": false, "packed": true} {
		t.Run(name, func(t *testing.T) {
			ours, gits := newWorld(t), newWorld(t)
			require.Equal(t, gits.commits, ours.commits)
			if packed {
				ours.Git("pack-refs", "--all")
				gits.Git("pack-refs", "--all")
				for _, w := range []*world{ours, gits} {
					require.NoError(t, os.MkdirAll(w.GitPath("refs/checkpoints"), 0o777))
					require.NoError(t, os.MkdirAll(w.GitPath("refs/git-checkpoint/own"), 0o777))
				}
			}
			m, err := ours.dir.Stage(ours.on(0, 1))
			require.NoError(t, err)
			require.NoError(t, m.Commit(entry("save:  of\ttwo\nlines\u00a0\v ")))
			gits.Setenv("GIT_COMMITTER_NAME", "A U Thor")
			gits.Setenv("GIT_COMMITTER_EMAIL", "a@example.com")
			for _, ref := range []string{one, two} {
				gits.Git("update-ref", "-m", "save:  of\ttwo\nlines\u00a0\v ", ref, gits.commits[1].String(), gits.commits[0].String())
			}
			assert.Equal(t, gits.files(t), ours.files(t))
			assert.Equal(t, ours.commits[1].String(), ours.Git("rev-parse", one))
		})
	}
}

// Refs move in the given order: if a rename fails, the earlier refs have moved.
func TestRefsMoveInGivenOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	moves := w.on(0, 1)
	slices.Reverse(moves)
	m, err := w.dir.Stage(moves)
	require.NoError(t, err)
	require.NoError(t, m.lock())
	logs, err := w.dir.openLogs(m.moves)
	require.NoError(t, err)
	require.NoError(t, os.Remove(w.dir.file(one)+".lock")) // lock file of the second move
	require.ErrorContains(t, m.rename(logs, entry("save")), one)
	logs.close()
	m.Discard()
	assert.Equal(t, w.commits[1].String(), w.Git("rev-parse", two))
	assert.Equal(t, w.commits[0].String(), w.Git("rev-parse", one))
}

// Stage rejects a ref without a reflog before it writes files, because the caller's files
// may be large.
func TestStageRejectsRefWithoutReflog(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remove("logs/" + two)
	_, err := w.dir.Stage(w.on(0, 1))
	require.ErrorIs(t, err, ErrNeedsGit)
}

// For unusual refs, Stage or Commit fails with ErrNeedsGit and changes no file.
func TestUnusualRefsAreLeftToGit(t *testing.T) {
	gittest.Slow(t)
	cases := map[string]func(w *world, moves []Move){
		"a ref that is locked":              func(w *world, _ []Move) { w.put(one+".lock", "") },
		"one that is locked behind another": func(w *world, _ []Move) { w.put(two+".lock", "") },
		"no reflog":                         func(w *world, _ []Move) { w.remove("logs/" + two) },
		"a symbolic ref":                    func(w *world, _ []Move) { w.Git("symbolic-ref", one, "refs/heads/main") },
		"no object's name":                  func(w *world, _ []Move) { w.put(one, "\x00\x00") },
		"half a name":                       func(w *world, _ []Move) { w.put(one, w.commits[0].String()[:20]) },
		"a link": func(w *world, _ []Move) {
			w.remove(one)
			w.must(os.Symlink(w.dir.file(two), w.dir.file(one)))
		},
		"a directory in the ref's place": func(w *world, _ []Move) {
			w.Git("pack-refs", "--all")
			w.must(os.MkdirAll(w.dir.file(one), 0o777))
			w.must(os.MkdirAll(filepath.Dir(w.dir.file(two)), 0o777))
		},
		"no directory":        func(w *world, _ []Move) { w.Git("pack-refs", "--all", "--prune") },
		"a ref to be made":    func(_ *world, moves []Move) { moves[0].Old = plumbing.ZeroHash },
		"a ref to be removed": func(_ *world, moves []Move) { moves[0].New = plumbing.ZeroHash },
	}
	for name, arrange := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			moves := w.on(0, 1)
			arrange(w, moves)
			before := w.files(t)
			require.ErrorIs(t, w.move(moves), ErrNeedsGit)
			assert.Equal(t, before, w.files(t))
		})
	}
}

func (w *world) put(name, text string) { w.must(os.WriteFile(w.dir.file(name), []byte(text), 0o666)) }
func (w *world) remove(name string)    { w.must(os.Remove(w.dir.file(name))) }

func (w *world) must(err error) {
	if err != nil {
		panic(err)
	}
}

// If another process has moved a ref, Commit moves neither ref.
func TestMovedRefKeepsItsValue(t *testing.T) {
	t.Parallel()
	for _, ref := range []string{one, two} {
		w := newWorld(t)
		w.Git("update-ref", ref, w.commits[2].String())
		before := w.files(t)
		var moved *MovedError
		require.ErrorAs(t, w.move(w.on(0, 1)), &moved)
		assert.Equal(t, MovedError{ref, w.commits[2]}, *moved)
		assert.Equal(t, before, w.files(t))
	}
}

// A process that was killed after its rename leaves a hard link to the ref's file. Stage
// must not write through that link.
func TestStageDoesNotWriteThroughLeftoverLink(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.NoError(t, w.move(w.on(0, 1)))
	left := w.dir.staged(one)
	require.NoError(t, os.Link(w.dir.file(one), left))
	m, err := w.dir.Stage(w.on(1, 2))
	require.NoError(t, err)
	assert.Equal(t, w.commits[1].String(), w.Git("rev-parse", one))
	require.NoError(t, m.Commit(entry("save")))
	assert.Equal(t, w.commits[2].String(), w.Git("rev-parse", one))
	assert.NoFileExists(t, left)
}

// Lock files of a killed process always contain the complete new value.
func TestLockFilesAreComplete(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m, err := w.dir.Stage(w.on(0, 1))
	require.NoError(t, err)
	assert.NoFileExists(t, w.dir.file(one)+".lock")
	require.NoError(t, m.lock())
	for _, ref := range []string{one, two} {
		held, err := os.ReadFile(w.dir.file(ref) + ".lock")
		require.NoError(t, err)
		assert.Equal(t, w.commits[1].String()+"\n", string(held))
	}
	m.Discard()
	assert.NoFileExists(t, w.dir.file(one)+".lock")
}

// A killed process leaves a staged file for each ref, and the lock file is a link to that
// file. The next Stage removes both files.
func TestLockFilesOfKilledMoveAreRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m, err := w.dir.Stage(w.on(0, 1))
	require.NoError(t, err)
	require.NoError(t, m.lock())
	require.NoError(t, w.move(w.on(0, 2)))
	assert.Equal(t, w.commits[2].String(), w.Git("rev-parse", one))
	assert.NoFileExists(t, w.dir.file(one)+".lock")
	assert.NoFileExists(t, w.dir.file(two)+".lock")
}

// Stage also removes both files before it leaves a ref to git, which would wait for the
// lock file.
func TestLockFilesOfKilledMoveAreRemovedForGit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m, err := w.dir.Stage(w.on(0, 1))
	require.NoError(t, err)
	require.NoError(t, m.lock())
	w.remove("logs/" + two)
	_, err = w.dir.Stage(w.on(0, 2))
	require.ErrorIs(t, err, ErrNeedsGit)
	assert.NoFileExists(t, w.dir.file(one)+".lock")
	assert.NoFileExists(t, w.dir.file(two)+".lock")
}

// Commit rejects a staged file that another process has replaced.
func TestReplacedStagedFileIsRejected(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.files(t)
	m, err := w.dir.Stage(w.on(0, 1))
	require.NoError(t, err)
	staged := w.dir.staged(one)
	require.NoError(t, os.Rename(staged, staged+".mine"))
	require.NoError(t, os.WriteFile(staged, []byte(w.commits[3].String()+"\n"), 0o666))
	require.ErrorIs(t, m.Commit(entry("save")), ErrNeedsGit)
	require.NoError(t, os.Remove(staged+".mine"))
	assert.Equal(t, before, w.files(t))
}

// A failed rename removes the new reflog entry.
func TestFailedRenameLeavesNoReflogEntry(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Git("pack-refs", "--all", "--no-prune")
	w.remove(one)
	w.remove(two)
	before := w.files(t)
	m, err := w.dir.Stage(w.on(0, 1))
	require.NoError(t, err)
	require.NoError(t, m.lock())
	open, err := w.dir.openLogs(m.moves)
	require.NoError(t, err)
	defer open.close()
	require.NoError(t, os.Mkdir(w.dir.file(one), 0o777))
	require.ErrorIs(t, m.rename(open, entry("save")), ErrNeedsGit)
	m.Discard()
	assert.Equal(t, before, w.files(t))
}

// Files and reflogs get the modes of a shared repository, as with git.
func TestMoveSharesFilesAndReflogs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	shared := map[string]bool{}
	w.dir.Share = func(paths ...string) {
		for _, path := range paths {
			name, err := filepath.Rel(w.dir.Path, path)
			require.NoError(t, err)
			shared[name] = true
		}
	}
	require.NoError(t, w.move(w.on(0, 1)))
	assert.Equal(t, []string{
		"git-checkpoint", "git-checkpoint/moving", "git-checkpoint/moving/checkpoints", "git-checkpoint/moving/checkpoints/42",
		"git-checkpoint/moving/git-checkpoint", "git-checkpoint/moving/git-checkpoint/own", "git-checkpoint/moving/git-checkpoint/own/42",
		"logs/" + one, "logs/" + two,
	}, slices.Sorted(maps.Keys(shared)))
}

// If refs and staged files belong to different groups, Commit fails with ErrNeedsGit.
func TestRefsOfOtherGroupAreLeftToGit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.NoError(t, w.move(w.on(0, 1)))
	require.NoError(t, os.Chmod(filepath.Dir(w.dir.file(two)), 0o777|fs.ModeSetgid))
	before := w.files(t)
	require.ErrorIs(t, w.move(w.on(1, 2)), ErrNeedsGit)
	assert.Equal(t, before, w.files(t))
}

// Moves of this package, moves of git and git pack-refs run in parallel. Of several moves
// from the same old value one succeeds, and the reflog contains each successful move.
func TestConcurrentMovesBesideGit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const each = 60
	done := make([][]string, 3)
	var movers, packer sync.WaitGroup
	stop := make(chan struct{})
	packer.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				_ = exec.Command("git", "-C", w.dir.Path, "pack-refs", "--all").Run()
			}
		}
	})
	read := func() plumbing.Hash {
		out, err := exec.Command("git", "-C", w.dir.Path, "rev-parse", one).Output()
		assert.NoError(t, err, "a reader sees the old value or the new")
		return plumbing.NewHash(strings.TrimSpace(string(out)))
	}
	// This mutex replaces the issue lock. During git pack-refs, git sometimes accepts an
	// outdated old value. Under the lock it rejects the correct value instead.
	var lock sync.Mutex
	for n := range done {
		movers.Go(func() {
			for i := range each {
				from := read()
				to := w.commits[(slices.Index(w.commits, from)+1+(n+i)%3)%4]
				var err error
				lock.Lock()
				if n == 0 {
					err = exec.Command("git", "-C", w.dir.Path, "-c", "core.filesRefLockTimeout=2000", "update-ref", "-m", fmt.Sprint(n, i), one, to.String(), from.String()).Run()
				} else {
					m, stageErr := w.dir.Stage([]Move{{one, from, to}})
					if err = stageErr; err == nil {
						err = m.Commit(entry(fmt.Sprint(n, i)))
					}
				}
				lock.Unlock()
				if err == nil {
					done[n] = append(done[n], fmt.Sprint(n, i))
				}
			}
		})
	}
	movers.Wait()
	close(stop)
	packer.Wait()
	entries := strings.Split(w.Git("reflog", "--format=%gs", one), "\n")
	want := slices.Concat(done[0], done[1], done[2], []string{"made"})
	assert.ElementsMatch(t, want, entries)
	assert.NotZero(t, len(done[1])+len(done[2]), "moved here")
	lines := strings.Split(strings.TrimSpace(w.Read(".git/logs/"+one)), "\n")
	for i := 1; i < len(lines); i++ {
		assert.Equal(t, strings.Fields(lines[i-1])[1], strings.Fields(lines[i])[0], "each move is from where the one before led")
	}
	assert.Equal(t, strings.Fields(lines[len(lines)-1])[1], w.Git("rev-parse", one))
}

// A failed append leaves no partial line in the reflog.
func TestFailedAppendLeavesReflogUnchanged(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	require.NoError(t, os.WriteFile(path, []byte("before\n"), 0o666))
	f, err := os.OpenFile(path, os.O_RDONLY, 0)
	require.NoError(t, err)
	require.Error(t, (&log{File: f}).append("line\n"))
	f.Close()
	f, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, (&log{File: f}).append("line\n"))
	data, _ := os.ReadFile(path)
	assert.Equal(t, "before\nline\n", string(data))
}
