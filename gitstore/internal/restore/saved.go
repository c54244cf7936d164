package restore

import (
	"slices"
	"strings"

	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// withSaved adds the newest checkpoint's versions to the targets of a checkpoint, and
// targets for files that only the newest checkpoint (s.Saved) changed. Both checkpoints
// have the same HEAD. No content is lost if a file of the newest checkpoint is replaced.
func (s *Worktree) withSaved(snap *Contents, targets []Target) ([]Target, error) {
	newest, err := Targets(s.Objects, s.Saved)
	if err != nil { // a damaged checkpoint does not block the others
		return targets, nil
	}
	at := map[string]int{}
	for i, t := range targets {
		at[t.Path] = i
	}
	e := earlier{find: &trees.Finder{Reader: s.Objects}, snap: snap, untracked: trees.HashOf(s.Saved.Entries, "untracked")}
	for i := range newest {
		saved := &newest[i]
		if n, ok := at[saved.Path]; ok {
			targets[n].saved = saved
			continue
		}
		t, ok, err := e.target(saved)
		if err != nil {
			return nil, err
		}
		if ok {
			targets = append(targets, t)
		}
	}
	slices.SortFunc(targets, func(a, b Target) int { return strings.Compare(a.Path, b.Path) })
	return targets, nil
}

// An earlier checkpoint has files that it did not change against its HEAD.
type earlier struct {
	find      *trees.Finder
	snap      *Contents
	untracked plumbing.Hash // untracked files of the newest checkpoint, as a tree
}

// target returns the target that reverts a change of the newest checkpoint alone. It
// returns false if the earlier checkpoint does not have the file's version.
func (e *earlier) target(saved *Target) (Target, bool, error) {
	facts := e.snap.Record.Snapshot()
	had, err := sideAt(e.find, e.snap.Staged, saved.Path)
	if err != nil || !facts.Worktree || !saved.Work || had.Mode == trees.ModeGitlink {
		return Target{}, false, err
	}
	if had.Mode == trees.ModeTree { // a file has replaced the directory
		had = Side{}
	}
	if facts.Lacks(saved.Path) {
		return Target{}, false, nil
	}
	if saved.Index && (saved.IndexWant[0] == intended || saved.IndexWant != merged(saved.IndexWant[0])) {
		return Target{}, false, nil // conflicts
	}
	if !saved.Index && saved.WorkBase == (Side{}) { // untracked, or an artifact
		f := Side{}
		if !e.untracked.IsZero() {
			f, err = sideAt(e.find, e.untracked, saved.Path)
		}
		if err != nil || f == (Side{}) || !facts.Untracked {
			return Target{}, false, err
		}
	}
	if had != (Side{}) {
		if had.Mode, err = canonical(had.Mode); err != nil {
			return Target{}, false, err
		}
	}
	return Target{
		Path: saved.Path, Index: saved.Index, IndexBase: saved.IndexBase, IndexWant: merged(had),
		Work: true, WorkBase: saved.WorkBase, WorkWant: had, saved: saved, onlySaved: true,
	}, true, nil
}

// isSaved reports whether a path has the newest checkpoint's content, and no commit has
// changed it since.
func (t Target) isSaved(s state) bool {
	if t.saved == nil || t.touched {
		return false
	}
	index := merged(t.saved.WorkBase)
	if t.saved.Index {
		index = t.saved.IndexWant
	}
	return (!t.Index || s.index == index) && (!t.Work || t.saved.Work && s.work == t.saved.WorkWant)
}
