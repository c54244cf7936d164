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

	"git-checkpoint/gitstore/checkpoint"
)

// Kept returns the folder for files of the worktree that an operation sets aside. A number that has
// no entry any more has no folder either.
func (l *Log) Kept(e *Entry) string {
	return filepath.Join(l.repo.StateDir(), "kept", strconv.Itoa(e.Number))
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
		e := Entry{Worktree: mainWorktree, Number: number}
		if rest, ok := strings.CutPrefix(folder, "worktrees/"); ok {
			name, _, _ := strings.Cut(rest, "/")
			e.Worktree = refOfWorktree(name)
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

// mainWorktree is the name of the main worktree in refs.
const mainWorktree = "_main"

// refOfWorktree returns the name in refs of a folder below worktrees/ (Repo.WorktreeName).
func refOfWorktree(name string) string { return "w-" + checkpoint.Issue(name).RefName() }
