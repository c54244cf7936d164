package repo

import (
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/odb"
)

// Search limits for refs written by git. Every save runs this search.
const (
	maxRefDirs  = 64
	maxRefFiles = 1000
)

// ownFolders are the ref directories that only this program writes, durably.
var ownFolders = []string{"git-checkpoint/own", "git-checkpoint/fetched", "git-checkpoint/remote", "git-checkpoint/undo"}

// refsOfOthers adds recent refs that git wrote: packed-refs, HEAD, branches, tags,
// remote-tracking refs, and chains that plain git fetched. It returns a stamp that
// changes if git changes one of them.
func (u *unsynced) refsOfOthers() string {
	repo := &u.s.Info
	sum := fnv.New64a()
	for _, name := range []string{"HEAD", "logs/HEAD", "FETCH_HEAD", "ORIG_HEAD", "MERGE_HEAD"} {
		path := filepath.Join(repo.Dir, filepath.FromSlash(name))
		io.WriteString(sum, odb.Stamp(path)+"\n")
		if !strings.Contains(name, "/") {
			u.file(path)
		}
	}
	io.WriteString(sum, odb.Stamp(filepath.Join(repo.CommonDir, "packed-refs"))+"\n")
	left := maxRefDirs
	if u.moved { // including the refs of this program, and the configuration
		u.refsIn(repo.CommonDir, nil)
		left = math.MaxInt
	}
	if repo.RefFormat == "files" {
		u.refsBelow("", &left, sum)
	} else {
		u.refsIn(filepath.Join(repo.CommonDir, "reftable"), sum)
	}
	return fmt.Sprintf("%x", sum.Sum64())
}

// syncTables makes reftables durable after a move. Git syncs new tables before writing
// their last bytes, and never syncs directories.
func (s *Repo) syncTables() error {
	dir := filepath.Join(s.Info.CommonDir, "reftable")
	u := &unsynced{s: s, since: odb.Recent(time.Time{})}
	u.refsIn(dir, nil)
	return s.Objects.SyncFiles(u.files)
}

// refsBelow adds the recent refs in a directory below refs/, recursively.
func (u *unsynced) refsBelow(dir string, left *int, sum io.Writer) {
	if *left--; *left < 0 || !u.moved && slices.Contains(ownFolders, dir) {
		return
	}
	path := filepath.Join(u.s.Info.CommonDir, "refs", filepath.FromSlash(dir))
	switch {
	case strings.HasPrefix(dir, "checkpoints") && !u.moved:
		u.fetchedChains(path)
		return
	case !strings.HasPrefix(dir, "checkpoints") && !strings.HasPrefix(dir, "git-checkpoint"):
		io.WriteString(sum, odb.Stamp(path)+"\n")
	}
	for _, name := range u.refsIn(path, nil) {
		u.refsBelow(strings.TrimPrefix(dir+"/"+name, "/"), left, sum)
	}
}

// refsIn adds a directory and its recent files, and returns its subdirectories.
func (u *unsynced) refsIn(path string, sum io.Writer) (dirs []string) {
	if sum != nil {
		io.WriteString(sum, odb.Stamp(path)+"\n")
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil
	}
	recent := (len(entries) <= maxRefFiles || u.moved) && u.file(path)
	for _, e := range entries {
		switch {
		case e.IsDir():
			dirs = append(dirs, e.Name())
		case recent && e.Type().IsRegular() && !strings.HasSuffix(e.Name(), ".lock"):
			u.file(filepath.Join(path, e.Name()))
		}
	}
	return dirs
}

// fetchedChains adds recent chain refs that this program has not written.
func (u *unsynced) fetchedChains(path string) {
	if !odb.ChangedSince(path, u.since) {
		return
	}
	d, err := os.Open(path)
	if err != nil {
		return
	}
	defer d.Close()
	names, _ := d.Readdirnames(maxRefFiles)
	for _, name := range names {
		if !fsutil.Exists(filepath.Join(u.s.Info.CommonDir, filepath.FromSlash(OwnRefs), name)) {
			u.file(filepath.Join(path, name))
		}
	}
}
