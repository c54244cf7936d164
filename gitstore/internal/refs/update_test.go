package refs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	one   = "refs/checkpoints-archive/42"
	two   = "refs/checkpoints/42"
	three = "refs/git-checkpoint/own/42"
)

// A world contains a repository with three refs at the first commit.
type world struct {
	*gittest.Repo
	t        *testing.T
	refs     *Reader
	commits  []plumbing.Hash
	notified []string
	mu       sync.Mutex
	shared   map[string]bool // names of paths
}

func newWorld(t *testing.T) *world {
	w := &world{Repo: gittest.New(t), t: t, shared: map[string]bool{}}
	g := git.Git{Dir: w.Dir, Env: []string{"GIT_COMMITTER_NAME=A U Thor", "GIT_COMMITTER_EMAIL=a@example.com"}}
	w.refs = &Reader{
		Git: g, Path: w.GitPath("."), Files: true,
		Notify: func(format string, args ...any) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.notified = append(w.notified, fmt.Sprintf(format, args...))
		},
		Share: func(paths ...string) {
			w.mu.Lock()
			defer w.mu.Unlock()
			for _, path := range paths {
				name, err := filepath.Rel(w.GitPath("."), path)
				require.NoError(t, err)
				w.shared[filepath.ToSlash(name)] = true
			}
		},
	}
	for i := range 3 {
		w.Write("a.txt", fmt.Sprint(i))
		w.commits = append(w.commits, plumbing.NewHash(w.Commit(fmt.Sprint(i))))
	}
	for _, ref := range []string{one, two, three} {
		w.Git("update-ref", "--create-reflog", "-m", "made", ref, w.commits[0].String())
	}
	return w
}

// update returns an update of the three refs.
func (w *world) update(from, to int) Update {
	u := Update{Git: w.refs.Git, Message: "save: one", Locked: true}
	for _, ref := range []string{one, two, three} {
		u.Moves = append(u.Moves, Move{ref, w.commits[from], w.commits[to]})
	}
	return u
}

func (w *world) put(name, text string) {
	require.NoError(w.t, os.WriteFile(w.GitPath(name), []byte(text), 0o666))
}

// A transaction moves all refs, also packed ones, and each gets a reflog entry.
func TestUpdateMovesAllRefs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Git("pack-refs", "--all")
	u := w.update(0, 1)
	u.Moves = append(u.Moves, Move{Name: "refs/git-checkpoint/own/new", New: w.commits[2]})
	require.NoError(t, w.refs.Update(t.Context(), u))
	for _, m := range u.Moves {
		assert.Equal(t, m.New.String(), w.Git("rev-parse", m.Name))
		assert.Equal(t, "save: one", w.Git("log", "-g", "-1", "--format=%gs", m.Name))
	}
	require.NoError(t, w.refs.Update(t.Context(), Update{Git: w.refs.Git, Message: "delete", Moves: []Move{{Name: three, Old: w.commits[1]}}}))
	assert.Empty(t, w.Git("for-each-ref", three))
}

// More refs than manyMoves move too.
func TestUpdateMovesManyRefs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	u := w.update(0, 1)
	for n := range manyMoves {
		u.Moves = append(u.Moves, Move{Name: fmt.Sprintf("refs/git-checkpoint/own/n%d", n), New: w.commits[0]})
	}
	require.NoError(t, w.refs.Update(t.Context(), u))
	assert.Len(t, strings.Fields(w.Git("for-each-ref", "--format=%(refname)", "refs/git-checkpoint/own")), manyMoves+1)
}

// If a ref has another value, no ref moves.
func TestUpdateMovesNoRef(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Git("update-ref", three, w.commits[2].String())
	err := w.refs.Update(t.Context(), w.update(0, 1))
	require.ErrorIs(t, err, ErrMoved)
	require.ErrorContains(t, err, fmt.Sprintf("%s is at %s", three, w.commits[2]))
	w.Git("update-ref", three, w.commits[0].String())
	for _, m := range w.update(0, 1).Moves {
		assert.Equal(t, w.commits[0].String(), w.Git("rev-parse", m.Name))
	}
	assert.Empty(t, w.locks())
}

func (w *world) locks() (found []string) {
	for _, pattern := range []string{"refs/*/*.lock", "refs/*/*/*.lock", "*.lock"} {
		locks, err := filepath.Glob(w.GitPath(pattern))
		require.NoError(w.t, err)
		found = append(found, locks...)
	}
	return found
}

// If git fails between two refs, a second git moves the others. If it fails too, the error tells
// whether a chain or an archive has not moved.
func TestUpdateAfterAFailureBetweenRefs(t *testing.T) {
	t.Parallel()
	failed := &git.CommandError{Args: []string{"update-ref"}, Code: 128, Stderr: "fatal: no space", Err: os.ErrInvalid}
	for name, c := range map[string]struct {
		moved  []string
		locked string
		code   int
		check  func(t *testing.T, err error)
	}{
		"completed": {[]string{one}, "", 128, func(t *testing.T, err error) { require.NoError(t, err) }},
		"all moved": {[]string{one, two, three}, "", 128, func(t *testing.T, err error) { require.NoError(t, err) }},
		"no move":   {nil, "", 128, func(t *testing.T, err error) { require.ErrorIs(t, err, failed) }},
		"killed": {[]string{one}, "", -1, func(t *testing.T, err error) {
			require.ErrorContains(t, err, "was moved, but not all that belongs to it")
		}},
		"bookkeeping": {[]string{one, two}, "", -1, func(t *testing.T, err error) { require.True(t, errors.As(err, new(*failure.DoneError))) }},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			for _, ref := range c.moved {
				w.Git("update-ref", ref, w.commits[1].String())
			}
			failed.Code = c.code
			u := w.update(0, 1)
			c.check(t, w.refs.settle(t.Context(), u, true, failed))
			for _, m := range u.Moves {
				want := w.commits[0]
				if slices.Contains(c.moved, m.Name) || name == "completed" {
					want = w.commits[1]
				}
				assert.Equal(t, want.String(), w.Git("rev-parse", m.Name), m.Name)
			}
		})
	}
}

// Without readable configuration, git writes refs as files in repositories with reftables.
func TestRefsThatGitMadeAsFilesAreNotMoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	moves := []Move{{Name: two, New: w.commits[0]}}
	require.NoError(t, w.refs.removeStrayFiles(moves))
	assert.FileExists(t, w.GitPath(two), "refs are files here")
	require.NoError(t, os.MkdirAll(w.GitPath("reftable"), 0o777))
	w.put("reftable/tables.list", "")
	require.ErrorIs(t, w.refs.removeStrayFiles(moves), ErrAsFiles)
	assert.NoFileExists(t, w.GitPath(two))
	assert.NoFileExists(t, w.GitPath("logs/"+two))
}

// Concurrent updates under the lock of the issue, beside git pack-refs, lose no move.
func TestConcurrentUpdates(t *testing.T) {
	gittest.Slow(t)
	w := newWorld(t)
	var writers sync.WaitGroup
	moved := make([]int, 3)
	for n := range moved {
		writers.Go(func() {
			for range 20 {
				r := *w.refs
				lock := r.Lock(t.Context(), []string{"42"})
				from, err := r.Read(t.Context(), one)
				assert.NoError(t, err)
				at := slices.Index(w.commits, from)
				if err := r.Update(t.Context(), w.update(at, (at+1)%3)); err == nil {
					moved[n]++
				} else {
					assert.ErrorIs(t, err, ErrMoved)
				}
				lock.Unlock()
				_, _ = r.Git.Output(t.Context(), "pack-refs", "--all") // may fail beside another
			}
		})
	}
	writers.Wait()
	entries := strings.Split(w.Git("reflog", "--format=%gs", one), "\n")
	assert.Len(t, entries, 1+moved[0]+moved[1]+moved[2])
}

// stale makes a lock file as old as if its git was killed some time ago.
func (w *world) stale(name string, age time.Duration) {
	w.put(name, "")
	then := time.Now().Add(-age)
	require.NoError(w.t, os.Chtimes(w.GitPath(name), then, then))
}

// The lock files of a killed git are moved away and named, if they are old. The others stay.
func TestLocksOfKilledGitAreSetAside(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.stale(two+".lock", 2*time.Minute)
	require.NoError(t, w.refs.Update(t.Context(), w.update(0, 1)))
	require.Len(t, w.notified, 1)
	assert.Contains(t, w.notified[0], "refs/checkpoints/42.lock is the lock of a git that was killed; moved it to ")
	assert.FileExists(t, w.GitPath("git-checkpoint/broken/refs~checkpoints~42.lock"))

	// The locks of all refs stay: a git of the user may hold them.
	w.Git("pack-refs", "--all")
	w.stale("packed-refs.new", time.Hour)
	deletes := []Move{{Name: three, Old: w.commits[1]}}
	err := w.refs.Update(t.Context(), Update{Git: w.refs.Git, Message: "delete", Locked: true, Moves: deletes})
	require.ErrorContains(t, err, w.GitPath("packed-refs.new")+" exists; if no git is running, remove it")
	w.stale("packed-refs.lock", time.Hour)
	w.refs.SetAsideLocks(deletes)
	assert.FileExists(t, w.GitPath("packed-refs.lock"))

	w.stale(one+".lock", time.Minute/2)
	w.refs.SetAsideLocks(w.update(0, 1).Moves)
	assert.FileExists(t, w.GitPath(one+".lock"))
}

// The locks of a reftable belong to all refs, and stay.
func TestLocksOfReftablesStay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.refs.Files = false
	require.NoError(t, os.Mkdir(w.GitPath("reftable"), 0o777))
	w.stale("reftable/tables.list.lock", time.Hour)
	w.refs.Lock(t.Context(), []string{"7"}).Unlock()
	w.refs.SetAsideLocks(w.update(0, 1).Moves)
	assert.FileExists(t, w.GitPath("reftable/tables.list.lock"))
}
