package restore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/trees"
)

// A Look lists the files of a worktree that differ from the index, and the untracked ones, at its
// first use. Plans of one command share it. A plan reads the present content of each file anyway.
type Look struct {
	first     sync.Once
	modified  []string // tracked files that may differ from the index
	untracked []string // untracked files that git does not ignore
	err       error
}

// lists returns the lists of files.
func (s *worktree) lists(ctx context.Context) (modified, untracked []string, err error) {
	l := s.look
	l.first.Do(func() {
		var more sync.WaitGroup
		var others []byte
		var failed error
		more.Go(func() {
			others, failed = s.repo.RootGit().Output(ctx, "ls-files", "--others", "--exclude-standard", "-z")
		})
		out, err := s.repo.RootGit().Output(ctx, "diff-files", "-0", "-z", "--raw", "--no-renames", "--ignore-submodules=dirty")
		more.Wait()
		changes, _, parsed := git.ParseRaw(out)
		if l.err = cmp.Or(err, failed, parsed); l.err != nil {
			l.err = fmt.Errorf("list modified and untracked files: %w", l.err)
		}
		for _, c := range changes {
			if c.OldMode != trees.ModeGitlink {
				l.modified = append(l.modified, c.Path)
			}
		}
		l.untracked = git.Fields(others)
	})
	return slices.Clone(l.modified), slices.Clone(l.untracked), l.err
}
