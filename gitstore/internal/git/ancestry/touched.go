package ancestry

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/gitstore/internal/git"
)

// ErrCut reports that a shallow clone lacks a part of the history between two commits.
var ErrCut = errors.New("the history since is cut by a shallow clone")

// Touched returns the paths that a commit between before and now has changed, even if a
// later commit has reverted the change. The commits are those that now contains and
// before does not. If before is "", for an unborn branch, they are all commits of now.
// Paths are relative to the directory of l.Git.
//
// If now does not descend from before, as after a rebase or an amend, Touched skips commits
// with an equivalent commit in before, and changes to a version that a commit of before
// made too. It skips nothing if there are more than maxCompared commits.
//
// For a merge commit, Touched compares the merge with each parent that descends from
// before. If the branches have diverged, it uses parents that descend from a merge base.
// The commits of merged branches are compared separately.
func (l Log) Touched(ctx context.Context, before, now string, paths []string) (map[string]bool, error) {
	if before == now || now == "" || len(paths) == 0 {
		return nil, nil
	}
	if before == "" {
		commits, err := l.list(ctx, now)
		if err != nil {
			return nil, err
		}
		return l.changed(ctx, pairs(commits, nil), paths, nil)
	}
	bases, err := l.bases(ctx, before, now)
	if err != nil {
		return nil, err
	}
	if len(bases) == 1 && bases[0] == before {
		commits, err := l.list(ctx, before+".."+now)
		if err != nil {
			return nil, err
		}
		return l.changed(ctx, pairs(commits, bases), paths, nil)
	}
	return l.touchedApart(ctx, before, now, bases, paths)
}

// touchedApart is Touched if now does not descend from before.
func (l Log) touchedApart(ctx context.Context, before, now string, bases, paths []string) (map[string]bool, error) {
	counts, err := l.counts(ctx, "--left-right", before+"..."+now)
	if err != nil {
		return nil, err
	}
	args, own := []string{"--right-only", before + "..." + now}, map[version]bool{}
	if counts[0]+counts[1] <= maxCompared {
		args = append(args, "--cherry-pick")
		left, err := l.list(ctx, "--left-only", before+"..."+now)
		if err != nil {
			return nil, err
		}
		versions, err := l.versions(ctx, pairs(left, bases), paths)
		if err != nil {
			return nil, err
		}
		for _, v := range versions {
			own[v] = true
		}
	}
	commits, err := l.list(ctx, args...)
	if err != nil {
		return nil, err
	}
	return l.changed(ctx, pairs(commits, bases), paths, own)
}

// bases returns the best common ancestors of two commits.
func (l Log) bases(ctx context.Context, before, now string) ([]string, error) {
	out, err := l.Git.Output(ctx, "merge-base", "--all", before, now)
	switch {
	case err == nil:
		return strings.Fields(string(out)), nil
	case git.Code(err) != 1:
		return nil, err
	case l.Shallow:
		return nil, ErrCut
	}
	return nil, nil
}

// list returns commits with their parents, parents first.
func (l Log) list(ctx context.Context, args ...string) ([][]string, error) {
	out, err := l.Git.Output(ctx, append([]string{"rev-list", "--parents", "--topo-order", "--reverse"}, args...)...)
	if err != nil {
		return nil, err
	}
	cut, err := l.boundary(ctx)
	if err != nil {
		return nil, err
	}
	var commits [][]string
	for line := range strings.Lines(string(out)) {
		commit := strings.Fields(line)
		if cut[commit[0]] {
			return nil, ErrCut
		}
		commits = append(commits, commit)
	}
	return commits, nil
}

// boundary returns the commits whose parents are missing in a shallow clone.
func (l Log) boundary(ctx context.Context) (map[string]bool, error) {
	if !l.Shallow {
		return nil, nil
	}
	dir, err := l.Git.Line(ctx, "rev-parse", "--git-common-dir")
	if err != nil {
		return nil, err
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(l.Git.Dir, dir)
	}
	data, err := os.ReadFile(filepath.Join(dir, "shallow"))
	if err != nil {
		return nil, fmt.Errorf("read boundary of the shallow clone: %w", err)
	}
	cut := map[string]bool{}
	for _, hash := range strings.Fields(string(data)) {
		cut[hash] = true
	}
	return cut, nil
}

// pairs returns input lines for git diff-tree: a commit and a parent, or a root commit.
// In commits, each commit comes after its parents.
func pairs(commits [][]string, bases []string) string {
	descends := map[string]bool{}
	for _, base := range bases {
		descends[base] = true
	}
	var b strings.Builder
	for _, commit := range commits {
		hash, parents := commit[0], commit[1:]
		for _, parent := range parents {
			descends[hash] = descends[hash] || descends[parent]
			if len(parents) == 1 || descends[parent] {
				fmt.Fprintf(&b, "%s %s\n", hash, parent)
			}
		}
		if len(parents) == 0 {
			fmt.Fprintln(&b, hash)
		}
	}
	return b.String()
}

// maxArguments limits the bytes of paths in a command line. All systems support this
// size.
const maxArguments = 16 << 10

// changed returns the paths of which a pair has a new version other than those in own.
func (l Log) changed(ctx context.Context, pairs string, paths []string, own map[version]bool) (map[string]bool, error) {
	versions, err := l.versions(ctx, pairs, paths)
	if err != nil {
		return nil, err
	}
	touched := map[string]bool{}
	for _, v := range versions {
		if !own[v] {
			touched[v.path] = true
		}
	}
	return touched, nil
}

// A version is the mode and the blob of a path in a commit, as git diff-tree prints them.
type version struct{ path, mode, blob string }

// versions returns the new versions of the paths that differ in a pair.
func (l Log) versions(ctx context.Context, pairs string, paths []string) ([]version, error) {
	args := []string{"diff-tree", "--stdin", "--root", "-r", "--no-renames", "--no-commit-id", "--ignore-submodules=none", "--raw", "--no-abbrev", "-z"}
	wanted, size := make(map[string]bool, len(paths)), 0
	for _, path := range paths {
		wanted[path], size = true, size+len(path)+1
	}
	if size < maxArguments {
		args = append(append(args, "--"), paths...)
	}
	g := l.Git.With("GIT_LITERAL_PATHSPECS=1")
	out, err := g.Pipe(ctx, []byte(pairs), args...)
	if err != nil {
		return nil, err
	}
	var list []version
	fields := git.Fields(out)
	for i := 0; i+1 < len(fields); i += 2 {
		words := strings.Fields(fields[i]) // :<old mode> <new mode> <old blob> <new blob> <status>
		if len(words) != 5 {
			return nil, fmt.Errorf("git diff-tree: %q: want five fields", fields[i])
		}
		if path := fields[i+1]; wanted[path] {
			list = append(list, version{path, words[1], words[3]})
		}
	}
	return list, nil
}
