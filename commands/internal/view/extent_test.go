package view

import (
	"testing"

	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
)

// stored returns a snapshot as a record returns it.
func stored(s checkpoint.Snapshot) checkpoint.Snapshot {
	r := checkpoint.New()
	r.SetSnapshot(s)
	return r.Snapshot()
}

func TestExtent(t *testing.T) {
	t.Parallel()
	skipped := []checkpoint.Skipped{{Path: "a", Class: checkpoint.InIndex}, {Path: "b", Class: checkpoint.InUntracked}}
	for want, s := range map[string]checkpoint.Snapshot{
		"staged, modified, untracked files":             stored(checkpoint.Snapshot{Worktree: true, Untracked: true}),
		"some staged, modified, some untracked files":   stored(checkpoint.Snapshot{Worktree: true, Untracked: true, Skipped: skipped}),
		"staged, modified files; no untracked files":    stored(checkpoint.Snapshot{Worktree: true}),
		"staged files; no modified, no untracked files": stored(checkpoint.Snapshot{}),
		"staged, modified, untracked files; it does not state which files it left out, since an earlier version saved it": {Worktree: true, Untracked: true},
	} {
		assert.Equal(t, want, ExtentText(s))
	}
}

func TestListLeftOutNamesEachPathOnce(t *testing.T) {
	t.Parallel()
	list := ListLeftOut(checkpoint.Snapshot{Skipped: []checkpoint.Skipped{
		{Path: "lib/", Reason: "a repository", Class: checkpoint.InWorktree},
		{Path: "big", Size: 9, Reason: "too large", Class: checkpoint.InUntracked},
		{Path: "lib/", Reason: "a repository", Class: checkpoint.InUntracked},
		{Path: "old", Reason: "saved by an earlier version"},
	}})
	assert.Equal(t, []LeftOutLine{
		{"lib/", "modified, untracked: a repository", 0}, {"big", "untracked: too large", 9}, {"old", "saved by an earlier version", 0},
	}, list)
}
