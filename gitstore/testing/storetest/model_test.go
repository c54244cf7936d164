package storetest_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/retention"
	"git-checkpoint/gitstore/testing/storetest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/require"
)

// A whole is a store with all abilities of a history.
type whole interface {
	storetest.Subject
	storetest.Archiver
	storetest.Undoer
	storetest.Purger
}

// At each step of a random history, the memory store and each form of the git store
// return equal results. Their final contents are equal.
func TestModelStores(t *testing.T) {
	t.Parallel()
	places := []storetest.Maker{loose, linked, bare, bundled}
	histories, steps := len(places), 40
	if full {
		places = append(places, packed)
		histories, steps = 25, 150
	}
	for seed := range histories {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { history(t, places[seed%len(places)], uint64(seed), steps) })
	}
}

func history(t *testing.T, place storetest.Maker, seed uint64, steps int) {
	clock := new(atomic.Int64)
	clock.Store(time.Date(2026, 2, 14, 14, 30, 0, 0, time.UTC).Unix())
	now := func() time.Time { return time.Unix(clock.Load(), 0).UTC() }
	var (
		inMemory whole = &memoryStore{Now: now}
		inGit          = place(t, now).Open().(whole)
		c              = &chance{Rand: rand.New(rand.NewPCG(seed, 79)), now: now, of: inMemory}
		told     []string
	)
	for k := range steps {
		clock.Add(c.passes())
		s := c.step()
		want, got := s.do(inMemory), s.do(inGit)
		told = append(told, fmt.Sprintf("%d: %s: %s", k, s.says, want))
		past := told[max(0, len(told)-12):]
		require.Equal(t, want, got, "seed %d, the last of %q", seed, past)
		for _, i := range issues {
			require.Equal(t, state(inMemory, i), state(inGit, i), "seed %d, issue %s, after %q", seed, i, past)
		}
	}
}

// state returns the visible state of an issue as text.
func state(s whole, i checkpoint.Issue) string {
	text := ""
	for _, read := range []func() (*gitstore.List, error){
		func() (*gitstore.List, error) { return s.List(background, i, 0) },
		func() (*gitstore.List, error) { return s.Archived(background, i, 0) },
	} {
		l, err := read()
		if err != nil {
			return kind(err)
		}
		for k := range l.Checkpoints {
			text += seen(&l.Checkpoints[k]) + content(s, &l.Checkpoints[k])
		}
		text += "--\n"
	}
	for _, archived := range []bool{false, true} {
		there, _, err := s.Issues(background, archived)
		text += fmt.Sprintln(archived, slices.Contains(there, i), err)
	}
	return text
}

// seen returns a list entry as text, without fields that only a repository has.
func seen(c *gitstore.Checkpoint) string {
	shown := *c
	shown.Commit, shown.Tree, shown.Branch, shown.Author, shown.After = plumbing.ZeroHash, plumbing.ZeroHash, "", "", ""
	return fmt.Sprintf("%+v\n", shown)
}

// content returns a record as text, without fields that only a repository has.
func content(s whole, c *gitstore.Checkpoint) string {
	r, err := s.VerifiedRecord(c)
	if err != nil {
		return kind(err)
	}
	return plainRecord(r)
}

func plainRecord(r *checkpoint.Record) string {
	r = r.Clone()
	for _, key := range []string{"issue_snapshot", "files_modified", "snapshot"} {
		r.Doc().Delete(key)
	}
	data, err := r.Encode()
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// kind returns the type of an error, determined with errors.As.
func kind(err error) string {
	var (
		none      *gitstore.NoneError
		notFound  *gitstore.NotFoundError
		ambiguous *gitstore.AmbiguousError
		taken     *gitstore.TakenError
		refused   *gitstore.RefusedError
	)
	switch {
	case err == nil:
		return ""
	case errors.As(err, &none):
		return fmt.Sprintf("none: %+v", *none)
	case errors.As(err, &notFound):
		return fmt.Sprintf("not found: %+v", *notFound)
	case errors.As(err, &ambiguous):
		slices.Sort(ambiguous.Candidates)
		return fmt.Sprintf("ambiguous: %+v", *ambiguous)
	case errors.As(err, &taken):
		return fmt.Sprintf("taken: %+v", *taken)
	case errors.As(err, &refused):
		return "refused"
	case errors.Is(err, gitstore.ErrUnchanged):
		return "unchanged"
	case errors.Is(err, gitstore.ErrNothingToUndo):
		return "nothing to undo"
	}
	return "an error"
}

// reasons are the reasons of archivals.
var reasons = []retention.Reason{retention.ReasonAsked, retention.ReasonFailed, retention.ReasonCompleted}
