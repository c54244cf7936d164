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
func (a *lockedIndex) hash(ctx context.Context, paths []string) (map[string]plumbing.Hash, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	in := a.s.in
	var left, refused []string
	for _, path := range paths {
		if _, info := in.regular(path); info != nil {
			left = append(left, path)
		}
	}
	hashes, err := a.git().HashFiles(ctx, left, false)
	if err != nil {
		return nil, err
	}
	for _, path := range left {
		if hashes[path].IsZero() {
			refused = append(refused, path)
		}
	}
	return hashes, a.addConverted(ctx, in, hashes, refused)
}

// regular returns the place of a regular file and its stat data, or nil.
func (p *places) regular(path string) (place, fs.FileInfo) {
	pl, err := p.open(path, false)
	if err != nil {
		return pl, nil
	}
	info, err := pl.dir.Lstat(pl.name)
	if err != nil || !info.Mode().IsRegular() {
		return pl, nil
	}
	return pl, info
}

// addConverted corrects the hashes of tracked files that git converts. Git adds these files to a copy
// of the index, because git add uses their entries and git hash-object does not. Git add keeps
// carriage returns if the staged content has them. If the stat data of a file and its entry are
// equal, git add runs no filter, which could fail or give other content. addConverted does not add
// other files: settings and flags of the index can hide their changes from git add. refused are the
// files for which git hash-object fails.
func (a *lockedIndex) addConverted(ctx context.Context, in *places, hashes map[string]plumbing.Hash, refused []string) error {
	var converted []string
	for path, hash := range hashes {
		e := a.lookup(path)
		if !e.stages[0].IsRegular() || e.stages[0].Hash == hash || e.sparse || e.assume {
			continue
		}
		pl, info := in.regular(path)
		if info == nil {
			continue
		}
		if d, err := hashDisk(pl, info); err == nil && d.hash != hash {
			converted = append(converted, path)
		}
	}
	refused = slices.DeleteFunc(refused, func(path string) bool {
		e := a.lookup(path)
		return !e.stages[0].IsRegular() || e.sparse || e.assume
	})
	if len(converted)+len(refused) == 0 {
		return nil
	}
	dir, err := os.MkdirTemp("", "git-checkpoint-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "index")
	if err := fsutil.CopyWithTime(a.file, file); err != nil {
		return fmt.Errorf("copy index: %w", err)
	}
	g := a.git().OnIndex(file, a.s.repo.Config...)
	g.Settings = append(g.Settings, "core.trustctime=true", "core.checkStat=default")
	var added []string
	for _, paths := range append(slices.Collect(slices.Chunk(refused, 1)), converted) {
		// If the filter of a file fails again, git does not write the copy.
		if _, err := g.Pipe(ctx, []byte(strings.Join(paths, "\x00")), "update-index", "-z", "--info-only", "--stdin"); err == nil {
			added = append(added, paths...)
		}
	}
	if len(added) == 0 {
		return ctx.Err()
	}
	list, err := listIndex(ctx, g, added...)
	for _, path := range added {
		if e := list.lookup(path).stages[0]; e != (Side{}) {
			hashes[path] = e.Hash
		}
	}
	return err
}
