package repo

import (
	"errors"
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/fsutil/filelock"
	"git-checkpoint/gitstore/internal/odb"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// A checkpoint survives power loss only if all reachable objects survive. By default git
// syncs neither loose objects nor refs (core.fsync). A directory sync may write file
// names to the disk before the file contents, which leaves empty files. So before refs
// move, recent files that git wrote are synced too:
//
//   - All recent objects and refs, if git has changed a ref or a pack since the last
//     time: the new refs may reach any of these objects.
//   - Otherwise the recent loose objects that the new commits reach.
//
// A file is recent by its status change time (ctime), which programs cannot set.

// manyUnsynced is the file count above which a save syncs whole file systems, if
// supported.
const manyUnsynced = 1000

// An unsynced searches for files that git wrote without sync.
type unsynced struct {
	s     *Repo
	k     *ObjectWriter
	since time.Time              // files that were changed earlier are durable
	known map[plumbing.Hash]bool // durable objects, together with all objects that they reach
	seen  map[plumbing.Hash]bool
	files []string

	moved bool // the repository is new, or a copy
}

// Reach registers commits that git may have written and that the writer's objects
// reference.
func (k *ObjectWriter) Reach(commits ...plumbing.Hash) { k.reached = append(k.reached, commits...) }

// syncOthers adds files to the writer's batch that git wrote, and that the moves or the
// writer's objects may reach. The caller ends the note after the refs have moved, or with
// the error.
func (s *Repo) syncOthers(k *ObjectWriter, moves []refs.Move) (note *syncedFile, err error) {
	before := s.ReadSynced()
	u := &unsynced{s: s, k: k, since: odb.Recent(before.Since), known: map[plumbing.Hash]bool{}, seen: map[plumbing.Hash]bool{}}
	now := Synced{Repository: odb.Identity(s.Info.CommonDir), Packs: s.Objects.PackStamp()}
	u.moved = now.Repository != before.Repository
	now.Refs = u.refsOfOthers()
	if !u.moved && now.Packs == before.Packs && now.Refs == before.Refs {
		u.walk(moves)
		return &syncedFile{}, u.sync()
	}
	note = s.beginSynced(&now)
	// First, because the removal of the loose files must not be durable before the packs.
	first := s.Objects.UnsyncedPacks(u.since)
	if packed := filepath.Join(s.Info.CommonDir, "packed-refs"); odb.ChangedSince(packed, u.since) {
		first = append(first, packed)
	}
	if len(first) > 0 {
		err = s.Objects.SyncFiles(first)
	}
	u.files = append(u.files, s.Objects.UnsyncedLoose(u.since)...)
	if err == nil {
		err = u.sync()
	}
	if err != nil {
		note.end(err)
		return nil, err
	}
	return note, nil
}

// sync adds the files to the writer's batch. Above manyUnsynced it syncs the whole file
// system instead.
func (u *unsynced) sync() error {
	if len(u.files) <= manyUnsynced || !canSyncAll {
		u.k.batch.Sync(u.files...)
		return nil
	}
	for _, dir := range append(u.s.Objects.Dirs(), u.s.Info.CommonDir) {
		if err := syncAll(dir); err != nil {
			return err
		}
	}
	return nil
}

// walk finds recent loose objects that the moves reach. A packed object is durable, and
// so are all objects that it reaches.
func (u *unsynced) walk(moves []refs.Move) {
	todo := slices.Clone(u.k.reached)
	for _, m := range moves {
		if strings.HasPrefix(m.Name, BookRefs) {
			u.known[m.Old] = true // written durably by this program
		}
		todo = append(todo, m.Old, m.New)
	}
	for _, blob := range u.k.Blobs {
		u.recent(blob)
	}
	for len(todo) > 0 && (len(u.files) <= manyUnsynced || !canSyncAll) {
		commit := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !u.recent(commit) {
			continue
		}
		if c, err := u.s.ReadCommit(commit); err == nil {
			u.tree(c.Tree)
			todo = append(todo, c.Parents...)
		}
	}
}

// recent reports whether an object is loose and recent; if so, it adds its file.
func (u *unsynced) recent(h plumbing.Hash) bool {
	if h.IsZero() || u.known[h] || u.seen[h] {
		return false
	}
	u.seen[h] = true
	if _, added := u.k.added[h]; added {
		return false
	}
	path := u.s.Objects.LooseFile(h)
	return path != "" && u.file(path)
}

// file adds a file if it is recent, and reports whether it is.
func (u *unsynced) file(path string) bool {
	if !odb.ChangedSince(path, u.since) {
		return false
	}
	u.files = append(u.files, path)
	return true
}

func (u *unsynced) tree(h plumbing.Hash) {
	if !u.recent(h) {
		return
	}
	entries, err := trees.Read(u.s.Objects, h)
	if err != nil {
		return // a reader of the tree reports the error
	}
	for _, e := range entries {
		switch {
		case e.IsTree():
			u.tree(e.Hash)
		case e.Mode != trees.ModeGitlink:
			u.recent(e.Hash)
		}
	}
}

// A Synced describes the repository at its last full sync. It is stored as a note.
// Without the note, all recent files are synced again.
//
//	repository <device and inode>
//	packs <stamps>
//	refs <stamp>
//	since <nanoseconds>
//	sum <CRC-32 of these lines>
type Synced struct {
	Repository, Packs, Refs string
	Since                   time.Time
}

const (
	SyncedNote   = "synced"
	syncedFormat = "repository %s\npacks %s\nrefs %s\nsince %d\n"
	syncedSum    = "sum %08x\n" // CRC-32 of the lines above, at the end
	maxSynced    = 64 << 10
)

// ReadSynced returns the note. The result is empty if the note is missing or incomplete.
func (s *Repo) ReadSynced() Synced {
	f, err := filelock.Open(s.NotePath(SyncedNote), 0)
	if err != nil {
		return Synced{}
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSynced))
	if err != nil {
		return Synced{}
	}
	return ParseSynced(string(data))
}

func ParseSynced(text string) Synced {
	lines := strings.SplitAfter(text, "\n")
	if len(lines) != 6 || lines[5] != "" || lines[4] != SumOf(strings.Join(lines[:4], "")) {
		return Synced{}
	}
	var value [4]string
	for n, key := range []string{"repository ", "packs ", "refs ", "since "} {
		line, ok := strings.CutPrefix(strings.TrimSuffix(lines[n], "\n"), key)
		if !ok {
			return Synced{}
		}
		value[n] = line
	}
	at, err := strconv.ParseInt(value[3], 10, 64)
	if err != nil {
		return Synced{}
	}
	return Synced{value[0], value[1], value[2], time.Unix(0, at)}
}

func SumOf(text string) string { return fmt.Sprintf(syncedSum, crc32.ChecksumIEEE([]byte(text))) }

// A syncedFile is a note that is being written. It is overwritten in place, since a new
// file for each save would be slow. The checksum allows readers to detect a note that is
// incomplete or mixed from two writers.
type syncedFile struct {
	f    *os.File // nil if the note cannot be written
	text string
}

// beginSynced invalidates the note before the sync. The time in the note comes from the
// file system, which may be on another machine.
func (s *Repo) beginSynced(now *Synced) *syncedFile {
	path := s.NotePath(SyncedNote)
	f, err := filelock.Open(path, os.O_CREATE)
	if err != nil {
		return &syncedFile{}
	}
	n := &syncedFile{f: f}
	_, err = f.WriteAt([]byte("-"), 0)
	info, statErr := f.Stat()
	if err != nil || statErr != nil {
		n.end(errors.Join(err, statErr))
		return &syncedFile{}
	}
	if info.Size() <= 1 {
		s.Objects.Share(path)
	}
	n.text = fmt.Sprintf(syncedFormat, now.Repository, now.Packs, now.Refs, info.ModTime().UnixNano())
	n.text += SumOf(n.text)
	return n
}

// end completes the note if the files were synced.
func (n *syncedFile) end(err error) {
	if n.f == nil {
		return
	}
	if err == nil {
		_, err = n.f.WriteAt([]byte(n.text), 0)
	}
	if info, statErr := n.f.Stat(); err == nil && statErr == nil && info.Size() != int64(len(n.text)) {
		_ = n.f.Truncate(int64(len(n.text)))
	}
	n.f.Close()
	n.f = nil
}

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
