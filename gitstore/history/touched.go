package history

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/gitstore/gitcmd"
)

// ErrCut reports that the history between two commits is not all here: the
// clone is shallow.
var ErrCut = errors.New("the history since is cut by a shallow clone")

// Touched returns the paths that a commit between before and now has changed,
// also if a later commit has changed them back. These commits are the ones that
// now has and before does not, or all of them if before is "", for an unborn
// branch. If now does not descend from before, a commit with the same changes as
// one of before's does not count. Paths are relative to the directory of l.Git.
//
// A merge counts by its difference to each parent that descends from before,
// or, for unrelated branches, from their merge bases: that is how the branch
// of before has seen the merge. Commits of merged branches count themselves.
func (l Log) Touched(ctx context.Context, before, now string, paths []string) (map[string]bool, error) {
	if before == now || now == "" || len(paths) == 0 {
		return nil, nil
	}
	if before == "" {
		commits, err := l.list(ctx, now)
		if err != nil {
			return nil, err
		}
		return l.changed(ctx, pairs(commits, nil), paths)
	}
	bases, err := l.bases(ctx, before, now)
	if err != nil {
		return nil, err
	}
	commits, err := l.since(ctx, before, now, len(bases) == 1 && bases[0] == before)
	if err != nil {
		return nil, err
	}
	return l.changed(ctx, pairs(commits, bases), paths)
}

// bases returns the best common ancestors of two commits.
func (l Log) bases(ctx context.Context, before, now string) ([]string, error) {
	out, err := l.Git.Output(ctx, "merge-base", "--all", before, now)
	switch {
	case err == nil:
		return strings.Fields(string(out)), nil
	case gitcmd.Code(err) != 1:
		return nil, err
	case l.Shallow:
		return nil, ErrCut
	}
	return nil, nil
}

// since lists the commits that now has and before does not.
func (l Log) since(ctx context.Context, before, now string, descends bool) ([][]string, error) {
	args := []string{"--right-only", before + "..." + now}
	if !descends {
		if counts, err := l.counts(ctx, "--left-right", before+"..."+now); err != nil {
			return nil, err
		} else if counts[0]+counts[1] <= maxCompared {
			args = append(args, "--cherry-pick")
		}
	}
	return l.list(ctx, args...)
}

// list lists commits, parents first, each with its parents.
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

// boundary returns the commits whose parents a shallow clone does not have.
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

// pairs lists what to compare, as lines for git diff-tree: a commit and one
// parent, or a commit without parents. Commits come with their parents, parents
// first.
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

// maxArguments bounds the paths that are given to git, in bytes: all systems
// take that many.
const maxArguments = 16 << 10

// changed returns those of paths that differ in one of the pairs.
func (l Log) changed(ctx context.Context, pairs string, paths []string) (map[string]bool, error) {
	args := []string{"diff-tree", "--stdin", "--root", "-r", "--no-renames", "--no-commit-id", "--ignore-submodules=none", "--name-only", "-z"}
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
	touched := map[string]bool{}
	for _, path := range gitcmd.Fields(out) {
		if wanted[path] {
			touched[path] = true
		}
	}
	return touched, nil
}
