package treediff

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/internal/git"
)

// Lines counts added and deleted lines of a file.
type Lines struct {
	Added, Deleted int
}

// Lines returns line counts by path, as git diff --numstat does. Binary files are
// omitted.
func (b *Diff) Lines(ctx context.Context) (map[string]Lines, error) {
	if b.from == b.to {
		return nil, nil
	}
	args := []string{"-c", "core.bigFileThreshold=" + maxPatched, "diff-tree", "-r", "-z", "-M", "--numstat", b.from.String(), b.to.String(), "--"}
	out, err := b.plumbing().Output(ctx, append(args, b.paths...)...)
	if err != nil {
		return nil, fmt.Errorf("count lines: %w", err)
	}
	return parseLines(git.Fields(out))
}

// parseLines parses "<added> TAB <deleted> TAB <path>". If the path is empty, two paths
// of a rename follow. Binary files have "-" as numbers.
func parseLines(fields []string) (map[string]Lines, error) {
	counts := map[string]Lines{}
	for len(fields) > 0 {
		parts := strings.SplitN(fields[0], "\t", 3)
		if len(parts) != 3 || parts[2] == "" && len(fields) < 3 {
			return nil, fmt.Errorf("count lines: git diff-tree said %q", fields[0])
		}
		path := parts[2]
		if fields = fields[1:]; path == "" {
			path, fields = fields[1], fields[2:]
		}
		if parts[0] == "-" {
			continue
		}
		added, err := strconv.Atoi(parts[0])
		deleted, err2 := strconv.Atoi(parts[1])
		if err != nil || err2 != nil {
			return nil, fmt.Errorf("count lines: git diff-tree said %q", parts)
		}
		counts[path] = Lines{added, deleted}
	}
	return counts, nil
}
