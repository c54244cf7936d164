package snapshot

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/index"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// errAskGit reports an index, a file or a setting that compareFiles leaves to git.
var errAskGit = errors.New("git has to compare the worktree with the index")

const (
	compareBlock = 1024 // entries that one goroutine compares at once
	// maxCompared limits the changes that compareFiles returns, besides those that the stat
	// cache knows. If the index has no usable stat data, every file seems to have changed,
	// and git decides.
	maxCompared = 256
)

// changedFiles returns the tracked files that may differ from the index. It saves a git
// process if the comparison is plain.
func (s *Source) changedFiles(ctx context.Context) ([]rawChange, error) {
	c, done, err := s.openComparison()
	if err == nil {
		defer done()
		var changes []rawChange
		if changes, err = c.compareFiles(ctx); !errors.Is(err, errAskGit) {
			return changes, err
		}
	}
	out, err := s.git().Output(ctx, "diff-files", "-0", "-z", "--raw", "--no-renames", "--ignore-submodules=dirty")
	if err != nil {
		return nil, err
	}
	changes, err := parseRaw(git.Fields(out))
	if err != nil || c == nil {
		return changes, err
	}
	return append(changes, c.flaggedFiles()...), nil
}

// openComparison opens index and worktree for a comparison. It fails for an index that only
// git reads, and on systems without ctime.
func (s *Source) openComparison() (c *comparison, done func(), err error) {
	x, err := index.Open(s.Index)
	if err != nil {
		return nil, nil, err
	}
	root, err := index.OpenDir(s.Root)
	if err != nil {
		x.Close()
		return nil, nil, err
	}
	c = &comparison{Source: s, index: x, root: root, written: x.ModTime(), empty: plumbing.ComputeHash(plumbing.BlobObject, nil)}
	return c, func() { root.Close(); x.Close() }, nil
}

// flaggedFiles returns the files that git does not compare because their entry is marked
// skip-worktree or assume-unchanged, if they exist and may differ from the entry.
func (c *comparison) flaggedFiles() (left []rawChange) {
	dirs := newRealDirs(c.root)
	defer dirs.close()
	sparse, _ := git.Last(c.Config, "core.sparsecheckout")
	for e := range c.index.All() {
		if !e.SkipWorktree && !e.AssumeValid || !e.Mode.IsFile() {
			continue
		}
		stat, mode, err := dirs.lstat(e.Path)
		if err != nil || c.trusts(&e, stat, mode) {
			continue
		}
		reason := checkpoint.AssumeUnchanged
		switch {
		case e.SkipWorktree && git.Bool(sparse):
			reason = checkpoint.OutsideSparse
		case e.SkipWorktree:
			reason = checkpoint.SkipWorktree
		}
		left = append(left, rawChange{Change: trees.Change{Path: e.Path}, left: reason})
	}
	return left
}

// compareFiles compares the stat data of tracked files with the index, like `git
// diff-files`, in the order of the index. It lists every file that git lists. It may list
// unchanged files too, because it does not read files: a file as new as the index, for
// example. It fails with errAskGit for submodules, conflicts, sparse checkouts, and flags
// and settings that change git's rules.
func (c *comparison) compareFiles(ctx context.Context) ([]rawChange, error) {
	if _, monitored := git.Last(c.Config, "core.fsmonitor"); monitored || c.Index == "" || !c.fileMode() || !c.symlinks() {
		return nil, errAskGit
	}
	if conflicts, toAdd := c.index.Special(); len(conflicts)+len(toAdd) > 0 {
		return nil, errAskGit
	}
	changes, err := c.run(ctx, c.index)
	if err == nil && c.index.Err() != nil {
		err = errAskGit
	}
	c.cache.compared = err == nil
	return changes, err
}

// A comparison compares files with entries of an index.
type comparison struct {
	*Source
	index   *index.Index
	root    *index.Dir
	written time.Time     // mtime of the index
	empty   plumbing.Hash // the empty blob
	unknown atomic.Int64  // changes in all blocks that the stat cache does not know
}

// A comparedBlock is a sequence of entries with its result.
type comparedBlock struct {
	entries []index.Entry // nil after the comparison
	changes []rawChange
	err     error
}

// run compares all entries, in several goroutines. A few slices hold the entries, because
// fresh memory for a large index takes more time than the comparison.
func (c *comparison) run(ctx context.Context, x *index.Index) ([]rawChange, error) {
	workers := min(runtime.GOMAXPROCS(0), x.Len()/compareBlock+1, 8)
	todo, free := make(chan *comparedBlock), make(chan []index.Entry, workers+1)
	var running sync.WaitGroup
	for range workers {
		free <- make([]index.Entry, 0, min(compareBlock, x.Len()))
		running.Go(func() {
			for b := range todo {
				b.changes, b.err = c.block(ctx, b.entries)
				free <- b.entries[:0]
				b.entries = nil
			}
		})
	}
	var blocks []*comparedBlock
	entries := make([]index.Entry, 0, min(compareBlock, x.Len()))
	send := func() {
		blocks = append(blocks, &comparedBlock{entries: entries})
		todo <- blocks[len(blocks)-1]
	}
	for e := range x.All() {
		if entries = append(entries, e); len(entries) == compareBlock {
			send()
			entries = <-free
		}
	}
	send()
	close(todo)
	running.Wait()
	var changes []rawChange
	for _, b := range blocks {
		if b.err != nil {
			return nil, b.err
		}
		changes = append(changes, b.changes...)
	}
	return changes, nil
}

func (c *comparison) block(ctx context.Context, entries []index.Entry) ([]rawChange, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if c.unknown.Load() > maxCompared {
		return nil, errAskGit
	}
	dirs := newRealDirs(c.root)
	defer dirs.close()
	var changes []rawChange
	unknown, near := int64(0), 0
	assumed := map[directoryKey]bool{}
	var attributes []string
	for i := range entries {
		if strings.HasSuffix(entries[i].Path, ".gitattributes") {
			attributes = append(attributes, entries[i].Path)
		}
		change, changed, err := c.entry(dirs, &entries[i])
		if err != nil {
			return nil, err
		}
		if !changed {
			continue
		}
		key, unchanged, known := c.cache.compare(change.Path, change.found, change.Old.Hash, &near)
		if unchanged && change.Old.Mode == change.New.Mode {
			assumed[directoryKey{dirs.last, key}] = true
			continue
		}
		changes = append(changes, change)
		if !known {
			unknown++
		}
	}
	c.cache.assume(assumed, attributes)
	if c.unknown.Add(unknown) > maxCompared {
		return nil, errAskGit
	}
	return changes, nil
}

// entry compares one file with its entry.
func (c *comparison) entry(dirs *realDirs, e *index.Entry) (change rawChange, changed bool, err error) {
	if e.SkipWorktree || e.AssumeValid || e.Stage != 0 || !e.Mode.IsFile() {
		return change, false, errAskGit
	}
	stat, mode, err := dirs.lstat(e.Path)
	if err == nil && c.trusts(e, stat, mode) {
		return change, false, nil
	}
	change = rawChange{Change: trees.Change{Path: e.Path, Old: trees.Entry{Mode: uint32(e.Mode), Hash: e.Hash}}, status: "deleted"}
	switch {
	case isGone(err) || err == nil && mode == filemode.Dir:
		return change, true, nil
	case err != nil || mode == 0:
		return change, false, errAskGit
	}
	change.New.Mode = uint32(mode)
	change.status = "modified"
	if (mode == filemode.Symlink) != (e.Mode == filemode.Symlink) {
		change.status = "typechange"
	}
	if isRegular(mode) {
		change.found = foundFile{stat, mode}
	}
	return change, true, nil
}

// trusts reports whether git would trust the stat data of an entry, so that the file is
// unchanged. The rules are those of git without options: equal mode, times, inode, owner
// and size, and a file that is at least a second older than the index. Git sets the size
// of a doubtful entry to 0.
func (c *comparison) trusts(e *index.Entry, stat index.Stat, mode filemode.FileMode) bool {
	stat.Dev = e.Dev // git does not compare devices
	if e.CTime.Nsec == 0 && e.MTime.Nsec == 0 {
		stat.CTime.Nsec, stat.MTime.Nsec = 0, 0 // not recorded
	}
	if mode != e.Mode || stat != e.Stat {
		return false
	}
	if e.Size == 0 {
		return e.Hash == c.empty
	}
	return int64(e.MTime.Sec) < c.written.Unix()
}

// A realDirs reads stat data of files, and knows their directories. It is used by one
// goroutine. The caller must call close.
type realDirs struct {
	root  *index.Dir
	last  string     // parent of the previous path
	files int        // paths with this parent so far
	dir   *index.Dir // this parent, if it is open
	known map[string]bool
}

func newRealDirs(root *index.Dir) *realDirs { return &realDirs{root: root, known: map[string]bool{}} }

// A foundFile is a regular file whose content was not read since. The zero value is an
// unknown file.
type foundFile struct {
	stat index.Stat
	mode filemode.FileMode
}

// find returns a regular file, or the zero value.
func (d *realDirs) find(path string) foundFile {
	if d.root == nil {
		return foundFile{}
	}
	stat, mode, err := d.lstat(path)
	if err != nil || !isRegular(mode) {
		return foundFile{}
	}
	return foundFile{stat, mode}
}

// openAt is the number of files of a directory from which an open directory saves time: the
// system then looks up one name instead of all names of a path.
const openAt = 4

// lstat is index.Dir.Lstat. It fails with fs.ErrNotExist if a parent of the path is not a
// directory, because git does not follow symlinks.
func (d *realDirs) lstat(path string) (index.Stat, filemode.FileMode, error) {
	there, err := d.holdsParent(path)
	if err != nil || !there {
		return index.Stat{}, 0, cmp.Or(err, fs.ErrNotExist)
	}
	if d.files++; d.files == openAt && d.last != "" {
		d.dir, _ = d.root.OpenDir(d.last)
	}
	if d.dir != nil {
		return d.dir.Lstat(path[len(d.last)+1:])
	}
	return d.root.Lstat(path)
}

func (d *realDirs) close() {
	if d.dir != nil {
		d.dir.Close()
		d.dir = nil
	}
}

// holdsParent reports whether all parents of a path are directories.
func (d *realDirs) holdsParent(path string) (bool, error) {
	parent := path[:max(0, strings.LastIndexByte(path, '/'))]
	if parent == d.last {
		return true, nil
	}
	for i := range len(parent) + 1 {
		if i < len(parent) && parent[i] != '/' {
			continue
		}
		real, known := d.known[path[:i]]
		if !known && i > 0 {
			_, mode, err := d.root.Lstat(path[:i])
			if err != nil && !isGone(err) {
				return false, errAskGit
			}
			real = err == nil && mode == filemode.Dir
			d.known[path[:i]] = real
		}
		if !real && i > 0 {
			return false, nil
		}
	}
	d.close()
	d.last, d.files = parent, 0
	return true, nil
}

// isGone reports whether a file or one of its parents does not exist.
func isGone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

func isRegular(mode filemode.FileMode) bool {
	return mode == filemode.Regular || mode == filemode.Executable
}
