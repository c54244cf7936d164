package ancestry

import (
	"context"
	"fmt"
	"maps"
	"strconv"
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
	changes, _, err := git.ParseRaw(out)
	if err != nil {
		return nil, fmt.Errorf("git log: %w", err)
	}
	for _, c := range changes {
		if wanted[c.Path] != nil {
			wanted[c.Path][Version{c.NewMode, c.New}] = true
		}
	}
	return wanted, nil
}

// maxArguments limits the bytes of paths in a command line. All systems support this size.
const maxArguments = 16 << 10

// Renames returns the paths of commit before that commit now has under another name, with that
// name. A file with several possible new names is not renamed: another new path has the content of
// its new name, or is as similar to the file.
func (l Log) Renames(ctx context.Context, before, now string) (map[string]string, error) {
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	pairs, err := l.pairs(ctx, "-M", before, now)
	if err != nil {
		return nil, err
	}
	renames, score, content, uses := map[string]string{}, map[string]int{}, map[string]plumbing.Hash{}, map[plumbing.Hash]int{}
	paths, size := []string{"--"}, 0
	for _, p := range pairs {
		uses[p.New]++
		paths, size = append(paths, p.Path), size+len(p.Path)+1
		if p.From != "" {
			renames[p.From], score[p.From], content[p.From] = p.Path, p.Score, p.New
			paths, size = append(paths, p.From), size+len(p.From)+1
		}
	}
	maps.DeleteFunc(renames, func(from, _ string) bool { return uses[content[from]] > 1 })
	if len(renames) == 0 || len(pairs) == 1 {
		return renames, nil
	}
	if size >= maxArguments {
		paths = nil
	}
	if pairs, err = l.pairs(ctx, "-C", before, now, paths...); err != nil {
		return nil, err
	}
	for _, p := range pairs {
		if to := renames[p.From]; to != "" && to != p.Path && p.Score >= score[p.From] {
			delete(renames, p.From)
		}
	}
	return renames, nil
}

// pairs returns the new paths of a commit, with the files that git takes them to come from. how is the option of git for finding their files.
func (l Log) pairs(ctx context.Context, how, before, now string, paths ...string) (found []git.RawChange, err error) {
	args := []string{"diff-tree", "-r", "-z", how, "--diff-filter=ACR", "--raw", "--no-abbrev", before, now}
	out, err := l.Git.With("GIT_NO_LAZY_FETCH=1", "GIT_LITERAL_PATHSPECS=1").Output(ctx, append(args, paths...)...)
	if err != nil {
		return nil, err
	}
	if found, _, err = git.ParseRaw(out); err != nil {
		return nil, fmt.Errorf("git diff-tree: %w", err)
	}
	return found, nil
}
