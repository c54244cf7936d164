//go:build unix

package git

import (
	"bufio"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// At the end of its context, a git without output is terminated together with its children.
func TestEndOfContextTerminatesHangingGit(t *testing.T) {
	t.Parallel()
	_, g := repo(t)
	g.Apart = true
	ctx, cancel := context.WithCancel(context.Background())
	run, err := g.Talk(ctx, "-c", "alias.x=!sleep 600 & echo $!; wait; true", "x")
	require.NoError(t, err)
	line, err := bufio.NewReader(run).ReadBytes('\n')
	require.NoError(t, err)
	child := processID(t, line)
	time.AfterFunc(10*time.Millisecond, cancel)
	inPatience(t, func() { _, err = run.Finish([]byte("commit")) })
	require.ErrorContains(t, err, "terminated")
	untilGone(t, child)
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
