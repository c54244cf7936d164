package gitstore

import (
	"context"
	"errors"
	"strings"
	"testing"

	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// saveTo saves a checkpoint of an issue with a store.
func (w *world) saveTo(ctx context.Context, s *Store, i checkpoint.Issue) (*Saved, error) {
	req := w.request(checkpoint.Manual)
	req.Issue = i
	return s.Save(ctx, req)
}

// A cancelled command keeps what it has done before.
func TestTogetherKeepsWhatWasDoneBeforeCancel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cancelled, cancel := context.WithCancel(ctx)
	err := w.s.Together(cancelled, "save: two", []checkpoint.Issue{"1", "2"}, func() {
		_, err := w.saveTo(cancelled, w.s, "1")
		require.NoError(t, err)
		cancel()
		_, err = w.saveTo(cancelled, w.s, "2")
		assert.Error(t, err)
	})
	require.NoError(t, err)
	l, err := w.s.List(ctx, "1", 0)
	require.NoError(t, err)
	assert.Len(t, l.Checkpoints, 1)
	w.sound()
}

// Operations of one transaction build on each other, and other stores see them together.
func TestTogetherMovesEachRefOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other := w.open(w.Dir)
	err := w.s.Together(ctx, "save: three", []checkpoint.Issue{"1", "2"}, func() {
		for _, i := range []checkpoint.Issue{"1", "2", "1"} {
			_, err := w.saveTo(ctx, w.s, i)
			require.NoError(t, err)
		}
		l, err := w.s.List(ctx, "1", 0)
		require.NoError(t, err)
		assert.Len(t, l.Checkpoints, 2)
		_, err = w.s.Archive(ctx, "1", []checkpoint.ID{l.Checkpoints[1].ID}, "completed")
		require.NoError(t, err)
		assert.False(t, other.HasIssue(ctx, "1"))
	})
	require.NoError(t, err)
	for _, i := range []checkpoint.Issue{"1", "2"} {
		l, err := other.List(ctx, i, 0)
		require.NoError(t, err)
		assert.Len(t, l.Checkpoints, 1)
	}
	archived, err := other.Archived(ctx, "1", 0)
	require.NoError(t, err)
	assert.Len(t, archived.Checkpoints, 1)
	assert.Len(t, strings.Split(w.Git("reflog", LiveRef("1")), "\n"), 1)
	w.sound()
}

// Two new issues that some file systems treat as one are refused in one transaction too.
func TestTogetherChecksNewNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.NoError(t, w.s.Together(ctx, "save: two", []checkpoint.Issue{"topic", "Topic"}, func() {
		_, err := w.saveTo(ctx, w.s, "topic")
		require.NoError(t, err)
		_, err = w.saveTo(ctx, w.s, "Topic")
		assert.ErrorContains(t, err, "treat refs/checkpoints/topic as equal")
	}))
	assert.True(t, w.s.HasIssue(ctx, "topic"))
	assert.False(t, w.s.HasIssue(ctx, "Topic"))
}

// If another program moves a ref first, nothing moves, and the other value stays.
func TestTogetherBesideAnotherMove(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.manual(1)
	other := w.open(w.Dir)
	_, err := w.saveTo(ctx, other, "42")
	require.NoError(t, err)
	meanwhile, err := other.Newest(ctx, "42")
	require.NoError(t, err)
	w.Git("update-ref", LiveRef("42"), meanwhile.Commit.String()+"~1")
	w.Git("update-ref", "refs/git-checkpoint/own/42", meanwhile.Commit.String()+"~1")
	err = w.s.Together(ctx, "save: two", []checkpoint.Issue{"1", "42"}, func() {
		for _, i := range []checkpoint.Issue{"1", "42"} {
			_, err := w.saveTo(ctx, w.s, i)
			require.NoError(t, err)
		}
		w.Git("update-ref", LiveRef("42"), meanwhile.Commit.String())
	})
	require.Error(t, err)
	assert.False(t, errors.As(err, new(*DoneError)))
	assert.False(t, w.s.HasIssue(ctx, "1"))
	assert.Equal(t, append(before, meanwhile.ID), w.live())
	_, err = w.saveTo(ctx, w.s, "42")
	require.NoError(t, err)
	assert.Len(t, w.live(), 3)
	w.sound()
}
