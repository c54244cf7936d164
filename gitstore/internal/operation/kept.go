package operation

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/repo"
)

// Kept returns the folder for files of the worktree that an operation sets aside. The folder is removed
// together with the entry.
func (l *Log) Kept(e *Entry) string {
	return filepath.Join(l.repo.StateDir(), "kept", strconv.Itoa(e.Number))
}

// MoveKept moves the files that an operation has set aside to another folder on the same file system,
// if there are any. ref is the name of the entry.
func MoveKept(r *repo.Repo, ref, to string) error {
	worktree, number, ok := parseName(ref)
	dir := r.WorktreeDir(worktree)
	if !ok || dir == "" {
		return nil
	}
	return fsutil.IgnoreMissing(os.Rename(filepath.Join(dir, "git-checkpoint", "kept", strconv.Itoa(number)), to))
}

// SweepKept removes the files that operations have set aside and whose entries are gone, in all
// worktrees. An entry is stored before its first file is set aside.
func (l *Log) SweepKept(ctx context.Context) error {
	common := os.DirFS(l.repo.Info.CommonDir)
	var folders []string
	for _, pattern := range []string{"git-checkpoint/kept/*", "worktrees/*/git-checkpoint/kept/*"} {
		found, err := fs.Glob(common, pattern)
		if err != nil {
			return err
		}
		folders = append(folders, found...)
	}
	if len(folders) == 0 {
		return nil
	}
	there, err := l.list(ctx, "")
	if err != nil {
		return err
	}
	var errs []error
	for _, folder := range folders {
		number, err := strconv.Atoi(path.Base(folder))
		if err != nil {
			continue
		}
		e := Entry{Worktree: repo.MainWorktree, Number: number}
		if rest, ok := strings.CutPrefix(folder, "worktrees/"); ok {
			name, _, _ := strings.Cut(rest, "/")
			e.Worktree = repo.LinkedWorktree(name)
		}
		if _, ok := there[e.Name()]; !ok {
			errs = append(errs, os.RemoveAll(filepath.Join(l.repo.Info.CommonDir, filepath.FromSlash(folder))))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("remove the files of former operations: %w", err)
	}
	return nil
}
