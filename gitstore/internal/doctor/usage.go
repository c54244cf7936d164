package doctor

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/repo"
)

// A Usage is the disk space used by an issue's checkpoints.
type Usage struct {
	Issue       checkpoint.Issue
	Checkpoints int   // includes archived checkpoints
	Bytes       int64 // on disk, without objects that branches, tags or remote-tracking branches reach
}

// Usage measures the disk space of an issue with its archive. Objects that several issues
// share count for each issue. It requires git 2.31, and reads every commit and tree.
func (s *Doctor) Usage(ctx context.Context, issue checkpoint.Issue) (Usage, error) {
	u := Usage{Issue: issue}
	args := []string{"rev-list", "--objects", "--disk-usage"}
	if s.Partial() {
		args = append(args, "--exclude-promisor-objects") // otherwise git would fetch them
	}
	for ref, read := range map[string]func(context.Context, checkpoint.Issue, int) (*chain.List, error){
		repo.LiveRef(issue): s.List, repo.ArchiveRef(issue): s.Archived,
	} {
		l, err := read(ctx, issue, 0)
		if err != nil {
			return u, err
		}
		if l.Tip.IsZero() {
			continue // git would fail for an unknown ref
		}
		u.Checkpoints += len(l.Checkpoints)
		args = append(args, ref)
	}
	out, err := s.Git.Output(ctx, append(args, "--not", "--branches", "--tags", "--remotes")...)
	if err != nil {
		return u, fmt.Errorf("measure issue %s: %w", issue, err)
	}
	u.Bytes, err = strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	return u, err
}
