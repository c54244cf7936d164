package repo

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/odb"
)

// A checkpoint survives power loss only if all objects that it reaches survive. By default git
// syncs neither loose objects nor refs (core.fsync). A directory sync may write file
// names to the disk before the file contents, which leaves empty files. So before this program
// writes objects and moves refs, it syncs the files that git has changed since the last move: packs,
// loose objects and refs. The note synced has the time of that move.
//
// A file is changed by its status change time (ctime), which programs cannot set. The time in the
// note comes from the file system, which may be on another machine.

// An unsynced searches for files that git wrote without sync.
type unsynced struct {
	s     *Repo
	since time.Time // files that were changed earlier are durable
	moved bool      // the repository is new, or a copy
	files []string
}

// syncedNote is the name of the note. Its text identifies the repository, and its modification time
// is the time from which changes are not synced.
const syncedNote = "synced"

// syncOthers syncs the files that git wrote, or lets k sync them together with its objects. The caller
// calls done after the refs have moved, or with the error.
func (s *Repo) syncOthers(k *ObjectWriter) (done func(error), err error) {
	path := s.NotePath(syncedNote)
	here := odb.Identity(s.Info.CommonDir)
	u := &unsynced{s: s, moved: true}
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
		if text, err := os.ReadFile(path); err == nil && string(text) == here {
			u.moved, u.since = false, info.ModTime()
		}
	}
	u.since = odb.Recent(u.since)
	next, err := s.newNote(here)
	if err != nil {
		next = "" // every move then syncs all recent files
	}
	done = func(err error) {
		if next == "" {
			return
		}
		if err != nil || os.Rename(next, path) != nil {
			os.Remove(next)
		}
	}
	if err := u.sync(k); err != nil {
		done(err)
		return nil, err
	}
	return done, nil
}

// newNote writes the text of the note to a temporary file, and returns its path.
func (s *Repo) newNote(text string) (path string, err error) {
	dir := filepath.Dir(s.NotePath(syncedNote))
	if err := s.Objects.MakeDirs(dir); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(dir, ".tmp-")
	if err != nil {
		return "", err
	}
	defer f.Close()
	s.Objects.Share(f.Name())
	_, err = f.WriteString(text)
	return f.Name(), err
}

// sync finds the files. It syncs packs at once, because the removal of the loose files that git
// has packed must not be durable before the packs; the same holds for packed refs.
func (u *unsynced) sync(k *ObjectWriter) error {
	dirs := u.s.Info.ObjectDirs()
	for _, dir := range dirs {
		for _, name := range []string{"pack", "info"} {
			u.below(filepath.Join(dir, name), func(string, bool) bool { return false })
		}
	}
	u.file(filepath.Join(u.s.Info.CommonDir, "packed-refs"))
	if len(u.files) > 0 {
		if err := u.s.Objects.SyncFiles(u.files); err != nil {
			return err
		}
	}
	u.files = nil
	for _, dir := range dirs {
		u.below(dir, func(name string, recent bool) bool {
			return name == "pack" || name == "info" || len(name) == 2 && !recent
		})
	}
	u.refsOfOthers()
	k.batch.Sync(u.files)
	return nil
}

// file adds a file if it is recent.
func (u *unsynced) file(path string) {
	if odb.ChangedSince(path, u.since) {
		u.files = append(u.files, path)
	}
}

// maxRefs limits the search for refs that git wrote, which every save runs.
const maxRefs = 1000

// ownFolders are the ref directories that only this program writes, durably.
var ownFolders = []string{"git-checkpoint/own", "git-checkpoint/fetched", "git-checkpoint/remote", "git-checkpoint/here", "git-checkpoint/operations"}

// refsOfOthers adds recent refs that git wrote: HEAD, branches, tags, remote-tracking refs, and chains
// that plain git fetched. In a new repository, or a copy, it adds all refs and the configuration.
func (u *unsynced) refsOfOthers() {
	repo := &u.s.Info
	for _, name := range []string{"HEAD", "FETCH_HEAD", "ORIG_HEAD", "MERGE_HEAD"} {
		u.file(filepath.Join(repo.Dir, name))
	}
	if u.moved {
		entries, _ := os.ReadDir(repo.CommonDir)
		u.file(repo.CommonDir)
		for _, e := range entries {
			if e.Type().IsRegular() {
				u.file(filepath.Join(repo.CommonDir, e.Name()))
			}
		}
	}
	folder := "refs"
	if repo.RefFormat != "files" {
		folder = "reftable"
	}
	left := maxRefs
	u.below(filepath.Join(repo.CommonDir, folder), func(name string, recent bool) bool {
		left--
		isChain := strings.HasPrefix(name, "checkpoints")
		if u.moved {
			return false
		}
		if recent && isChain { // others were written by this program, durably
			u.fetchedChains(filepath.Join(repo.CommonDir, folder, filepath.FromSlash(name)))
		}
		return isChain || left < 0 || slices.Contains(ownFolders, name)
	})
}

// fetchedChains adds recent chain refs that this program has not written.
func (u *unsynced) fetchedChains(path string) {
	d, err := os.Open(path)
	if err != nil {
		return
	}
	defer d.Close()
	names, _ := d.Readdirnames(maxRefs)
	for _, name := range names {
		if !fsutil.Exists(filepath.Join(u.s.Info.CommonDir, filepath.FromSlash(OwnRefs), name)) {
			u.file(filepath.Join(path, name))
		}
	}
}

// below adds the recent directories below a directory, and their recent files. It leaves out
// directories for which skip returns true.
func (u *unsynced) below(root string, skip func(name string, recent bool) bool) {
	recent := map[string]bool{}
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil: // another user's
		case d.IsDir():
			recent[path] = odb.ChangedSince(path, u.since)
			if skip(strings.TrimPrefix(filepath.ToSlash(path[len(root):]), "/"), recent[path]) {
				return fs.SkipDir
			}
			if recent[path] {
				u.files = append(u.files, path)
			}
		case recent[filepath.Dir(path)] && d.Type().IsRegular() && !strings.HasSuffix(path, ".lock") && !strings.HasPrefix(d.Name(), "tmp_obj_"):
			u.file(path)
		}
		return nil
	})
}
