package restore

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/internal/contents"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// An indexList has the entries of an index, sorted by path and stage. Each is a line of git
// ls-files -v -s with a letter, a mode, a hash, a stage, and after a tab the path:
//
//	H 100644 ce013625030ba8dba906f756967f9e9ca394464a 0	file
//
// The letter of a skip-worktree entry is S. That of an assume-unchanged entry is lower case. A line
// is parsed when a caller asks for its path.
type indexList []string

func pathOf(line string) string { return line[strings.IndexByte(line, '\t')+1:] }

func stageOf(line string) byte { return line[strings.IndexByte(line, '\t')-1] }

type indexEntry struct {
	stages         Stages
	sparse, assume bool // skip-worktree, assume-unchanged
}

// listIndex lists the entries of the index that g reads. With a few paths, it lists only their
// entries and those below them.
func listIndex(ctx context.Context, g git.Git, paths ...string) (indexList, error) {
	args := []string{"--literal-pathspecs", "ls-files", "-z", "-v", "-s", "--"}
	if len(paths) <= maxPathspecs { // git compares each entry with each path
		args = append(args, paths...)
	}
	out, err := g.Output(ctx, args...)
	if err != nil {
		return nil, err
	}
	list := indexList(git.Fields(out))
	if i := slices.IndexFunc(list, func(line string) bool { return strings.IndexByte(line, '\t') < len("H 100644 ") }); i >= 0 {
		return nil, fmt.Errorf("git ls-files said %q", list[i])
	}
	return list, nil
}

// maxPathspecs is the number of paths from which a whole list takes less time.
const maxPathspecs = 50

// from returns the number of the first line whose path sorts after a path or equals it.
func (x indexList) from(path string) int {
	i, _ := slices.BinarySearchFunc(x, path, func(line, path string) int { return strings.Compare(pathOf(line), path) })
	return i
}

// lookup returns the entry of a path, which has no stages if the index lacks the path.
func (x indexList) lookup(path string) (e indexEntry) {
	for _, line := range x[x.from(path):] {
		if pathOf(line) != path {
			break
		}
		words := strings.Fields(line)
		mode, _ := strconv.ParseUint(words[1], 8, 32)
		e.stages[stageOf(line)-'0'] = Side{Mode: uint32(mode), Hash: plumbing.NewHash(words[2])}
		e.sparse = e.sparse || line[0] == 'S' || line[0] == 's'
		e.assume = e.assume || line[0] >= 'a'
	}
	return e
}

// paths returns the paths with an entry in one of the stages, for example "123".
func (x indexList) paths(stages string) (paths []string) {
	for _, line := range x {
		if strings.IndexByte(stages, stageOf(line)) >= 0 {
			paths = append(paths, pathOf(line))
		}
	}
	return slices.Compact(paths)
}

func (x indexList) inside(dir string) (paths []string) {
	for _, line := range x[x.from(dir+"/"):] {
		if !strings.HasPrefix(pathOf(line), dir+"/") {
			break
		}
		paths = append(paths, pathOf(line))
	}
	return slices.Compact(paths)
}

// read reads the index, and compares it with HEAD.
func (a *lockedIndex) read(ctx context.Context) (err error) {
	if a.list, err = listIndex(ctx, a.git()); err != nil {
		return err
	}
	now, err := a.s.repo.ReadHead(ctx)
	if err != nil {
		return err
	}
	if a.head, err = a.s.repo.TreeOf(now); err != nil {
		return err
	}
	head := a.head
	if head.IsZero() {
		head = trees.Empty
	}
	out, err := a.git().Output(ctx, "diff-index", "--cached", "-z", "--raw", "--no-renames", "--no-abbrev", "--ignore-submodules=none", "--ita-invisible-in-index", head.String(), "--")
	if err != nil {
		return fmt.Errorf("compare HEAD with the index: %w", err)
	}
	if a.changes, _, err = git.ParseRaw(out); err != nil {
		return err
	}
	differs := map[string]plumbing.Hash{}
	for _, c := range a.changes {
		differs[c.Path] = c.New
	}
	find, empty := trees.Finder{Reader: a.s.objects}, " "+emptyBlob.String()+" 0\t"
	for _, line := range a.list { // a path of git add -N has an empty file, and git has compared HEAD as if it were missing
		if !strings.Contains(line, empty) {
			continue
		}
		path := pathOf(line)
		there, changed := differs[path]
		if !changed {
			if _, there, err = find.Lookup(a.head, path); err != nil {
				return err
			}
		}
		if there != emptyBlob {
			a.intended = append(a.intended, path)
		}
	}
	return nil
}

// git returns a git that reads the index, run from the worktree root.
func (a *lockedIndex) git() git.Git {
	return a.s.repo.RootGit().With("GIT_INDEX_FILE=" + a.file)
}

// lookup is lookup of the list, with the stage of a path of git add -N.
func (a *lockedIndex) lookup(path string) indexEntry {
	e := a.list.lookup(path)
	if _, intended := slices.BinarySearch(a.intended, path); intended {
		e.stages[0] = contents.Intended
	}
	return e
}

var emptyBlob = plumbing.ComputeHash(plumbing.BlobObject, nil)
