package chain

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/fsutil"
)

// sourcesFile returns the file with the result of Sources, one id a line.
func (s *Chains) sourcesFile(i checkpoint.Issue) string {
	return filepath.Join(s.repo.StateDir(), "sources", i.RefName())
}

// Sources returns the checkpoints of which this worktree got some files since its last save: by a
// restore of some paths, by a restore that left others, or by the adoption of a fork. The next save
// names them in restored_from.
func (s *Chains) Sources(i checkpoint.Issue) (ids []checkpoint.ID) {
	data, _ := os.ReadFile(s.sourcesFile(i))
	for line := range strings.Lines(string(data)) {
		if id, err := checkpoint.ParseID(strings.TrimSuffix(line, "\n")); err == nil && len(ids) < checkpoint.MaxAfter {
			ids = append(ids, id)
		}
	}
	return ids
}

// AddSource adds a checkpoint to Sources. The file is not synced to the disk: after a power loss,
// blame can attribute these files to the next save.
func (s *Chains) AddSource(i checkpoint.Issue, id checkpoint.ID) error {
	ids := slices.DeleteFunc(s.Sources(i), func(other checkpoint.ID) bool { return other == id })
	text := string(id) + "\n"
	for _, id := range ids {
		text += string(id) + "\n"
	}
	return s.repo.WriteUnsynced(s.sourcesFile(i), []byte(text))
}

// ForgetSources removes the result of Sources, after a save.
func (s *Chains) ForgetSources(i checkpoint.Issue) error {
	return fsutil.IgnoreMissing(os.Remove(s.sourcesFile(i)))
}
