package restore

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/gitstore/fsutil"

	"github.com/go-git/go-git/v5/plumbing"
)

// hash returns the blobs that git add would make of files in the worktree. The hash of a file that
// is not regular or that git cannot read is zero, for example if a required filter fails.
//
// Git hash-object does not use the entries of the index, and git add does. Git add keeps carriage returns if
// the staged content has them. If the stat data of a file and its entry are equal, git add runs no filter. So
// git adds tracked files that it converts to a copy of the index. Settings and flags of the index can hide
// changes of other files from git add.
func (a *lockedIndex) hash(ctx context.Context, paths []string) (map[string]plumbing.Hash, error) {
	var failed error
	paths = slices.DeleteFunc(slices.Clone(paths), func(path string) bool {
		_, info, err := a.s.in.regular(path)
		if passing(err) {
			failed = err
		}
		return info == nil
	})
	if failed != nil || len(paths) == 0 {
		return nil, failed
	}
	hashes, err := a.git().HashFiles(ctx, paths, false)
	if err != nil {
		return nil, err
	}
	var converted []string
	var toAdd [][]string
	for _, path := range paths {
		hash, e := hashes[path], a.lookup(path)
		if !e.stages[0].IsRegular() || e.sparse || e.assume || e.stages[0].Hash == hash {
			continue
		}
		if hash.IsZero() { // git add can fail for it as well
			toAdd = append(toAdd, []string{path})
		} else if pl, info, _ := a.s.in.regular(path); info != nil {
			if d, _, err := readDisk(pl, false); err == nil && d.Hash != hash {
				converted = append(converted, path)
			}
		}
	}
	if len(converted) > 0 {
		toAdd = append(toAdd, converted)
	}
	if len(toAdd) == 0 {
		return hashes, nil
	}
	dir, err := os.MkdirTemp("", "git-checkpoint-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "index")
	if err := fsutil.CopyWithTime(a.file, file); err != nil {
		return nil, fmt.Errorf("copy index: %w", err)
	}
	g := a.git().OnIndex(file, a.s.repo.Config...)
	g.Settings = append(g.Settings, "core.trustctime=true", "core.checkStat=default")
	var added []string
	for _, paths := range toAdd {
		// If the filter of a file fails again, git does not write the copy.
		if _, err := g.Pipe(ctx, []byte(strings.Join(paths, "\x00")), "update-index", "-z", "--info-only", "--stdin"); err == nil {
			added = append(added, paths...)
		}
	}
	if len(added) == 0 {
		return hashes, ctx.Err()
	}
	list, err := listIndex(ctx, g, added...)
	for _, path := range added {
		if e := list.lookup(path).stages[0]; e != (Side{}) {
			hashes[path] = e.Hash
		}
	}
	return hashes, err
}

// regular returns the place of a regular file and its stat data, or nil.
func (p *places) regular(path string) (pl place, info fs.FileInfo, err error) {
	if pl, err = p.open(path, false); err == nil {
		info, err = pl.dir.Lstat(pl.name)
	}
	if err != nil || !info.Mode().IsRegular() {
		return pl, nil, err
	}
	return pl, info, nil
}
