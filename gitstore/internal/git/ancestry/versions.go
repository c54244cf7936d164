package ancestry

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/gitstore/internal/git"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Version is the mode and the blob of a path in a commit. The zero Version means that the path
// was deleted.
type Version struct {
	Mode uint32
	Hash plumbing.Hash
}

const (
	maxCommits = 50_000
	maxTime    = 2 * time.Second
)

// Versions returns the versions that commits gave to each of the paths: the commits that are
// reachable from tip and not from except, which can be "". It fails after two seconds.
func (l Log) Versions(ctx context.Context, tip, except string, paths []string) (map[string]map[Version]bool, error) {
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	args := []string{"log", "--raw", "-z", "--no-abbrev", "--no-renames", "--root", "--format=", "--diff-merges=first-parent", "--ignore-submodules=none", "--max-count=" + strconv.Itoa(maxCommits), tip}
	if except != "" {
		args = append(args, "^"+except)
	}
	wanted, size := make(map[string]map[Version]bool, len(paths)), 0
	for _, path := range paths {
		wanted[path], size = map[Version]bool{}, size+len(path)+1
	}
	if args = append(args, "--"); size < maxArguments {
		args = append(args, paths...)
	}
	out, err := l.Git.With("GIT_LITERAL_PATHSPECS=1").Output(ctx, args...)
	if err != nil {
		return nil, err
	}
	fields := git.Fields(out)
	for i := 0; i+1 < len(fields); i++ {
		words := strings.Fields(fields[i]) // :<old mode> <new mode> <old blob> <new blob> <status>
		if len(words) == 0 {
			continue // between commits
		}
		if len(words) != 5 || words[0][0] != ':' {
			return nil, fmt.Errorf("git log: %q: want five fields", fields[i])
		}
		mode, err := strconv.ParseUint(words[1], 8, 32)
		if err != nil {
			return nil, fmt.Errorf("git log: %w", err)
		}
		if i++; wanted[fields[i]] != nil {
			wanted[fields[i]][Version{uint32(mode), plumbing.NewHash(words[3])}] = true
		}
	}
	return wanted, nil
}

// maxArguments limits the bytes of paths in a command line. All systems support this size.
const maxArguments = 16 << 10

// Renames returns the paths of commit before that commit now has under another name, with that
// name.
func (l Log) Renames(ctx context.Context, before, now string) (map[string]string, error) {
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	out, err := l.Git.With("GIT_NO_LAZY_FETCH=1").Output(ctx, "diff-tree", "-r", "-z", "-M", "--diff-filter=R", "--name-status", before, now)
	if err != nil {
		return nil, err
	}
	renames := map[string]string{}
	fields := git.Fields(out)
	for i := 0; i+2 < len(fields); i += 3 {
		renames[fields[i+1]] = fields[i+2]
	}
	return renames, nil
}
