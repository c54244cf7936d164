package gitstore

import (
	"fmt"
	"strings"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/secrets"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// saveIn saves a checkpoint of an issue.
func (w *world) saveIn(i checkpoint.Issue) {
	w.t.Helper()
	req := w.request(checkpoint.Manual)
	req.Issue = i
	w.save(req)
}

// stage replaces the content of a staged file.
func (w *world) stage(path, content string) {
	w.t.Helper()
	w.Write(path, content)
	w.Git("add", path)
}

// A scan of many issues finds in each issue what a scan of this issue alone finds, and counts
// the same commits.
func TestScanOfManyIssuesMatchesScanOfEach(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.saveIn("clean")
	w.stage("key.txt", aKey)
	w.saveIn("secret")
	w.Git("mv", "key.txt", "moved.txt")
	w.stage("more.bin", secrets.LfsPointer+"oid sha256:1\n")
	w.saveIn("same-secret-elsewhere")
	w.saveIn("same-secret-elsewhere") // the oldest checkpoint is named
	w.Git("rm", "-qf", "moved.txt", "more.bin")
	w.stage("large.txt", strings.Repeat("nothing here\n", 100_000))
	w.saveIn("large")
	w.Git("rm", "-qf", "large.txt")
	w.Write("new/one.txt", "one")
	w.Write("new/two.txt", "two")
	w.saveIn("untracked")
	w.stage("new/one.txt", aKey+"\nin a commit")
	w.Commit("with")
	w.Git("rm", "-q", "new/one.txt")
	w.Commit("without")
	w.saveIn("history")
	w.Git("rm", "-q", "-r", "--cached", ".")
	w.Commit("after")
	w.saveIn("history-too")
	w.saveIn("clean")

	issues := []checkpoint.Issue{"clean", "history", "history-too", "large", "same-secret-elsewhere", "secret", "untracked"}
	var alone, together []ScanRequest
	for n, out := range w.outgoing(issues...) {
		alone = append(alone, ScanRequest{Issue: issues[n], Out: w.outgoing(issues[n])[0], MaxFile: 1 << 20})
		together = append(together, ScanRequest{Issue: issues[n], Out: out, MaxFile: 1 << 20})
	}
	found, errs := w.s.ScanAll(ctx, together)
	all := 0
	for n, i := range issues {
		require.NoError(t, errs[n], i)
		ones, failed := w.s.ScanAll(ctx, alone[n:n+1])
		require.NoError(t, failed[0])
		one := ones[0]
		assert.Equal(t, contentOf(one), contentOf(found[n]), i)
		all += len(one.Found) + len(one.TooLarge) + len(one.Untracked) + one.Pointers
	}
	assert.GreaterOrEqual(t, all, 9)
}

// contentOf returns the comparable content of a scan.
func contentOf(s *Publication) Publication {
	c := Publication{Unpublished: s.Unpublished, Commits: s.Commits, Skipped: s.Skipped, Pointers: s.Pointers, Untracked: s.Untracked, TooLarge: s.TooLarge}
	for _, f := range s.Found {
		c.Found = append(c.Found, plainSecret(f))
	}
	return c
}

// The commits that the remote lacks are counted for each issue: those that its checkpoints reach.
func TestScanCountsUnpublishedCommits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.hub()
	w.saveIn("published")
	w.Git("switch", "-q", "-c", "side")
	side := w.Commit("side")
	w.saveIn("side")
	w.Git("switch", "-q", "-")
	for range 3 {
		w.Commit("another")
	}
	w.saveIn("three")
	w.Git("merge", "-q", "--no-edit", "side")
	w.saveIn("merged")
	w.saveIn("published")
	var reqs []ScanRequest
	issues := []checkpoint.Issue{"published", "side", "three", "merged"}
	for n, out := range w.outgoing(issues...) {
		reqs = append(reqs, ScanRequest{Issue: issues[n], Out: out})
	}
	found, errs := w.s.ScanAll(ctx, reqs)
	counts := []int{}
	for n := range reqs {
		require.NoError(t, errs[n])
		counts = append(counts, found[n].Commits)
	}
	assert.Equal(t, []int{5, 1, 3, 5}, counts)
	assert.Equal(t, side, found[1].Unpublished)
	assert.Equal(t, w.Head(), found[3].Unpublished)
	w.Git("update-ref", "refs/remotes/origin/main", "HEAD")
	found, _ = w.s.ScanAll(ctx, []ScanRequest{{Issue: "merged", Out: w.outgoing("merged")[0]}})
	assert.Zero(t, found[0].Commits)
	assert.Empty(t, found[0].Unpublished)
}

// If the files of an issue cannot be read, or if a scanner fails without the name of a file,
// only the issue concerned has an error or a finding.
func TestScanOfManyIssuesWithOneThatFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var reqs []ScanRequest
	for n := range 9 {
		i := checkpoint.Issue(fmt.Sprintf("many-%d", n))
		w.stage("file.txt", fmt.Sprintf("file %d\n", n))
		w.saveIn(i)
		reqs = append(reqs, ScanRequest{Issue: i, Out: w.outgoing(i)[0], Command: `! grep -rl "file 5" . >/dev/null; exit $? #`})
	}
	found, errs := w.s.ScanAll(ctx, reqs)
	for n := range reqs {
		require.NoError(t, errs[n])
		assert.Len(t, found[n].Found, map[bool]int{true: 1}[n == 5], n)
		reqs[n].Command = ""
	}
	w.lose(LiveRef("many-7") + ":staged")
	found, errs = w.s.ScanAll(ctx, reqs)
	for n := range reqs {
		if n == 7 {
			require.Error(t, errs[n])
			assert.Nil(t, found[n])
			continue
		}
		require.NoError(t, errs[n], n)
		assert.Empty(t, found[n].Found)
	}
}

// A checkpoint that another clone pushes during a push of many issues is kept.
func TestManyIssuesWithOnePushedMeanwhile(t *testing.T) {
	gittest.Slow(t)
	a := newWorld(t)
	hub := a.hub()
	issues := a.many(12)
	_, err := a.s.Sync(ctx, SyncRequest{Remote: "origin"})
	require.NoError(t, err)
	b := a.clone(hub)
	_, err = b.s.Fetch(ctx, FetchRequest{Remote: "origin"})
	require.NoError(t, err)
	for _, i := range issues {
		a.saveIn(i)
	}
	b.saveIn(issues[3])
	saved := b.Git("log", "-1", "--format=%(trailers:key=Checkpoint-Id,valueonly)", LiveRef(issues[3]))
	pushed := false
	done, err := a.s.Sync(ctx, SyncRequest{Remote: "origin", May: func(of []checkpoint.Issue, _ []Outgoing) []error {
		if !pushed {
			pushed = true
			_, err := b.s.Push(ctx, PushRequest{Remote: "origin", Issues: issues[3:4]})
			require.NoError(t, err)
		}
		return make([]error, len(of))
	}})
	require.NoError(t, err)
	counts, failed := results(done)
	assert.Empty(t, failed)
	assert.Equal(t, map[string]int{Pushed: 11, Joined: 1}, counts)
	assert.Equal(t, a.chains(a.GitPath("")), a.chains(hub))
	assert.Contains(t, a.Git("--git-dir="+hub, "log", "--format=%B", LiveRef(issues[3])), strings.TrimSpace(saved))
	a.sound()
}
