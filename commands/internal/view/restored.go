package view

import (
	"fmt"

	"git-checkpoint/gitstore"
)

// Kinds of files in the result of a restore.
const (
	FileRestored  = "restored"
	FileRemoved   = "removed"
	FileLeft      = "left" // stays as it is
	FileInTheWay  = "in the way"
	FileConflicts = "conflicts"
	FileLater     = "later"
)

// A RestoredFile is a path in the result of a restore, or in the plan of a dry run.
type RestoredFile struct {
	Path, Kind string
	What       string // what happens to the path
}

// RestoredFiles returns the result of a restore for each path, in the order of output. agent returns
// the agent of a session.
func RestoredFiles(done *gitstore.Restored, dryRun bool, agent func(session string) string) (files []RestoredFile) {
	restored, removed := "restored", "removed"
	if dryRun {
		restored, removed = "would restore", "would remove"
	}
	gone := Set(done.Removed)
	for _, p := range done.Restored {
		if gone[p] {
			files = append(files, RestoredFile{Path: p, Kind: FileRemoved, What: removed})
		} else {
			files = append(files, RestoredFile{Path: p, Kind: FileRestored, What: restored})
		}
	}
	add := func(paths []string, kind, what string) {
		for _, p := range paths {
			files = append(files, RestoredFile{Path: p, Kind: kind, What: what})
		}
	}
	add(done.Skipped, FileLeft, LeftSince)
	add(done.InTheWay, FileInTheWay, LeftInTheWay)
	for _, p := range done.Others {
		id := done.Sessions[p]
		add([]string{p}, FileLeft, fmt.Sprintf("changed by another session in this worktree, %s, left as it is", SessionName(id, agent(id))))
	}
	add(done.Unsaved, FileLeft, LeftUnsaved)
	skipped := Set(done.Skipped)
	for _, p := range done.Committed {
		if !skipped[p] {
			add([]string{p}, FileLeft, LeftCommitted)
		}
	}
	add(done.Sparse, FileLeft, LeftSparse)
	all := Set(done.Restored)
	for _, p := range done.Later {
		if !all[p] {
			add([]string{p}, FileLater, CameLater)
		}
	}
	add(done.Merged, FileConflicts, HasConflicts)
	return files
}

// Texts about the files of a restore.
const (
	LeftSince     = "changed since, left as it is"
	LeftInTheWay  = "in the way, left as it is"
	LeftUnsaved   = "changed since and not in the checkpoint, left as it is"
	LeftCommitted = "changed by a commit since, left as it is"
	LeftSparse    = "outside the sparse checkout or marked skip-worktree, not written"
	CameLater     = "came later"
	HasConflicts  = "conflicts to resolve"
)
