package gitstore

import (
	"os"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Another process deletes the chain ref after the save compared it with own/. The next try
// adds the checkpoint to the previous chain.
func TestSaveBesideDeletedRef(t *testing.T) {
	t.Parallel()
	for name, setup := range map[string]func(*gittest.Repo){
		"plain":  func(*gittest.Repo) {},
		"a hook": func(r *gittest.Repo) { r.Write(".git/hooks/reference-transaction", "") },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, setup)
			ids := w.manual(3)
			req := w.request(checkpoint.Manual)
			k := w.s.repo.NewObjectWriter()
			snap, err := w.s.Files.Snapshot(ctx, req.Issue, req.files(), k)
			require.NoError(t, err)
			operation := &saveOp{store: w.s, req: &req, snap: snap, created: w.now}
			tries := 0
			require.NoError(t, w.s.chain.Retry(ctx, "42", func() error {
				if tries++; tries == 1 {
					w.Git("update-ref", "-d", LiveRef("42"))
				}
				saved, err := operation.append(ctx, k)
				if err == nil {
					ids = append(ids, saved.ID)
				}
				return err
			}))
			assert.Equal(t, 2, tries)
			assert.Equal(t, ids, w.live())
			w.sound()
		})
	}
}

// An unchanged save still restores the deleted ref.
func TestUnchangedSaveRestoresDeletedRef(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.manual(2)
	w.Git("update-ref", "-d", LiveRef("42"))
	req := w.request(checkpoint.Manual)
	req.IfChanged = true
	_, err := w.s.Save(ctx, req)
	require.ErrorIs(t, err, ErrUnchanged)
	w.Git("rev-parse", "--verify", LiveRef("42"))
	assert.Equal(t, ids, w.live())
}

// Deleted refs of shallow or damaged chains are restored too, since a new chain would
// replace the old chain.
func TestDeletedRefOfDamagedChain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.manual(3)
	tip, lost := w.Git("rev-parse", LiveRef("42")), w.Git("rev-parse", LiveRef("42")+"~2")
	w.Git("update-ref", "-d", LiveRef("42"))
	require.NoError(t, os.Remove(w.GitPath("objects/"+lost[:2]+"/"+lost[2:])))
	w.s = w.open(w.Dir)
	saved := w.save(w.request(checkpoint.Manual))
	assert.Equal(t, tip, w.Git("rev-parse", LiveRef("42")+"^"))
	l, err := w.s.List(ctx, "42", 3)
	require.NoError(t, err)
	assert.Equal(t, []checkpoint.ID{saved.ID, ids[2], ids[1]}, []checkpoint.ID{l.Checkpoints[0].ID, l.Checkpoints[1].ID, l.Checkpoints[2].ID})
}

// If the deleted ref cannot be restored, changes fail, because a new chain would replace
// the old chain and own/.
func TestChangeIfDeletedRefCannotBeRestored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.manual(3)
	w.Git("update-ref", "-d", LiveRef("42"))
	hook := `#!/bin/sh
test "$1" = prepared || exit 0
while read -r old new ref; do seen="$seen $ref"; done
test "$seen" != " refs/checkpoints/42"
`
	w.Write(".git/hooks/reference-transaction", hook)
	require.NoError(t, os.Chmod(w.GitPath("hooks/reference-transaction"), 0o777))
	w.s = w.open(w.Dir)
	_, err := w.s.Pin(ctx, "42", ids[0], true)
	require.ErrorContains(t, err, "restore checkpoints that were removed from refs/checkpoints/42 outside git-checkpoint")

	require.NoError(t, os.Remove(w.GitPath("hooks/reference-transaction")))
	w.s = w.open(w.Dir)
	saved := w.save(w.request(checkpoint.Manual))
	assert.Equal(t, append(ids, saved.ID), w.live())
}

// Between comparison and move of both refs, another process saves, the chain ref is
// deleted, and a third process restores its older value.
func TestSaveIfOwnRefMovedAfterComparison(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.manual(2)
	older := w.Git("rev-parse", LiveRef("42"))
	req := w.request(checkpoint.Manual)
	k := w.s.repo.NewObjectWriter()
	snap, err := w.s.Files.Snapshot(ctx, req.Issue, req.files(), k)
	require.NoError(t, err)
	operation := &saveOp{store: w.s, req: &req, snap: snap, created: w.now}
	first := true
	require.NoError(t, w.s.chain.Retry(ctx, "42", func() error {
		if first {
			first = false
			other := w.open(w.Dir)
			other.repo.IssueLock = w.s.repo.IssueLock
			o := &saveOp{store: other, req: &req, snap: snap, created: w.now}
			saved, err := o.append(ctx, other.repo.NewObjectWriter())
			require.NoError(t, err)
			ids = append(ids, saved.ID)
			w.Git("update-ref", LiveRef("42"), older)
		}
		saved, err := operation.append(ctx, k)
		if err == nil {
			ids = append(ids, saved.ID)
		}
		return err
	}))
	assert.Equal(t, ids, w.live())
	w.sound()
}

// Saves under an imported id search the chain of a deleted ref for this id.
func TestSaveUnderTakenIDAfterDeletedRef(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.manual(2)
	req := w.request(checkpoint.Manual)
	req.Keep = true
	edit := req.Edit
	req.Edit = func(before *checkpoint.Record) (*checkpoint.Record, error) {
		r, err := edit(before)
		if err == nil {
			r.SetID(ids[0])
		}
		return r, err
	}
	w.Git("update-ref", "-d", LiveRef("42"))
	_, err := w.s.Save(ctx, req)
	var taken *TakenError
	require.ErrorAs(t, err, &taken)
	assert.Equal(t, ids, w.live())
}

// A temporarily unreadable commit of own/ does not count as lost.
func TestSaveFailsIfOwnCannotBeRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.manual(2)
	tip := w.Git("rev-parse", LiveRef("42"))
	w.Git("update-ref", "-d", LiveRef("42"))
	path := w.GitPath("objects/" + tip[:2] + "/" + tip[2:])
	require.NoError(t, os.Rename(path, path+".away"))
	require.NoError(t, os.Mkdir(path, 0o777))
	w.s = w.open(w.Dir)
	_, err := w.s.Save(ctx, w.request(checkpoint.Manual))
	require.Error(t, err)

	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Rename(path+".away", path))
	w.s = w.open(w.Dir)
	saved := w.save(w.request(checkpoint.Manual))
	assert.Equal(t, append(ids, saved.ID), w.live())
}

// Shallow clones cannot merge two chains. If a ref was only set back, newer checkpoints
// of this clone are still restored.
func TestShallowCloneRestoresRefThatWasSetBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.manual(4)
	clone := w.Dir + "-shallow"
	w.Git("clone", "-q", "--depth=1", "file://"+w.Dir, clone)
	w.Git("-C", clone, "fetch", "-q", "--depth=2", "origin", LiveRef("42")+":"+LiveRef("42"))
	s := w.open(clone)
	req := w.request(checkpoint.Manual)
	first, err := s.Save(ctx, req)
	require.NoError(t, err)
	w.Git("-C", clone, "update-ref", LiveRef("42"), LiveRef("42")+"^")
	s = w.open(clone)
	second, err := s.Save(ctx, req)
	require.NoError(t, err)
	l, err := s.List(ctx, "42", 2)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(l.Checkpoints), 2)
	assert.Equal(t, []checkpoint.ID{second.ID, first.ID}, []checkpoint.ID{l.Checkpoints[0].ID, l.Checkpoints[1].ID})
}

// A read changes no ref and names the removal once. A store that was opened for changes restores the
// ref first.
func TestReadsRestoreNoRef(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.manual(2)
	tip, older := w.Git("rev-parse", LiveRef("42")), w.Git("rev-parse", LiveRef("42")+"^")
	var said []string
	open := func(repair bool) {
		var err error
		said = nil
		w.s, err = Open(ctx, Options{Dir: w.Dir, Repair: repair, Notify: func(line string) { said = append(said, line) }})
		require.NoError(t, err)
		t.Cleanup(func() { w.s.Close() })
	}
	const lacks = "issue 42: refs/checkpoints/42 was changed outside git-checkpoint, and lacks checkpoints of this clone; to restore them: git checkpoint doctor --fix"
	for _, change := range []struct {
		args []string
		live []checkpoint.ID
	}{
		{[]string{"update-ref", "-d", LiveRef("42")}, []checkpoint.ID{}},
		{[]string{"update-ref", LiveRef("42"), older}, ids[:1]},
	} {
		w.Git(change.args...)
		refs := w.Git("for-each-ref")
		open(false)
		assert.Equal(t, change.live, w.live())
		assert.Equal(t, len(change.live) > 0, w.s.HasIssue(ctx, "42"))
		issues, _, err := w.s.Issues(ctx, false)
		require.NoError(t, err)
		assert.Len(t, issues, len(change.live))
		_, err = w.s.ByID(ctx, "42", ids[1])
		require.ErrorAs(t, err, new(*NotFoundError))
		_, _, err = w.s.NewestValid(ctx, "42")
		assert.Equal(t, len(change.live) > 0, err == nil)
		_, err = w.s.Verify(ctx, "42")
		require.NoError(t, err)
		assert.Equal(t, refs, w.Git("for-each-ref"))
		assert.Equal(t, []string{lacks}, said)

		open(true)
		issues, _, err = w.s.Issues(ctx, false)
		require.NoError(t, err)
		assert.Equal(t, []checkpoint.Issue{"42"}, issues)
		assert.Equal(t, ids, w.live())
		assert.Equal(t, tip, w.Git("rev-parse", LiveRef("42")))
		assert.Equal(t, []string{"issue 42: refs/checkpoints/42 was changed outside git-checkpoint; its checkpoints of this clone are restored"}, said)
	}
}

// A list of refs may have a chain from before a change of another process, and own/ from after it. A
// read compares the refs as they are then, and names no removal.
func TestReadsOfMovingRefsNameNoRemoval(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.manual(5)
	before := w.Git("rev-parse", LiveRef("42"))
	_, err := w.s.Archive(ctx, "42", ids[:1], "")
	require.NoError(t, err)
	after := w.Git("rev-parse", LiveRef("42"))
	var said []string
	reader, err := Open(ctx, Options{Dir: w.Dir, Notify: func(line string) { said = append(said, line) }})
	require.NoError(t, err)
	t.Cleanup(func() { reader.Close() })
	w.Git("update-ref", LiveRef("42"), before)
	release := reader.CacheRefs(ctx)
	defer release()
	w.Git("update-ref", LiveRef("42"), after)
	_, err = w.s.Archive(ctx, "42", ids[1:2], "")
	require.NoError(t, err)
	_, err = reader.List(ctx, "42", 0)
	require.NoError(t, err)
	assert.Empty(t, said)
}
