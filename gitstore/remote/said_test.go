package remote

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"git-checkpoint/gitstore/internal/gittest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLongestPath(t *testing.T) {
	for lines, want := range map[string]int{
		"":                          0,
		"a\n":                       1,
		"a\nb a\nc b\n":             3,
		"a\nb a\nc a\nd c\ne b d\n": 4,
		"b cut\nc b\n":              2,
		"a\nb a\nc b\nd a c\n":      4,
	} {
		assert.Equal(t, want, longestPath(lines), lines)
	}
}

func TestExplain(t *testing.T) {
	for said, want := range map[string]string{
		"": "git ended without a word",
		"ssh: connect to host x port 22: Connection refused\nfatal: Could not read from remote repository.\n\nPlease make sure": "ssh: connect to host x port 22: Connection refused",
		"Warning: Permanently added 'x'\nfatal: unable to access 'https://a:b@x/y/': Could not resolve host: x":                 "unable to access 'https://x/y/': Could not resolve host: x",
		"hint: y\nFrom /hub\nremote: full\nfatal: the remote end hung up\n":                                                     "full",
	} {
		assert.Equal(t, want, explain(said))
	}
}

func TestWithoutPasswords(t *testing.T) {
	for text, want := range map[string]string{
		"origin": "origin", "git@x:y": "git@x:y", "https://x/y": "https://x/y",
		"https://tok@x/y@z":                    "https://x/y@z",
		"a 'https://a:b@c@x' and ssh://q@h b@": "a 'https://x' and ssh://h b@",
	} {
		assert.Equal(t, want, withoutPasswords(text))
	}
}

func TestPushReports(t *testing.T) {
	out := "To /hub\n*\tabc:refs/x\t[new reference]\n=\tabc:refs/y\t[up to date]\n!\tabc:refs/z\t[rejected] (stale info)\n!\t(delete)\nDone\n"
	assert.Equal(t, map[string]pushReport{
		"refs/x": {flag: '*'}, "refs/y": {flag: '='}, "refs/z": {'!', "stale info"},
	}, pushReports([]byte(out)))
}

// What a server says of a push stands behind one of the refs that it refused.
func TestGiveSaysOnceWhatTheRemoteSaid(t *testing.T) {
	s := &site{Repo: gittest.New(t)}
	tip := plumbing.NewHash(s.Commit("first"))
	hub := filepath.Join(t.TempDir(), "hub")
	s.Git("init", "-q", "--bare", hub)
	hook := filepath.Join(hub, "hooks", "pre-receive")
	require.NoError(t, os.MkdirAll(filepath.Dir(hook), 0o777))
	require.NoError(t, os.WriteFile(hook, []byte("#!/bin/sh\necho closed today; exit 1\n"), 0o777))
	l := s.here().Open("push", hub, 0, false)
	refused, err := l.Give(context.Background(), false, Gift{Ref: "refs/a/1", Tip: tip}, Gift{Ref: "refs/a/2", Tip: tip})
	require.NoError(t, err)
	require.ErrorContains(t, refused["refs/a/1"], "refused refs/a/1: pre-receive hook declined: closed today")
	assert.EqualError(t, refused["refs/a/2"], "push: "+hub+": refused refs/a/2: pre-receive hook declined")
}
