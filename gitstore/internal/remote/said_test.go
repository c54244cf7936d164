package remote

import (
	"os"
	"path/filepath"
	"testing"

	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// opened returns a connection of a repository.
func opened(t *testing.T, in *gittest.Repo, op, name string) *Conn {
	t.Helper()
	r, err := repo.Open(t.Context(), repo.Options{Dir: in.Dir})
	require.NoError(t, err)
	t.Cleanup(func() { _ = r.Close() })
	return Open(t.Context(), r, op, name, 0, true)
}

func TestPushReports(t *testing.T) {
	t.Parallel()
	out := "To /hub\n*\tabc:refs/x\t[new reference]\n=\tabc:refs/y\t[up to date]\n!\tabc:refs/z\t[rejected] (stale info)\n!\tabc:refs/w\t[remote rejected] (a (b))\n!\t(delete)\nDone\n"
	assert.Equal(t, map[string]pushReport{
		"refs/x": {flag: '*'}, "refs/y": {flag: '='}, "refs/z": {flag: '!', reason: "stale info"}, "refs/w": {'!', true, "a (b)"},
	}, pushReports([]byte(out)))
	twice := "To /a\n!\tabc:refs/x\t[rejected] (stale info)\nTo /b\n*\tabc:refs/x\t[new reference]\nDone\n"
	assert.Equal(t, map[string]pushReport{"refs/x": {flag: '!', reason: "stale info"}}, pushReports([]byte(twice)))
}

// TestPushReportsRemoteOutputOnce checks that the remote's output is added to one
// rejected ref only.
func TestPushReportsRemoteOutputOnce(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	tip := plumbing.NewHash(s.Commit("first"))
	hub := filepath.Join(t.TempDir(), "hub")
	s.Git("init", "-q", "--bare", hub)
	hook := filepath.Join(hub, "hooks", "pre-receive")
	require.NoError(t, os.MkdirAll(filepath.Dir(hook), 0o777))
	require.NoError(t, os.WriteFile(hook, []byte("#!/bin/sh\necho closed today; exit 1\n"), 0o777))
	l := opened(t, s, "push", hub)
	refused, err := l.Push(t.Context(), RefUpdate{Ref: "refs/a/1", Tip: tip}, RefUpdate{Ref: "refs/a/2", Tip: tip})
	require.NoError(t, err)
	require.ErrorContains(t, refused["refs/a/1"], "refused refs/a/1: pre-receive hook declined: closed today")
	assert.EqualError(t, refused["refs/a/2"], "push: "+hub+": refused refs/a/2: pre-receive hook declined")
}
