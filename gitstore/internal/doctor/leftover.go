package doctor

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/repo"
)

// A leftKind is a kind of file that its process removes, unless the process was killed.
type leftKind int

const (
	refLock   leftKind = iota // git's lock of packed-refs or of a ref that this program updates
	indexLock                 // git's index lock
	temporary                 // temporary file of this program, before its rename, or the lock of git maintenance
)

type leftFile struct {
	path string
	kind leftKind
	at   time.Time // modification time
}

// Minimum ages of leftover files. A ref lock is held only during a sync to disk. The index may be
// locked for hours while a user edits a commit message. Git removes partially written objects itself.
const (
	lockFor      = time.Hour
	temporaryFor = 24 * time.Hour
)

// leftFiles returns existing locks and temporary files, of both running and ended processes, below the
// git directories of all worktrees and the directory of objects.
func leftFiles(common, objects string) (found []leftFile) {
	look := func(kind leftKind, dir string, patterns ...string) {
		for _, pattern := range patterns {
			names, _ := fs.Glob(os.DirFS(dir), pattern) // fails for a wrong pattern only
			for _, name := range names {
				path := filepath.Join(dir, filepath.FromSlash(name))
				if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
					found = append(found, leftFile{path, kind, info.ModTime()})
				}
			}
		}
	}
	look(refLock, common, "packed-refs.lock", "packed-refs.new", "reftable/*.lock", repo.LiveRefs+"*.lock", repo.ArchiveRefs+"*.lock",
		repo.BookRefs+"*/*.lock", repo.BookRefs+"*/*/*.lock")
	look(temporary, objects, "maintenance.lock")
	for _, dir := range worktreeDirs(common) {
		look(temporary, dir, "git-checkpoint/.tmp-*")
		look(indexLock, dir, "index.lock")
	}
	return found
}

// worktreeDirs returns $GIT_DIR of all worktrees, main worktree first.
func worktreeDirs(common string) []string {
	dirs := []string{common}
	linked, _ := os.ReadDir(filepath.Join(common, "worktrees"))
	for _, d := range linked {
		dirs = append(dirs, filepath.Join(common, "worktrees", d.Name()))
	}
	return dirs
}

// leftovers reports files of killed processes, and restores that were interrupted.
func (s *Doctor) leftovers() (found []Finding) {
	info := s.repo.Info
	var old []leftFile
	var names []string
	for _, f := range leftFiles(info.CommonDir, info.ObjectDir) {
		switch age := s.repo.Now().Sub(f.at); {
		case f.kind == refLock && age > lockFor:
			text := fmt.Sprintf("%s: a lock that a killed git left %s ago: nothing can be saved there", s.shown(f.path), spell(age))
			found = append(found, damage("%s", text).withFix(s.remove("removed the stale lock "+s.shown(f.path), f)))
		case f.kind == indexLock && age > lockFor:
			found = append(found, warning("%s: the staging area is locked since %s: remove the file if no git is at work there", s.shown(f.path), spell(age)))
		case f.kind == temporary && age > temporaryFor:
			old, names = append(old, f), append(names, s.shown(f.path))
		}
	}
	if len(old) > 0 {
		const few = 3
		text := fmt.Sprintf("%s of processes that are gone: %s", failure.Plural(len(old), "temporary file"), strings.Join(names[:min(len(names), few)], ", "))
		if len(names) > few {
			text += fmt.Sprintf(" and %d more", len(names)-few)
		}
		found = append(found, warning("%s", text).withFix(s.remove("removed "+text, old...)))
	}
	for _, dir := range worktreeDirs(info.CommonDir) {
		if fsutil.Exists(filepath.Join(dir, "git-checkpoint", "restore")) {
			found = append(found, warning("%s: a restore was interrupted there: git checkpoint restore --continue completes it, --abort reverts it", s.shown(dir)))
		}
	}
	return found
}

// remove returns a repair that removes files. It fails at a file that was modified since, because a
// lock may belong to another process by then.
func (s *Doctor) remove(said string, files ...leftFile) Fix {
	return func(context.Context) (string, error) {
		for _, f := range files {
			if info, err := os.Lstat(f.path); err == nil && !info.ModTime().Equal(f.at) {
				return "", fmt.Errorf("remove: %s: another process uses it", s.shown(f.path))
			}
			if err := fsutil.IgnoreMissing(os.Remove(f.path)); err != nil {
				return "", fmt.Errorf("remove: %w", err)
			}
		}
		return said, nil
	}
}

// shown returns a file's name for findings: relative to the common directory if possible,
// otherwise absolute.
func (s *Doctor) shown(path string) string {
	if rel, err := filepath.Rel(s.repo.Info.CommonDir, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}
