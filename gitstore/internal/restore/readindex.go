package restore

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/internal/contents"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/objectformat"
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

// Offsets in a line of an indexList.
const (
	modeAt  = len("H ")
	hashAt  = modeAt + len("100644 ")
	stageAt = hashAt + objectformat.HexSize + len(" ")
	pathAt  = stageAt + len("0\t")
)

// An indexEntry has the stages and the flags of a path in the index.
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
	for _, line := range list {
		if len(line) <= pathAt || line[pathAt-1] != '\t' || line[stageAt] < '0' || line[stageAt] > '3' {
			return nil, fmt.Errorf("git ls-files said %q", line)
		}
	}
	return list, nil
}

// maxPathspecs is the number of paths from which a whole list takes less time.
const maxPathspecs = 50

// from returns the number of the first line whose path sorts after a path or equals it.
func (x indexList) from(path string) int {
	i, _ := slices.BinarySearchFunc(x, path, func(line, path string) int { return strings.Compare(line[pathAt:], path) })
	return i
}

// lookup returns the entry of a path, which has no stages if the index lacks the path.
func (x indexList) lookup(path string) (e indexEntry) {
	for _, line := range x[x.from(path):] {
		if line[pathAt:] != path {
			break
		}
		mode, _ := strconv.ParseUint(line[modeAt:hashAt-1], 8, 32)
		e.stages[line[stageAt]-'0'] = Side{Mode: uint32(mode), Hash: plumbing.NewHash(line[hashAt : stageAt-1])}
		e.sparse = e.sparse || line[0] == 'S' || line[0] == 's'
		e.assume = e.assume || line[0] >= 'a'
	}
	return e
}

// paths returns the paths with an entry in one of the stages, for example "123".
func (x indexList) paths(stages string) (paths []string) {
	for _, line := range x {
		if strings.IndexByte(stages, line[stageAt]) >= 0 {
			paths = append(paths, line[pathAt:])
		}
	}
	return slices.Compact(paths)
}

// inside returns the paths below a directory.
func (x indexList) inside(dir string) (paths []string) {
	for _, line := range x[x.from(dir+"/"):] {
		if !strings.HasPrefix(line[pathAt:], dir+"/") {
			break
		}
		paths = append(paths, line[pathAt:])
	}
	return slices.Compact(paths)
}

// read reads the index.
func (a *lockedIndex) read(ctx context.Context) (err error) {
	if a.list, err = listIndex(ctx, a.git()); err != nil {
		return err
	}
	return a.findIntended(ctx)
}

// git returns a git that reads the index, run from the worktree root.
func (a *lockedIndex) git() git.Git {
	return a.s.inRoot().With("GIT_INDEX_FILE=" + a.file)
}

// lookup is lookup of the list, with the stage of a path of git add -N.
func (a *lockedIndex) lookup(path string) indexEntry {
	e := a.list.lookup(path)
	if _, intended := slices.BinarySearch(a.intended, path); intended {
		e.stages[0] = contents.Intended
	}
	return e
}

// emptyBlob is the hash of an empty file.
var emptyBlob = plumbing.ComputeHash(plumbing.BlobObject, nil)

// findIntended finds the paths of git add -N. Their entries have an empty file, and git compares
// HEAD with the index as if it lacked them.
func (a *lockedIndex) findIntended(ctx context.Context) error {
	var doubtful []string
	for _, line := range a.list {
		if line[stageAt] == '0' && line[hashAt:stageAt-1] == emptyBlob.String() {
			doubtful = append(doubtful, line[pathAt:])
		}
	}
	if len(doubtful) == 0 {
		return nil
	}
	changes, err := a.staged(ctx)
	if err != nil {
		return err
	}
	differs := make(map[string]trees.Change, len(changes))
	for _, c := range changes {
		differs[c.Path] = c
	}
	find := trees.Finder{Reader: a.s.objects}
	for _, path := range doubtful {
		c, changed := differs[path]
		there := c.New.Hash
		if !changed {
			if _, there, err = find.Lookup(a.head, path); err != nil {
				return err
			}
		}
		if there != emptyBlob { // HEAD has no such file
			a.intended = append(a.intended, path)
		}
	}
	return nil
}

// staged returns the differences between HEAD and the index. An unmerged path counts as removed,
// and so does a path of git add -N.
func (a *lockedIndex) staged(ctx context.Context) (changes []trees.Change, err error) {
	if a.compared {
		return a.changes, nil
	}
	if a.head, err = a.s.headTree(ctx); err != nil {
		return nil, err
	}
	head := a.head
	if head.IsZero() {
		head = trees.Empty
	}
	out, err := a.git().Output(ctx, "diff-index", "--cached", "-z", "--raw", "--no-renames", "--no-abbrev", "--ignore-submodules=none", "--ita-invisible-in-index", head.String(), "--")
	if err != nil {
		return nil, fmt.Errorf("compare HEAD with the index: %w", err)
	}
	changed, _, err := git.ParseRaw(out)
	for _, c := range changed {
		a.changes = append(a.changes, trees.Change{Path: c.Path, Old: trees.Entry{Mode: c.OldMode, Hash: c.Old}, New: trees.Entry{Mode: c.NewMode, Hash: c.New}})
	}
	a.compared = err == nil
	return a.changes, err
}
