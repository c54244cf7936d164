package repository

import (
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/gitstore/fsutil"
)

// UnderWay returns the operation in progress in this worktree, such as "merge", or "".
func (r Info) UnderWay() string {
	for _, b := range []struct{ file, what string }{
		{"rebase-merge", "rebase"},
		{"rebase-apply/applying", "am"},
		{"rebase-apply", "rebase"},
		{"MERGE_HEAD", "merge"},
		{"CHERRY_PICK_HEAD", "cherry-pick"},
		{"REVERT_HEAD", "revert"},
		{"sequencer", "cherry-pick"},
	} {
		if fsutil.Exists(filepath.Join(r.Dir, filepath.FromSlash(b.file))) {
			return b.what
		}
	}
	return ""
}

// MergeHeads returns the commits of a merge in progress.
func (r Info) MergeHeads() []string {
	data, err := os.ReadFile(filepath.Join(r.Dir, "MERGE_HEAD"))
	if err != nil {
		return nil
	}
	return strings.Fields(string(data))
}
