package chain

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/fsutil"
)

// hereFile returns the file that stores the result of Heads, one id a line.
func (s *Chains) hereFile(i checkpoint.Issue) string {
	return filepath.Join(s.repo.StateDir(), "here", i.RefName())
}

// Here returns the checkpoint of the issue whose files this worktree had last: the last one
// that was saved in this worktree, or of which every file was restored here. The files may
// have changed since, and the checkpoint may have been dropped. The id is empty if it is
// unknown, for example in a new worktree or if the file is invalid.
func (s *Chains) Here(i checkpoint.Issue) checkpoint.ID {
	if heads := s.Heads(i); len(heads) > 0 {
		return heads[0]
	}
	return ""
}

// Heads returns the checkpoints that the files of this worktree come after. The first one is the
// checkpoint of Here. Restores since the last save add the others. The list is empty if nothing
// is known.
func (s *Chains) Heads(i checkpoint.Issue) []checkpoint.ID {
	data, err := os.ReadFile(s.hereFile(i))
	if err != nil {
		return nil
	}
	var heads []checkpoint.ID
	for line := range strings.Lines(string(data)) {
		id, err := checkpoint.ParseID(strings.TrimSuffix(line, "\n"))
		if err != nil || len(heads) == maxAfter {
			return nil
		}
		heads = append(heads, id)
	}
	return heads
}

// SetHere records that this worktree has the files of a checkpoint, and that it had those of
// before since its last save. Without an id it removes the record. The file is not synced to
// the disk: after a power loss, the former ids or none are read.
func (s *Chains) SetHere(i checkpoint.Issue, id checkpoint.ID, before ...checkpoint.ID) error {
	if id == "" {
		return fsutil.IgnoreMissing(os.Remove(s.hereFile(i)))
	}
	heads := append([]checkpoint.ID{id}, before...)
	heads = heads[:min(len(heads), maxAfter)]
	if slices.Equal(s.Heads(i), heads) {
		return nil
	}
	var text strings.Builder
	for _, id := range heads {
		text.WriteString(string(id) + "\n")
	}
	return s.repo.WriteUnsynced(s.hereFile(i), []byte(text.String()))
}
