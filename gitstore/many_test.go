package gitstore

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/remote"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// many saves a checkpoint for each of n issues.
func (w *world) many(n int) []checkpoint.Issue {
	w.t.Helper()
	issues := make([]checkpoint.Issue, n)
	for k := range issues {
		issues[k] = checkpoint.Issue(fmt.Sprintf("many-%02d", k))
		req := w.request(checkpoint.Manual)
		req.Issue = issues[k]
		w.save(req)
	}
	return issues
}

// results counts the results of issues, and returns errors by issue.
func results(done []Synced) (counts map[string]int, failed map[checkpoint.Issue]error) {
	counts, failed = map[string]int{}, map[checkpoint.Issue]error{}
	for _, d := range done {
		counts[d.Result]++
		if d.Err != nil {
			failed[d.Issue] = d.Err
		}
	}
	return counts, failed
}

func (w *world) chains(dir string) string {
	return w.Git("--git-dir="+dir, "for-each-ref", repo.LiveRefs)
}

// Many issues move in one transaction; errors concern only the rejected issues.
func TestManyIssues(t *testing.T) {
	gittest.Slow(t)
	a := newWorld(t)
	hub := a.hub()
	issues := a.many(24)
	hook := filepath.Join(hub, "hooks", "update")
	require.NoError(t, os.MkdirAll(filepath.Dir(hook), 0o777))
	require.NoError(t, os.WriteFile(hook, []byte("#!/bin/sh\ncase $1 in */many-07) echo protected; exit 1 ;; esac\n"), 0o777))
	var asked []checkpoint.Issue
	done, err := a.s.Sync(ctx, SyncRequest{
		Remote: "origin",
		May: func(of []checkpoint.Issue, outs []Outgoing) []error {
			asked = append(asked, of...)
			errs := make([]error, len(of))
			for n, out := range outs {
				if out.Tips[0] == a.Git("rev-parse", LiveRef(issues[9])) {
					errs[n] = errors.New("a secret")
				}
			}
			return errs
		},
	})
	require.NoError(t, err)
	counts, failed := results(done)
	assert.Equal(t, map[string]int{Pushed: 22, Failed: 2}, counts)
	require.ErrorContains(t, failed[issues[7]], "protected")
	require.ErrorContains(t, failed[issues[9]], "a secret")
	assert.Equal(t, issues, asked, "once for all issues")
	require.NoError(t, os.Remove(hook))
	pushed, err := a.s.Push(ctx, PushRequest{Remote: "origin"})
	require.NoError(t, err)
	counts, failed = results(pushed)
	assert.Equal(t, map[string]int{Pushed: 2, UpToDate: 22}, counts)
	assert.Empty(t, failed)

	b := a.clone(hub)
	done, err = b.s.Fetch(ctx, FetchRequest{Remote: "origin"})
	require.NoError(t, err)
	counts, failed = results(done)
	assert.Equal(t, map[string]int{Fetched: 24}, counts)
	assert.Empty(t, failed)
	assert.Equal(t, a.chains(a.GitPath("")), b.chains(b.GitPath("")))
	assert.Empty(t, b.Git("for-each-ref", remote.Incoming))
	done, err = b.s.Sync(ctx, SyncRequest{Remote: "origin"})
	require.NoError(t, err)
	counts, _ = results(done)
	assert.Equal(t, map[string]int{UpToDate: 24}, counts)
	b.sound()
}

// An issue with a conflicting name does not block other issues.
func TestManyIssuesWithOneNameConflict(t *testing.T) {
	gittest.Slow(t)
	a := newWorld(t)
	hub := a.hub()
	a.many(24)
	_, err := a.s.Push(ctx, PushRequest{Remote: "origin"})
	require.NoError(t, err)
	for _, get := range []func(*world) ([]Synced, error){
		func(w *world) ([]Synced, error) { return w.s.Fetch(ctx, FetchRequest{Remote: "origin"}) },
		func(w *world) ([]Synced, error) { return w.s.Sync(ctx, SyncRequest{Remote: "origin"}) }, // pushes its own
	} {
		t.Run("", func(t *testing.T) {
			b := a.clone(hub)
			req := b.request(checkpoint.Manual)
			req.Issue = "MANY-03"
			b.save(req)
			done, err := get(b)
			require.NoError(t, err)
			_, failed := results(done)
			require.Len(t, failed, 1)
			require.ErrorContains(t, failed["many-03"], "as equal")
			assert.Equal(t, 24, strings.Count(b.Git("for-each-ref", repo.LiveRefs), "\n")+1)
		})
	}
}

// Syncs without changes take one connection for any number of issues. Changes take one
// more connection for a push or a fetch.
func TestManyIssuesTakeFewConnections(t *testing.T) {
	gittest.Slow(t)
	a := newWorld(t)
	hub := a.hub()
	b := a.clone(hub)
	srv, url := serve(t, filepath.Dir(hub))
	for _, w := range []*world{a, b} {
		w.Git("remote", "set-url", "origin", url+filepath.Base(hub))
		w.s = w.open(w.Dir)
	}
	took := func(w *world) (connections int64) {
		before := srv.all.Load()
		done, err := w.s.Sync(ctx, SyncRequest{Remote: "origin"})
		require.NoError(t, err)
		_, failed := results(done)
		require.Empty(t, failed)
		return srv.all.Load() - before
	}
	a.many(5)
	assert.EqualValues(t, 2, took(a), "one to look, one to push")
	assert.EqualValues(t, 1, took(a))
	assert.EqualValues(t, 2, took(b), "one to look, one to fetch")
	assert.EqualValues(t, 1, took(b))
	req := b.request(checkpoint.Manual)
	req.Issue = "many-03"
	b.save(req)
	assert.EqualValues(t, 2, took(b))
	req = a.request(checkpoint.Manual)
	req.Issue = "many-03"
	a.save(req)
	assert.EqualValues(t, 3, took(a), "one to look, one to fetch, one to push what was joined")
	assert.EqualValues(t, 2, took(b))
	assert.EqualValues(t, 1, took(a))
}

// If the remote lacks objects of an issue, only this issue fails.
func TestManyIssuesWithOneDamagedAtRemote(t *testing.T) {
	gittest.Slow(t)
	for _, way := range []struct {
		name string
		does func(*Store) ([]Synced, error)
	}{
		{"sync", func(s *Store) ([]Synced, error) { return s.Sync(ctx, SyncRequest{Remote: "origin"}) }},
		{"fetch", func(s *Store) ([]Synced, error) { return s.Fetch(ctx, FetchRequest{Remote: "origin"}) }},
	} {
		t.Run(way.name, func(t *testing.T) {
			a := newWorld(t)
			hub := a.hub()
			issues := a.many(24)
			_, err := a.s.Push(ctx, PushRequest{Remote: "origin"})
			require.NoError(t, err)
			a.loseIn(hub, LiveRef(issues[7])+":checkpoint.yaml")
			b := a.clone(hub)
			before := a.chains(hub)
			done, err := way.does(b.s)
			require.NoError(t, err)
			counts, failed := results(done)
			assert.Equal(t, map[string]int{Fetched: 23, Failed: 1}, counts)
			require.ErrorContains(t, failed[issues[7]], "issue many-07: ")
			assert.Equal(t, before, a.chains(hub))
			assert.Empty(t, b.Git("for-each-ref", LiveRef(issues[7]), remote.Incoming))
		})
	}
}

// loseIn removes an object of another repository.
func (w *world) loseIn(dir, rev string) {
	w.t.Helper()
	packs, err := filepath.Glob(filepath.Join(dir, "objects", "pack", "*.pack"))
	require.NoError(w.t, err)
	for _, p := range packs {
		pack, err := os.ReadFile(p)
		require.NoError(w.t, err)
		require.NoError(w.t, os.Remove(p))
		require.NoError(w.t, os.Remove(strings.TrimSuffix(p, ".pack")+".idx"))
		w.Pipe(pack, "--git-dir="+dir, "unpack-objects", "-q")
	}
	blob := w.Git("--git-dir="+dir, "rev-parse", rev)
	require.NoError(w.t, os.Remove(filepath.Join(dir, "objects", blob[:2], blob[2:])))
}
