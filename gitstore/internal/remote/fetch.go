package remote

import (
	"context"
	"fmt"
	"slices"

	"git-checkpoint/gitstore/internal/git"
)

// fetch fetches remote refs to new local refs; each refspec is "<remote>:<local>". Depth
// 0 means full history.
func (l *Conn) fetch(ctx context.Context, depth int, refspecs []string) error {
	args := []string{"fetch", "--quiet", "--no-tags", "--no-prune", "--no-auto-gc", "--recurse-submodules=no", "--refmap="}
	if depth > 0 {
		args = append(args, fmt.Sprintf("--depth=%d", depth))
	}
	tail := append([]string{"--", l.from}, refspecs...)
	_, err := l.run(ctx, slices.Concat(args, []string{"--no-write-fetch-head"}, tail)...)
	if git.Code(err) == gitUsage { // git before 2.29
		_, err = l.run(ctx, slices.Concat(args, tail)...)
	}
	return err
}

// gitUsage is git's exit status for unknown options.
const gitUsage = 129

// Commits fetches refs to the same names, without trees and blobs if the remote supports
// filters.
func (l *Conn) Commits(ctx context.Context, refs []string) error {
	args := []string{"fetch", "--quiet", "--no-tags", "--no-auto-gc", "--recurse-submodules=no", "--refmap=", "--filter=tree:0", "--", l.from}
	for _, ref := range refs {
		args = append(args, ref+":"+ref)
	}
	_, err := l.run(ctx, args...)
	return err
}
