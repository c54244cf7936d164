package chain

import (
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/fsutil"
)

// hereFile returns the file that stores the result of Here: the id and a newline.
func (s *Chains) hereFile(i checkpoint.Issue) string {
	return filepath.Join(s.StateDir(), "here", i.RefName())
}

// Here returns the checkpoint of the issue whose files this worktree had last: the last one
// that was saved in this worktree, or of which every file was restored here. The files may
// have changed since, and the checkpoint may have been dropped. The id is empty if it is
// unknown, for example in a new worktree or if the file is invalid.
func (s *Chains) Here(i checkpoint.Issue) checkpoint.ID {
	data, err := os.ReadFile(s.hereFile(i))
	if err != nil {
		return ""
	}
	id, err := checkpoint.ParseID(strings.TrimSuffix(string(data), "\n"))
	if err != nil {
		return ""
	}
	return id
}

// SetHere records that this worktree has the files of a checkpoint. An empty id removes the
// record. The file is not synced to the disk: after a power loss, the former id or no id is
// read.
func (s *Chains) SetHere(i checkpoint.Issue, id checkpoint.ID) error {
	if id == "" {
		return fsutil.IgnoreMissing(os.Remove(s.hereFile(i)))
	}
	if s.Here(i) == id {
		return nil
	}
	return s.WriteUnsynced(s.hereFile(i), []byte(string(id)+"\n"))
}
