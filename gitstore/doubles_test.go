package gitstore

import (
	"testing"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// forge pushes the chain by force, with another record under the id of a checkpoint.
func (w *world) forge(id checkpoint.ID, change func(*checkpoint.Record)) {
	w.t.Helper()
	w.sync()
	c := mustRead(w.t.(*testing.T), w)
	k, links := w.s.repo.NewObjectWriter(), append([]chain.ChainCommit{}, c.Commits...)
	for i := range links {
		if links[i].ID != id {
			continue
		}
		r, err := w.s.Record(&links[i].Checkpoint)
		require.NoError(w.t, err)
		change(r)
		data, err := r.Encode()
		require.NoError(w.t, err)
		entries, err := trees.Read(w.s.repo.Objects, links[i].Raw.Tree)
		require.NoError(w.t, err)
		for n := range entries {
			if entries[n].Name == "checkpoint.yaml" {
				entries[n].Hash = k.Add(plumbing.BlobObject, data)
			}
		}
		after, _ := links[i].CameAfter()
		commit := links[i].Raw
		commit.Tree, commit.Message = k.AddTree(entries), chain.EncodeMessage("42", r, after)
		commit = chain.Seal(commit, entries)
		commit.Hash = k.AddCommit(commit)
		links[i].Raw = commit
	}
	tip := w.s.chain.Rebuild(c, links, k)
	require.NoError(w.t, k.Flush(ctx))
	w.Git("push", "-q", "-f", "origin", tip.String()+":"+LiveRef("42"))
}

// noteOf returns the note of the checkpoint that a name finds.
func (w *world) noteOf(name string) string {
	w.t.Helper()
	c, err := w.s.Find(ctx, "42", name)
	require.NoError(w.t, err)
	return c.Note
}

// Someone pushes another content under a known id. Both stay in every clone, and the id means the
// one that was there first.
func TestAnotherContentUnderAKnownIDReplacesNothing(t *testing.T) {
	t.Parallel()
	for name, age := range map[string]int{"the newest": 2, "the oldest": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b, hub, ids := pair(t, 3)
			id := ids[age]
			genuine, err := a.s.ByID(ctx, "42", id)
			require.NoError(t, err)
			stranger := a.clone(hub)
			stranger.forge(id, func(r *checkpoint.Record) { r.SetNote("forged") })

			var told []string
			a.s, err = Open(ctx, Options{Dir: a.Dir, Now: func() time.Time { return a.now }, Notify: func(text string) { told = append(told, text) }})
			require.NoError(t, err)
			assert.Equal(t, Joined, a.sync().Result)
			require.Len(t, told, 1)
			assert.Contains(t, told[0], string(id))
			told = nil
			for _, c := range []*world{a, b} {
				c.sync()
				assert.Equal(t, ids, c.live())
				assert.Equal(t, genuine.Note, c.noteOf(string(id)))
				l, err := c.s.List(ctx, "42", 1)
				require.NoError(t, err)
				assert.Equal(t, age == 2, l.Checkpoints[0].Double)
				assert.False(t, l.Checkpoints[0].Unclear)
				assert.Equal(t, genuine.Note, l.Checkpoints[0].Note)
				assert.Len(t, mustRead(t, c).Commits, 4)
				l, err = c.s.List(ctx, "42", 0)
				require.NoError(t, err)
				require.Len(t, l.Others, 1)
				assert.Equal(t, "forged", c.noteOf(l.Others[0].Commit.String()))
				report, err := c.s.Verify(ctx, "42")
				require.NoError(t, err)
				assert.Empty(t, report.Errors)
				require.Len(t, report.Warnings, 1)
				assert.Contains(t, report.Warnings[0], string(id))
			}
			assert.Empty(t, told, "it is known")
			assert.Equal(t, a.tip(), b.tip())
			assert.Equal(t, UpToDate, a.sync().Result)

			saved := a.save(a.request(checkpoint.Manual))
			a.sync()
			b.sync()
			assert.Equal(t, append(ids, saved.ID), b.live())
			assert.Equal(t, a.tip(), b.tip())

			require.NoError(t, b.s.Drop(ctx, "42", []checkpoint.ID{id}))
			b.sync()
			a.sync()
			assert.Len(t, mustRead(t, a).Members(), 3, "both contents are dropped")
			assert.Equal(t, a.tip(), b.tip())
		})
	}
}

// Where no content was first, names of the id fail and name both commits.
func TestTwoContentsThatCameAtOnceAreUnclear(t *testing.T) {
	t.Parallel()
	a, _, hub, ids := pair(t, 2)
	stranger := a.clone(hub)
	stranger.forge(ids[1], func(r *checkpoint.Record) { r.SetNote("forged") })
	a.sync()
	late := a.clone(hub)
	require.Equal(t, Fetched, late.fetch().Result)
	plain := a.clone(hub)
	plain.Git("fetch", "-q", "origin", "refs/checkpoints/42:refs/checkpoints/42")
	for _, c := range []*world{late, plain} {
		_, err := c.s.ByID(ctx, "42", ids[1])
		ambiguous := &AmbiguousError{}
		require.ErrorAs(t, err, &ambiguous)
		require.Len(t, ambiguous.Commits, 2)
		_, err = c.s.Find(ctx, "42", string(ids[1]))
		require.ErrorAs(t, err, &ambiguous)
		var notes []string
		for _, commit := range ambiguous.Commits {
			notes = append(notes, c.noteOf(commit))
		}
		assert.Contains(t, notes, "forged")
		assert.Len(t, ambiguous.Commits, 2)
		newest, err := c.s.Newest(ctx, "42")
		require.NoError(t, err)
		assert.True(t, newest.Double && newest.Unclear)
	}
	assert.Equal(t, a.tip(), late.tip())
}

// A deletion from another clone hides an own checkpoint at once. Its content stays in this clone as
// long as git keeps the reflogs.
func TestADeletionFromElsewhereKeepsTheContentHere(t *testing.T) {
	t.Parallel()
	a, b, _, ids := pair(t, 2)
	a.now = time.Now() // of the reflogs
	_, err := a.s.Pin(ctx, "42", ids[0], true)
	require.NoError(t, err)
	a.sync()
	c, err := a.s.ByID(ctx, "42", ids[0])
	require.NoError(t, err)
	b.sync()
	require.NoError(t, b.s.Drop(ctx, "42", ids[:1]))
	b.sync()
	a.sync()
	assert.Equal(t, ids[1:], a.live())
	a.Git("gc", "-q", "--prune=now")
	a.s = a.open(a.Dir)
	_, err = a.s.Record(c)
	assert.NoError(t, err)
}

// A forged Checkpoint-Content does not make two contents one.
func TestAForgedContentIsComputed(t *testing.T) {
	t.Parallel()
	a, b, hub, ids := pair(t, 2)
	genuine, err := a.s.ByID(ctx, "42", ids[1])
	require.NoError(t, err)
	stranger := a.clone(hub)
	stranger.sync()
	stranger.Git("config", "user.name", "x")
	stranger.Git("config", "user.email", "x@example.com")
	tip := LiveRef("42")
	stranger.onTop(tip+"~1^{tree}", stranger.Git("log", "-1", "--format=%B", tip)+"\n", tip+"~1", tip+"^2")
	stranger.Git("push", "-q", "-f", "origin", tip)
	for _, c := range []*world{a, b, a} {
		c.sync()
		found, err := c.s.ByID(ctx, "42", ids[1])
		require.NoError(t, err)
		assert.Equal(t, genuine.Tree, found.Tree)
		assert.Len(t, mustRead(t, c).Commits, 3)
	}
	assert.Equal(t, a.tip(), b.tip())
	report, err := a.s.Verify(ctx, "42")
	require.NoError(t, err)
	assert.NotEmpty(t, report.Errors)
}
