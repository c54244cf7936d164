package gitstore

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// hook installs a hook in a bare repository.
func (w *world) hook(hub, name, script string) {
	w.t.Helper()
	path := filepath.Join(hub, "hooks", name)
	require.NoError(w.t, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(w.t, os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o777))
}

// If the remote ref has moved, any rejection is a lost race: the sync merges both chains
// without losses.
func TestSyncJoinsAfterARefusalInAnyWords(t *testing.T) {
	gittest.Slow(t)
	for server, words := range refusingWords {
		t.Run(server, func(t *testing.T) {
			a, b, hub, ids := pair(t, 1)
			theirs, mine := b.manual(1), a.manual(1)
			b.Git("push", "-q", "origin", LiveRef("42")+":refs/heads/theirs")
			// The other clone's push ends between start and update of this push.
			a.hook(hub, "pre-receive", "test -e moved && exit\n>moved\nunset GIT_QUARANTINE_PATH\ngit update-ref "+LiveRef("42")+" refs/heads/theirs\n")
			a.answersIn(words)
			done := a.sync()
			assert.Equal(t, Joined, done.Result)
			assert.ElementsMatch(t, append(append(ids, theirs...), mine...), a.live())
			assert.Equal(t, a.tip(), a.Git("--git-dir="+hub, "rev-parse", LiveRef("42")))
			a.sound()
		})
	}
}

// If the remote ref is unchanged, rejections are final. After few pushes the user sees
// the server's message.
func TestRejectionOfUnchangedRefIsFinal(t *testing.T) {
	gittest.Slow(t)
	for _, c := range []struct {
		words string
		most  int
	}{
		{"pre-receive hook declined", 1},
		{"TF401028: The reference has already been updated by another client", 8},
		{"failed to lock", 8},
	} {
		t.Run(c.words, func(t *testing.T) {
			a, _, hub, _ := pair(t, 1)
			before := a.Git("--git-dir="+hub, "rev-parse", LiveRef("42"))
			a.manual(1)
			a.hook(hub, "pre-receive", "echo >>pushes\nexit 1\n")
			a.answersIn(c.words)
			done, err := a.s.Sync(ctx, SyncRequest{Remote: "origin", Issues: []checkpoint.Issue{"42"}})
			require.NoError(t, err)
			var refused *RemoteError
			require.ErrorAs(t, done[0].Err, &refused)
			assert.True(t, refused.Refused)
			assert.Equal(t, "refused refs/checkpoints/42: "+c.words, refused.Reason)
			pushes, err := os.ReadFile(filepath.Join(hub, "pushes"))
			require.NoError(t, err)
			assert.Equal(t, c.most, len(pushes))
			assert.Equal(t, before, a.Git("--git-dir="+hub, "rev-parse", LiveRef("42")))
		})
	}
}

// If another push holds the ref's lock, push retries.
func TestPushWaitsForALockOfTheServer(t *testing.T) {
	t.Parallel()
	a, _, hub, _ := pair(t, 1)
	a.manual(1)
	lock := filepath.Join(hub, filepath.FromSlash(LiveRef("42"))+".lock")
	a.hook(hub, "pre-receive", "if test -e pushed; then rm -f '"+lock+"'; else >pushed; >'"+lock+"'; fi\n")
	assert.Equal(t, Pushed, a.sync().Result)
	assert.Equal(t, a.tip(), a.Git("--git-dir="+hub, "rev-parse", LiveRef("42")))
}

// Clones that concurrently create refs of issues all finish their sync. serverGitVar may
// select another git for the server; this runs 48 syncs for each ref format.
func TestClonesThatSyncAtOnce(t *testing.T) {
	gittest.Slow(t)
	const clones = 6
	rounds, answers := 1, map[string]string{"git": "", "a server": refusingWords["an unknown server"]}
	if serverGit != "" || gittest.Torture() {
		rounds = 8
		maps.Copy(answers, refusingWords)
	}
	for _, format := range []string{"files", "reftable"} {
		for server, words := range answers {
			t.Run(format+"/"+server, func(t *testing.T) { syncAtOnce(t, clones, rounds, format, words) })
		}
	}
}

func syncAtOnce(t *testing.T, clones, rounds int, format, words string) {
	a := newWorld(t)
	hub := a.hubOf(format)
	all := []*world{a}
	for len(all) < clones {
		all = append(all, a.clone(hub, "--upload-pack="+uploadPack()))
	}
	for _, w := range all {
		w.answersIn(words)
	}
	for n := range rounds {
		issue := checkpoint.Issue(fmt.Sprint(n + 1))
		var ids []checkpoint.ID
		for _, w := range all {
			req := w.request(checkpoint.Manual)
			req.Issue = issue
			ids = append(ids, w.save(req).ID)
		}
		var wait sync.WaitGroup
		for _, w := range all {
			wait.Go(func() {
				done, err := w.s.Sync(ctx, SyncRequest{Remote: "origin", Issues: []checkpoint.Issue{issue}})
				if assert.NoError(t, err) && assert.Len(t, done, 1) {
					assert.NoError(t, done[0].Err)
				}
			})
		}
		wait.Wait()
		_, err := a.s.Sync(ctx, SyncRequest{Remote: "origin", Issues: []checkpoint.Issue{issue}})
		require.NoError(t, err)
		l, err := a.s.List(ctx, issue, 0)
		require.NoError(t, err)
		assert.ElementsMatch(t, ids, oldestFirst(l))
	}
}

// hubOf is hub with a ref format, created by the server's git.
func (w *world) hubOf(format string) string {
	w.t.Helper()
	dir := filepath.Join(w.t.TempDir(), "hub")
	args := []string{"init", "-q", "--bare", dir}
	if format != "files" {
		args = append(args, "--ref-format="+format)
	}
	server := filepath.Join(serverGit, "git")
	cmd := exec.Command(server, args...)
	cmd.Env = w.Env()
	if out, err := cmd.CombinedOutput(); err != nil {
		require.NotEqual(w.t, "files", format, "%s", out)
		w.t.Skipf("the server's git cannot keep refs as %s: %s", format, strings.SplitN(string(out), "\n", 2)[0])
	}
	cmd = exec.Command(server, "--git-dir="+dir, "symbolic-ref", "HEAD", "refs/heads/main")
	cmd.Env = w.Env()
	require.NoError(w.t, cmd.Run())
	w.Git("remote", "add", "origin", dir)
	w.answersIn("")
	w.Git("push", "-q", "origin", "main")
	return dir
}
