package gitstore

import (
	"strings"
	"testing"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/git/objectformat"
	"git-checkpoint/gitstore/retention"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A commit names its checkpoint, also one from before a rewrite and one in the archive. The other
// names are promises of package storetest.
func TestFindByCommit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var saved []*Saved
	for range 4 {
		saved = append(saved, w.save(w.request(checkpoint.Manual)))
	}
	_, err := w.s.Archive(ctx, "42", []checkpoint.ID{saved[0].ID}, retention.ReasonAsked)
	require.NoError(t, err)
	l, err := w.s.List(ctx, "42", 0)
	require.NoError(t, err)
	for name, want := range map[string]checkpoint.ID{
		saved[1].Commit.String():                  saved[1].ID, // rewritten since
		strings.ToUpper(saved[1].Commit.String()): saved[1].ID,
		saved[0].Commit.String():                  saved[0].ID, // archived
		l.Checkpoints[1].Commit.String():          l.Checkpoints[1].ID,
		l.Checkpoints[0].Commit.String()[:9]:      l.Checkpoints[0].ID,
	} {
		c, err := w.s.Find(ctx, "42", name)
		require.NoError(t, err, name)
		assert.Equal(t, want, c.ID, name)
	}
	head := w.Git("rev-parse", "HEAD")
	for _, name := range []string{head, head[:10], strings.Repeat("0", objectformat.HexSize), strings.Repeat("f", objectformat.HexSize), "-x", "latest~9223372036854775807", "latest~-1"} {
		_, err := w.s.Find(ctx, "42", name)
		require.ErrorAs(t, err, new(*NotFoundError), "%q", name)
	}
}

// Keys that differ only in case, or in Unicode's form, would share a file on some file systems.
func TestIssueNamesThatDifferOnlyInCase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	save := func(issue checkpoint.Issue) error {
		req := w.request(checkpoint.Manual)
		req.Issue = issue
		w.now = w.now.Add(time.Second)
		_, err := w.s.Save(ctx, req)
		return err
	}
	require.NoError(t, save("PROJ-42"))
	require.NoError(t, save("é"))
	for _, issue := range []checkpoint.Issue{"straße", "ΟΔΟΣ", "ﬁx"} {
		require.NoError(t, save(issue))
	}
	for _, issue := range []checkpoint.Issue{
		"proj-42", "Proj-42", "É", "e\u0301", "E\u0301", "strasse", "STRASSE", "ſtraße", "οδος", "οδοσ", "fix", "PRO\u200cJ-42",
	} {
		err := save(issue)
		require.ErrorAs(t, err, new(*RefusedError))
		assert.Contains(t, err.Error(), string(issue))
	}
	require.NoError(t, save("PROJ-42"))
	require.NoError(t, save("PROJ-4"))
	issues, strange, err := w.s.Issues(ctx, false)
	require.NoError(t, err)
	assert.ElementsMatch(t, []checkpoint.Issue{"PROJ-4", "PROJ-42", "é", "straße", "ΟΔΟΣ", "ﬁx"}, issues)
	assert.Empty(t, strange)
	refuses := func(done []Synced, err error) {
		require.NoError(t, err)
		require.Len(t, done, 1)
		require.ErrorAs(t, done[0].Err, new(*RefusedError))
	}
	hub := w.hub()
	w.Git("push", "-q", "origin", LiveRef("PROJ-42")+":"+LiveRef("PROJ-42"))
	c := w.clone(hub)
	req := c.request(checkpoint.Manual)
	req.Issue = "proj-42"
	c.save(req)
	refuses(c.s.Fetch(ctx, FetchRequest{Remote: "origin", Issues: []checkpoint.Issue{"PROJ-42"}}))
	refuses(c.s.Sync(ctx, SyncRequest{Remote: "origin", Issues: []checkpoint.Issue{"PROJ-42"}}))

	w.Git("update-ref", "refs/checkpoints/a/b", "HEAD")
	w.Git("update-ref", "refs/checkpoints/%zz", "HEAD")
	_, strange, err = w.s.Issues(ctx, false)
	require.NoError(t, err)
	assert.Equal(t, []string{"refs/checkpoints/%zz", "refs/checkpoints/a/b"}, strange)
}
