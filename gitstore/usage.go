package gitstore

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
)

// Usage is the room that an issue's checkpoints take.
type Usage struct {
	Issue       checkpoint.Issue
	Checkpoints int   // archived ones too
	Bytes       int64 // on disk, of what no branch, no tag and no remote-tracking branch holds
}

// Usage measures an issue, its archive included. Objects that several issues
// share count for each. It needs git 2.31, and reads every commit and tree.
func (s *Store) Usage(ctx context.Context, issue checkpoint.Issue) (Usage, error) {
	u := Usage{Issue: issue}
	args := []string{"rev-list", "--objects", "--disk-usage"}
	if s.Partial() {
		args = append(args, "--exclude-promisor-objects") // or it would fetch them
	}
	for ref, read := range map[string]func(context.Context, checkpoint.Issue, int) (*List, error){
		LiveRef(issue): s.List, ArchiveRef(issue): s.Archived,
	} {
		l, err := read(ctx, issue, 0)
		if err != nil {
			return u, err
		}
		if l.Tip.IsZero() {
			continue // git would not know the ref
		}
		u.Checkpoints += len(l.Checkpoints)
		args = append(args, ref)
	}
	out, err := s.git.Output(ctx, append(args, "--not", "--branches", "--tags", "--remotes")...)
	if err != nil {
		return u, fmt.Errorf("measure issue %s: %w", issue, err)
	}
	u.Bytes, err = strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	return u, err
}
