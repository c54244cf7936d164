package odb

import (
	"context"
	"errors"
	"testing"
	"time"

	"git-checkpoint/gitstore/testing/gittest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/require"
)

// Failed fetches stop further fetches from an unreachable remote.
func TestFailedFetchesAreBounded(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	asked, failure := 0, errors.New("no route to the host")
	s := open(t, r, func(c *Config) {
		c.Fetch = func(context.Context, []byte, ...string) ([]byte, error) {
			asked++
			return nil, failure
		}
	})
	hash := func(i byte) plumbing.Hash { return plumbing.Hash{1, i} }
	for i := range byte(3) {
		for range 2 {
			_, _, err := s.Read(hash(i))
			require.ErrorAs(t, err, new(*PromisedError))
			require.ErrorIs(t, err, failure)
		}
	}
	require.Equal(t, 3, asked, "each object once")

	s.missing.note(hash(9), failure, fetchPatience)
	_, _, err := s.Read(hash(4))
	require.ErrorAs(t, err, new(*PromisedError))
	require.Equal(t, 3, asked, "fetches that failed took too long")

	s.missing.since = time.Now().Add(-2 * fetchPause)
	_, _, err = s.Read(hash(4))
	require.ErrorAs(t, err, new(*PromisedError))
	require.Equal(t, 4, asked, "after a pause")
}
