package snapshot

import (
	"context"
	"errors"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/index"

	"github.com/go-git/go-git/v5/plumbing"
)

// OutOfTime is the reason for files skipped after the time limit.
const OutOfTime = checkpoint.OutOfTime

// MaxCompared is the number of changes up to which git is not asked.
const MaxCompared = maxCompared

// CompareFiles returns the status letters and paths of files that differ from the index by
// their stat data. It returns false if git has to compare the files.
func CompareFiles(root, index string, config []git.ConfigEntry) ([]string, bool, error) {
	s := &Source{Root: root, Index: index, Config: config, cache: newStatCache()}
	c, done, err := s.openComparison()
	if err != nil {
		return nil, false, err
	}
	defer done()
	changes, err := c.compareFiles(context.Background())
	var list []string
	for _, c := range changes {
		list = append(list, map[string]string{"modified": "M", "typechange": "T", "deleted": "D"}[c.status]+" "+c.Path)
	}
	return list, !errors.Is(err, errAskGit), err
}

// Trusts reports whether the stat data of an unchanged regular file is trusted, if the
// index was written at a time.
func Trusts(e index.Entry, stat index.Stat, written time.Time) bool {
	c := &comparison{written: written, empty: plumbing.ComputeHash(plumbing.BlobObject, nil)}
	return c.trusts(&e, stat, e.Mode)
}

// Caches reports whether the stat cache accepts a file with these stat data if it is read
// after a moment.
func Caches(stat index.Stat, before time.Time) bool {
	c := newStatCache()
	c.ticked = before
	c.add("file", stat, 1, plumbing.Hash{1})
	return len(c.added) == 1
}

// CachedPaths returns the paths of a stat cache, nil if its form is not valid.
func CachedPaths(file string) []string {
	c := newStatCache()
	c.path = file
	var paths []string
	for i := range c.entries() {
		paths = append(paths, string(c.name(i)))
	}
	return paths
}
