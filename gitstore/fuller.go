package gitstore

import (
	"bytes"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/trees"
	"git-checkpoint/gitstore/retention"

	"github.com/go-git/go-git/v5/plumbing"
)

// A contents holds the files of a checkpoint, and the list of files that were left out.
type contents struct {
	facts   checkpoint.Snapshot
	entries []trees.Entry      // entries of the checkpoint's tree
	head    plumbing.Hash      // the commit of HEAD, zero if unborn
	unread  bool               // the record cannot be read, so no resume can restore the files
	commit  *chain.ChainCommit // facts are not read yet, if it is not nil
}

// tree returns a subtree of the checkpoint, zero if it is missing.
func (c *contents) tree(name string) plumbing.Hash {
	return trees.HashOf(c.entries, name)
}

// A fullness compares the contents of the checkpoints of a chain.
type fullness struct {
	s       *Store
	objects trees.Reader
	known   map[checkpoint.ID]*chain.ChainCommit
	coming  *contents // of the checkpoint that is being saved, or nil
	failed  error     // first read that failed for lack of resources, or nil
	read    map[checkpoint.ID]*contents
}

// Read reads an object. A missing or damaged object is part of the comparison. An object
// that could not be read for lack of resources makes the whole comparison invalid.
func (f *fullness) Read(h plumbing.Hash) (plumbing.ObjectType, []byte, error) {
	kind, data, err := f.objects.Read(h)
	f.note(err)
	return kind, data, err
}

func (f *fullness) note(err error) {
	if f.failed == nil && chain.IsExhausted(err) {
		f.failed = err
	}
}

// keepFuller keeps checkpoints that have files which all later checkpoints lack. The
// first item is the new checkpoint if f.coming is not nil.
func (s *Store) keepFuller(p retention.Policy, items []retention.Item, ds []retention.Decision, f *fullness) ([]retention.Decision, error) {
	f.read = map[checkpoint.ID]*contents{}
	kept := retention.KeepFuller(p, items, ds, func(newer, older int) bool {
		old, now := f.of(items[older].ID), f.coming
		if newer > 0 || now == nil {
			if now = f.of(items[newer].ID); now != nil {
				f.readFacts(now)
			}
		}
		return old == nil || now != nil && !now.unread && f.covers(now, old)
	})
	return kept, f.failed
}

// of returns the contents of a checkpoint, or nil if no file of it can be restored.
func (f *fullness) of(id checkpoint.ID) *contents {
	l := f.known[id]
	if l == nil {
		return nil
	}
	if c, ok := f.read[id]; ok {
		return c
	}
	f.read[id] = nil
	entries, err := trees.Read(f, l.Tree)
	if err != nil {
		return nil
	}
	c := &contents{entries: entries, commit: l}
	c.head, err = f.s.chain.HeadOf(&l.Checkpoint)
	f.note(err)
	f.read[id] = c
	return c
}

// readFacts parses the record of a checkpoint.
func (f *fullness) readFacts(c *contents) {
	if c.commit == nil {
		return
	}
	r, err := f.s.chain.Record(&c.commit.Checkpoint)
	if err == nil {
		c.facts = r.Snapshot()
	}
	f.note(err)
	c.unread, c.commit = err != nil, nil
}

// deleted returns the deleted files of a checkpoint. It parses the record only if its text
// may have such files.
func (f *fullness) deleted(c *contents) []string {
	if c.commit == nil {
		return c.facts.Deleted
	}
	_, text, err := f.Read(c.tree("checkpoint.yaml"))
	if err == nil && !bytes.Contains(text, []byte("deleted")) {
		return nil
	}
	f.readFacts(c)
	return c.facts.Deleted
}

// treeOf returns the tree of a commit, or zero for an unborn HEAD.
func (f *fullness) treeOf(commit plumbing.Hash) (plumbing.Hash, error) {
	if commit.IsZero() {
		return plumbing.ZeroHash, nil
	}
	tree, err := f.s.repo.TreeOfCommit(commit)
	f.note(err)
	return tree, err
}

// covers reports whether a newer checkpoint has the work of an older checkpoint: a later
// version of every file that differs from HEAD in the older one. If HEAD has changed at
// the path of such a file, the work was committed.
func (f *fullness) covers(newer, older *contents) bool {
	if newer.head == older.head && f.sameFiles(newer, older) {
		return true
	}
	c := comparison{fullness: f, newer: newer, older: older, finder: trees.Finder{Reader: f}}
	var err error
	if c.olderHead, err = f.treeOf(older.head); err != nil {
		return false
	}
	if c.newerHead, err = f.treeOf(newer.head); err != nil {
		return false
	}
	asked := newer.facts
	return c.hasAll("worktree", asked.Worktree) && c.hasAll("untracked", asked.Untracked) && c.hasDeleted() && c.hasStaged() && c.hasArtifacts()
}

// sameFiles reports whether two checkpoints of one HEAD have equal files.
func (f *fullness) sameFiles(newer, older *contents) bool {
	for _, name := range []string{"staged", "worktree", "untracked", "artifacts"} {
		if newer.tree(name) != older.tree(name) {
			return false
		}
	}
	return slices.Equal(f.deleted(newer), f.deleted(older))
}

// A comparison looks for the files of an older checkpoint in a newer one.
type comparison struct {
	*fullness
	newer, older         *contents
	newerHead, olderHead plumbing.Hash // trees of the commits of HEAD
	finder               trees.Finder
}

// hasAll reports whether the newer checkpoint has every file of a subtree. asked is false
// if the newer checkpoint was not asked to capture such files.
func (c *comparison) hasAll(name string, asked bool) bool {
	changes, err := trees.Diff(c, c.older.tree(name), c.newer.tree(name))
	return err == nil && !slices.ContainsFunc(changes, func(ch trees.Change) bool {
		return ch.New.Hash.IsZero() && !c.has(ch.Path, ch.Old.Hash, asked && !c.leftOut(ch.Path, true))
	})
}

// hasStaged reports whether the newer checkpoint has every staged change.
func (c *comparison) hasStaged() bool {
	staged := c.older.tree("staged")
	if staged == c.newer.tree("staged") && c.older.head == c.newer.head {
		return true
	}
	changes, err := trees.Diff(c, c.olderHead, staged)
	return err == nil && !slices.ContainsFunc(changes, func(ch trees.Change) bool { return !c.has(ch.Path, ch.New.Hash, !c.leftOut(ch.Path, false)) })
}

// hasDeleted reports whether the newer checkpoint has every deleted file.
func (c *comparison) hasDeleted() bool {
	asked := c.newer.facts.Worktree
	return !slices.ContainsFunc(c.deleted(c.older), func(path string) bool { return !c.has(path, plumbing.ZeroHash, asked) })
}

// hasArtifacts reports whether the newer checkpoint left out no artifact of the older.
func (c *comparison) hasArtifacts() bool {
	artifacts := c.older.tree("artifacts")
	return artifacts.IsZero() || !slices.ContainsFunc(c.newer.facts.LeftOut(), func(s checkpoint.Skipped) bool {
		return !c.lookup(artifacts, s.Path).IsZero()
	})
}

// has reports whether the newer checkpoint has a version of a file, or was saved on a HEAD
// with another version. If the newer checkpoint is not complete, because it was not asked
// for such files or may have left the file out, its staged version counts only if it is
// equal.
func (c *comparison) has(path string, old plumbing.Hash, complete bool) bool {
	if !c.lookup(c.newer.tree("worktree"), path).IsZero() || !c.lookup(c.newer.tree("untracked"), path).IsZero() || slices.Contains(c.newer.facts.Deleted, path) {
		return true
	}
	staged, head := c.lookup(c.newer.tree("staged"), path), c.lookup(c.newerHead, path)
	committed := c.newerHead != c.olderHead && head != c.lookup(c.olderHead, path)
	if !complete {
		return committed || !staged.IsZero() && staged == old
	}
	return committed || staged != head
}

// leftOut reports whether a limit excluded a file from the newer checkpoint. If the file
// is not staged, it may be one of those that were not read in time.
func (c *comparison) leftOut(path string, unstaged bool) bool {
	return slices.ContainsFunc(c.newer.facts.LeftOut(), func(s checkpoint.Skipped) bool {
		return s.Path == path || unstaged && (s.Path == "." || s.Reason == checkpoint.OutOfTime)
	})
}

// lookup returns the hash of a file, or zero if it is missing.
func (c *comparison) lookup(tree plumbing.Hash, path string) plumbing.Hash {
	if tree.IsZero() {
		return plumbing.ZeroHash
	}
	_, hash, err := c.finder.Lookup(tree, path)
	if err != nil {
		return plumbing.ZeroHash
	}
	return hash
}
