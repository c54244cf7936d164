// Package capture takes what stands in a staging area and its worktree into
// trees, and says what it left out and why.
//
//	ReadArea   the staging area: its tree, what it changed, its conflicts
//	Area.Begin the snapshot of it: staged/ and conflicts/, and what of it has to last
//	Site.Take  with it, what was asked for: worktree/, untracked/ and artifacts/
//
// Nothing is written but to the sink, or by git where only git can store a file,
// through its filters. Where HEAD is, and what the record says of it, is the
// caller's matter.
package capture

import (
	"fmt"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// MaxListed is how many paths files_modified names, and how many of those that
// were left out. The trees hold them all.
const MaxListed = 1000

// A Snapshot is what was found in the repository, as objects in a sink.
type Snapshot struct {
	*Area
	Entries []trees.Entry // staged/ and what else stands beside checkpoint.yaml
	Facts   checkpoint.Snapshot
	Files   []checkpoint.File
	Count   int // of all files, also where Files is cut
}

// A Sink takes what a snapshot is made of, and reads back what is stored or was
// added.
type Sink interface {
	trees.Reader
	trees.Adder
	Keep(plumbing.Hash) // what others wrote has to last like what was added
}

// Begin begins the snapshot of a staging area. Before is what the tip has
// staged, zero where that was not saved on the same HEAD: what the tip has was
// made to last with it.
func (a *Area) Begin(k Sink, before plumbing.Hash) (*Snapshot, error) {
	if err := a.keep(k, before); err != nil {
		return nil, err
	}
	snap := &Snapshot{Area: a, Entries: []trees.Entry{{Mode: trees.ModeTree, Name: "staged", Hash: a.Staged}}}
	snap.Facts.IntentToAdd = a.IntentToAdd
	snap.addConflicts(k)
	snap.listFiles()
	return snap, nil
}

// keep takes note of what git wrote and the snapshot needs: blobs and trees
// that HEAD does not have, or that the one before does not have.
func (a *Area) keep(k Sink, before plumbing.Hash) error {
	if a.Staged == a.HeadTree || a.Staged == before {
		return nil
	}
	for _, hash := range a.made {
		k.Add(plumbing.TreeObject, a.drafts[hash])
	}
	changes := a.Changes
	if !before.IsZero() && len(changes)+len(a.others) > fewKept {
		var err error
		if changes, err = trees.DiffBetween(k, &reader{a, k, k.Keep}, before, a.Staged); err != nil {
			return err
		}
	} else {
		for _, hash := range a.others {
			k.Keep(hash)
		}
	}
	for _, c := range changes {
		if !c.New.Hash.IsZero() && c.New.Mode != trees.ModeGitlink {
			k.Keep(c.New.Hash)
		}
	}
	return nil
}

// fewKept is how many objects are rather made to last again than compared with
// those of the tip.
const fewKept = 32

// addConflicts keeps the stages of unmerged paths apart, one tree each.
func (snap *Snapshot) addConflicts(k Sink) {
	if len(snap.Conflicts) == 0 {
		return
	}
	var stages [4][]trees.FileEntry
	for _, e := range snap.Conflicts {
		stages[e.Stage] = append(stages[e.Stage], trees.FileEntry{Path: e.Path, Mode: uint32(e.Mode), Hash: e.Hash})
		k.Keep(e.Hash)
	}
	var entries []trees.Entry
	for stage := 1; stage <= 3; stage++ {
		if tree := trees.Build(k, stages[stage]); !tree.IsZero() {
			entries = append(entries, trees.Entry{Mode: trees.ModeTree, Name: fmt.Sprint(stage), Hash: tree})
		}
	}
	tree := k.Add(plumbing.TreeObject, trees.Encode(entries))
	snap.Entries = append(snap.Entries, trees.Entry{Mode: trees.ModeTree, Name: "conflicts", Hash: tree})
}
