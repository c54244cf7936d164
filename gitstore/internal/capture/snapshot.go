package capture

import (
	"fmt"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// MaxListed limits the paths in files_modified and in the list of skipped files. Trees
// contain all files.
const MaxListed = 1000

// A Snapshot is the captured state of a repository, as objects in a sink.
type Snapshot struct {
	*Area
	Entries []trees.Entry // staged/ and other entries beside checkpoint.yaml
	Facts   checkpoint.Snapshot
	Files   []checkpoint.File
	Count   int // total number of files, also if Files is truncated
}

// A Sink stores a snapshot's objects, and reads stored and added objects.
type Sink interface {
	trees.Reader
	trees.Adder
	Keep(plumbing.Hash) // makes an object written by others durable
}

// Begin starts the snapshot of an index. before is the staged tree of the chain's tip, or
// zero if the tip was saved at another HEAD. Objects of the tip are durable already.
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

// keep marks objects written by git as durable: blobs and trees missing from HEAD, or
// from the previous checkpoint.
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

// fewKept is the number of objects up to which marking them again is cheaper than a
// comparison with the tip.
const fewKept = 32

// addConflicts adds one tree for each stage of unmerged paths.
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
