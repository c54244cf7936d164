package operation

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/repo"
)

// keptFolder holds a folder for each operation that sets files aside, named like the ref of its entry.
const keptFolder = "kept"

func keptOf(r *repo.Repo, ref string) string {
	return filepath.Join(r.NotePath(keptFolder), filepath.FromSlash(strings.TrimPrefix(ref, Refs)))
}

// Kept returns the folder for files of the worktree that an operation sets aside. The folder is removed
// together with the entry.
func (l *Log) Kept(e *Entry) string { return keptOf(l.repo, e.Name()) }

// MoveKept moves the files that an operation has set aside to another folder on the same file system,
// if there are any. ref is the name of the entry.
func MoveKept(r *repo.Repo, ref, to string) error {
	if _, _, ok := parseName(ref); !ok {
		return nil
	}
	return fsutil.IgnoreMissing(os.Rename(keptOf(r, ref), to))
}

// SweepKept removes the files that operations have set aside and whose entries are gone, in all
// worktrees. An entry is stored before its first file is set aside.
func (l *Log) SweepKept(ctx context.Context) error {
	folders, err := fs.Glob(os.DirFS(l.repo.NotePath(keptFolder)), "*/*")
	if err != nil || len(folders) == 0 {
		return err
	}
	there, err := l.list(ctx, "")
	if err != nil {
		return err
	}
	var errs []error
	for _, folder := range folders {
		if _, ok := there[Refs+folder]; !ok {
			errs = append(errs, os.RemoveAll(keptOf(l.repo, Refs+folder)))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("remove the files of former operations: %w", err)
	}
	return nil
}
