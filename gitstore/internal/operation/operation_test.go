package operation

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/trees"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) { os.Exit(gittest.Main(m)) }

// A place is a repository with a log and a clock.
type place struct {
	*gittest.Repo
	t   *testing.T
	log *Log
	now time.Time
}

func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{Repo: gittest.New(t), t: t, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	p.log = p.open()
	return p
}

func (p *place) open() *Log {
	p.t.Helper()
	r, err := repo.Open(p.t.Context(), repo.Options{Dir: p.Dir, Now: func() time.Time { return p.now }})
	require.NoError(p.t, err)
	p.t.Cleanup(func() { r.Objects.Close() })
	return New(r)
}

func (p *place) write(state State, issue checkpoint.Issue) *Entry {
	p.t.Helper()
	e := &Entry{Worktree: p.log.Worktree(), Facts: Facts{State: state, Way: Do, Command: "drop", Issues: []checkpoint.Issue{issue}, At: p.now}}
	require.NoError(p.t, p.log.Write(p.t.Context(), e, p.log.repo.NewObjectWriter()))
	return e
}

func (p *place) numbers() string {
	return strings.ReplaceAll(p.Git("for-each-ref", "--format=%(refname:lstrip=3)", Refs), "\n", " ")
}

func TestAnEntryIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	tip := plumbing.NewHash(p.Commit("a tip"))
	e := &Entry{Worktree: "_main", Facts: Facts{
		State: Pending, Way: Do, Command: "adopt", Issues: []checkpoint.Issue{"a/b"}, Checkpoint: "CP-x", At: p.now, Process: 7,
		Before: Place{"main", tip.String()}, Notes: []StateFile{{"resumed/a%2Fb", "", "CP-x\n"}},
	}}
	e.addMoves([]refs.Move{{Name: repo.LiveRef("a/b"), New: tip}})
	k := p.log.repo.NewObjectWriter()
	blob := k.Add(plumbing.BlobObject, []byte("\xff steps"))
	e.Put(trees.Entry{Mode: trees.ModeFile, Name: "files", Hash: blob})
	require.NoError(t, p.log.Write(t.Context(), e, k))
	assert.Equal(t, Refs+"_main/0000000001", e.Name())
	for got, err := range p.open().Entries(t.Context(), "_main") {
		require.NoError(t, err)
		assert.Equal(t, e.Facts, got.Facts)
		assert.Equal(t, e.Commit, got.Commit)
		assert.True(t, got.HasFiles())
	}
	unfinished, err := p.open().Unfinished(t.Context())
	require.NoError(t, err)
	assert.Equal(t, e.Facts, unfinished.Facts)
	p.Git("fsck", "--connectivity-only")
	assert.Equal(t, tip.String(), p.Git("rev-parse", e.Name()+"^"), "gc keeps a moved chain")
}

// Two processes never get the same number, and an entry that was read by one and stored by another
// one since is not overwritten.
func TestNumbersAreUnique(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(Done, "1")
	other := p.open()
	taken := false
	p.log.repo.AtPoint = func(point string) {
		if point == "written" && !taken {
			taken = true
			e := &Entry{Worktree: "_main", Facts: Facts{State: Done, Command: "pin", At: p.now}}
			require.NoError(t, other.Write(t.Context(), e, other.repo.NewObjectWriter()))
		}
	}
	e := p.write(Done, "1")
	assert.True(t, taken)
	assert.Equal(t, 3, e.Number)
	assert.Equal(t, "_main/0000000001 _main/0000000002 _main/0000000003", p.numbers())
}

// If another process purges the entry of a running operation, the operation goes on in a new entry,
// without what it did before.
func TestAPurgedEntryBeginsAnew(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	one, two := plumbing.NewHash(p.Commit("one")), plumbing.NewHash(p.Commit("two"))
	live := repo.LiveRef("1")
	require.NoError(t, p.log.Run(t.Context(), Start{Command: "finish", Issue: "1"}, func() error {
		for _, m := range []refs.Move{{Name: live, New: one}, {Name: live, Old: one, New: two}} {
			k := p.log.repo.NewObjectWriter()
			k.Records = true
			require.NoError(t, p.log.repo.Move(t.Context(), k, "finish", func() ([]refs.Move, error) { return []refs.Move{m}, nil }))
			if m.Old.IsZero() {
				p.Git("update-ref", "-d", p.log.Current().Name())
			}
		}
		return nil
	}))
	assert.Equal(t, two.String(), p.Git("rev-parse", live))
	for e, err := range p.open().Entries(t.Context(), "") {
		require.NoError(t, err)
		assert.Equal(t, []Move{{Ref: live, Old: one.String(), New: two.String()}}, e.Moves)
	}
	assert.Equal(t, "_main/0000000001", p.numbers())
}

func TestAWorktreeKeepsItsNewestEntries(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	pending := p.write(Pending, "1").Commit
	done := p.write(Done, "1").Commit
	var in strings.Builder
	for n := 3; n <= mostInWorktree; n++ {
		fmt.Fprintf(&in, "create %s_main/%010d %s\n", Refs, n, done)
		fmt.Fprintf(&in, "create %sw-other/%010d %s\n", Refs, n, done)
	}
	_, err := p.Run([]byte(in.String()), "update-ref", "--stdin")
	require.NoError(t, err)
	e := p.write(Done, "1")
	assert.Equal(t, mostInWorktree+1, e.Number)
	assert.Equal(t, pending.String(), p.Git("rev-parse", Refs+"_main/0000000001"), "a pending entry never goes")
	p.Git("update-ref", Refs+"_main/0000000001", done.String())
	p.write(Done, "1")
	names := p.numbers()
	assert.NotContains(t, names, "_main/0000000001")
	assert.NotContains(t, names, "_main/0000000002 ")
	assert.Equal(t, mostInWorktree, strings.Count(names, "_main/"))
	assert.Equal(t, mostInWorktree-2, strings.Count(names, "w-other/"), "another worktree loses nothing")
}

// A push counts for the operations before it, and only for those of its issues.
func TestAPushIsNotedForEarlierOperations(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	require.NoError(t, p.log.NotePush(t.Context(), "origin", []checkpoint.Issue{"1"}))
	first, other := p.write(Done, "1"), p.write(Done, "a b")
	assert.Empty(t, p.log.PushedTo(first, "1"), "the push was before")
	require.NoError(t, p.log.NotePush(t.Context(), "origin", []checkpoint.Issue{"1"}))
	require.NoError(t, p.log.NotePush(t.Context(), "https://host/a b", []checkpoint.Issue{"1"}))
	later := p.write(Done, "1")
	assert.Equal(t, []string{"https://host/a b", "origin"}, p.open().PushedTo(first, "1"))
	assert.Empty(t, p.log.PushedTo(later, "1"))
	assert.Empty(t, p.log.PushedTo(other, "a b"))
}
