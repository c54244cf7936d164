package capture

import (
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// listFiles adds staged changes to the record's file list. A deleted file and an added
// file with the same blob form a rename.
func (snap *Snapshot) listFiles() {
	renamed := renames(snap.Changes)
	for _, c := range snap.Changes {
		if !c.New.Hash.IsZero() || !renamed[c.Path] {
			snap.addFile(c.Path, status(c, renamed[c.Path]), true)
		}
	}
	for i, e := range snap.Conflicts {
		if i == 0 || snap.Conflicts[i-1].Path != e.Path {
			snap.addFile(e.Path, "conflicted", false)
		}
	}
}

// renames returns old and new paths of renames. Each path belongs to at most one rename.
func renames(changes []trees.Change) map[string]bool {
	gone := map[plumbing.Hash][]string{}
	for _, c := range changes {
		if c.New.Hash.IsZero() {
			gone[c.Old.Hash] = append(gone[c.Old.Hash], c.Path)
		}
	}
	renamed := map[string]bool{}
	for _, c := range changes {
		if from := gone[c.New.Hash]; c.Old.Hash.IsZero() && len(from) > 0 {
			renamed[from[0]], renamed[c.Path] = true, true
			gone[c.New.Hash] = from[1:]
		}
	}
	return renamed
}

func (snap *Snapshot) addFile(path, status string, staged bool) {
	snap.Count++
	if len(snap.Files) < MaxListed {
		snap.Files = append(snap.Files, checkpoint.File{Path: path, Status: status, Staged: staged})
	}
}

func status(c trees.Change, renamed bool) string {
	switch {
	case c.New.Hash.IsZero():
		return "deleted"
	case c.Old.Hash.IsZero() && renamed:
		return "renamed"
	case c.Old.Hash.IsZero():
		return "added"
	case c.Old.Mode&0o170000 != c.New.Mode&0o170000:
		return "typechange"
	}
	return "modified"
}
