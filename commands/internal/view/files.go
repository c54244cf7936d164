package view

import (
	"fmt"
	"slices"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
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
	add := func(paths []string, kind, what string) {
		for _, p := range paths {
			files = append(files, RestoredFile{Path: p, Kind: kind, What: what})
		}
	}
	gone := Set(done.Removed)
	for _, p := range done.Restored {
		if gone[p] {
			add([]string{p}, FileRemoved, removed)
		} else {
			add([]string{p}, FileRestored, restored)
		}
	}
	add(done.Skipped, FileLeft, LeftSince)
	add(done.InTheWay, FileInTheWay, LeftInTheWay)
	for _, p := range done.Others {
		id := done.Sessions[p]
		add([]string{p}, FileLeft, fmt.Sprintf("changed by another session in this worktree, %s, left as it is", SessionName(id, agent(id))))
	}
	add(done.Unsaved, FileLeft, "changed since and not in the checkpoint, left as it is")
	add(Without(done.Committed, done.Skipped), FileLeft, "changed by a commit since, left as it is")
	add(done.Sparse, FileLeft, LeftSparse)
	add(Without(done.Later, done.Restored), FileLater, "came later")
	add(done.Merged, FileConflicts, HasConflicts)
	return files
}

// Without returns the paths that others lack.
func Without(paths, others []string) []string {
	known := Set(others)
	return slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return known[p] })
}

// Texts about the files of a restore.
const (
	LeftSince    = "changed since, left as it is"
	LeftInTheWay = "in the way, left as it is"
	LeftSparse   = "outside the sparse checkout or marked skip-worktree, not written"
	HasConflicts = "conflicts to resolve"
)

// ScopeText describes which files a save captured.
func ScopeText(s checkpoint.Snapshot) string {
	text := "staged, modified, untracked files"
	switch s.Scope {
	case checkpoint.ScopeStaged:
		text = "staged files; other files as they were saved before"
	case checkpoint.ScopeCut:
		text = "the files that were read in time; other files as they were saved before"
	}
	if len(s.Skipped) > 0 && s.Scope != checkpoint.ScopeCut {
		text += "; some were left out"
	}
	return text
}

// WhyLeftOut returns the reason why a save did not capture a path, and the checkpoint whose version
// the state has instead.
func WhyLeftOut(f checkpoint.Skipped) string { return f.Reason + CarriedText(f) }

// CarriedText returns "; as in <id>" for a path whose version in the state comes from a checkpoint.
func CarriedText(f checkpoint.Skipped) string {
	if f.CarriedFrom == "" {
		return ""
	}
	return "; as in " + Clean(string(f.CarriedFrom))
}
