package capture

import (
	"context"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/git"
)

// Uncovered returns the files that differ from HEAD, including untracked files, and those
// of them that a checkpoint does not contain.
func (s *Capturer) Uncovered(ctx context.Context, r *checkpoint.Record) (changed, uncovered []string, err error) {
	g := s.Git
	g.Dir = s.Info.Root
	out, err := g.Output(ctx, "status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=all")
	if err != nil {
		return nil, nil, err
	}
	have := map[string]bool{}
	for _, f := range r.Files() {
		have[f.Path] = true
	}
	for _, line := range git.Fields(out) {
		if len(line) > 3 {
			changed = append(changed, line[3:])
		}
	}
	uncovered = slices.DeleteFunc(slices.Clone(changed), func(path string) bool { return have[path] })
	return changed, uncovered, nil
}
