//go:build unix

package git

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// At the limit, a git without output is terminated together with its children.
func TestLimitTerminatesHangingGit(t *testing.T) {
	t.Parallel()
	_, g := repo(t)
	g.Apart, g.Limit = true, patience
	run, err := g.Talk(context.Background(), "-c", "alias.x=!sleep 600 & echo $!; wait; true", "x")
	require.NoError(t, err)
	assert.True(t, run.Await("\n"))
	child := processID(t, run.stdout.Bytes())
	run.limit = 10 * time.Millisecond // only now, because git may start slowly
	inPatience(t, func() {
		assert.False(t, run.Await("prepare: ok"))
		_, err = run.Finish([]byte("commit"))
	})
	require.ErrorContains(t, err, "no answer within 10ms")
	untilGone(t, child)

	g.Limit = 200 * time.Millisecond
	run, err = g.Start(context.Background(), "-c", "alias.x=!sleep 600; true", "x")
	require.NoError(t, err)
	inPatience(t, func() { _, err = run.Finish(nil) })
	require.ErrorContains(t, err, "no answer within 200ms")
}

// TestErrorOutputOfGitIsBounded checks that a flood on standard error is not kept.
func TestErrorOutputOfGitIsBounded(t *testing.T) {
	t.Parallel()
	_, g := repo(t)
	_, err := g.Output(context.Background(), "-c", "alias.x=!yes | head -c 10000000 >&2; echo end >&2; false", "x")
	failed, ok := errors.AsType[*CommandError](err)
	require.True(t, ok)
	assert.LessOrEqual(t, len(failed.Stderr), 3*maxKept+1)
	assert.True(t, strings.HasSuffix(failed.Stderr, "end"))
}
