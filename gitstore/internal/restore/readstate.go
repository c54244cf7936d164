package restore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/contents"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/repository"
	"git-checkpoint/gitstore/internal/index"
	"git-checkpoint/gitstore/internal/snapshot"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// maxInside limits the number of files listed in a directory that blocks a file.
const maxInside = 10_000

// A stateReader reads the current state of paths.
type stateReader struct {
	s      *Worktree
	ctx    context.Context
	root   *os.Root
	in     places
	x      *index.Index
	staged plumbing.Hash // index as a tree
	find   trees.Finder
	now    map[string]*state
	names  *diskNames
	limits *repository.Boundary
	raw    bool                    // read files without git's filters
	read   bool                    // read files that the stat cache knows too
	asked  []snapshot.WorktreeFile // regular files whose blob hash is still missing
}

// readState reads the current state of all target paths in index and worktree. Worktree
// hashes are those of git add, or raw content if raw is set. If read is set, the stat cache is not
// used.
func (s *Worktree) readState(ctx context.Context, targets []Target, area *lockedIndex, raw, read bool) (func(string) state, error) {
	root, err := os.OpenRoot(s.Root)
	if err != nil {
		return nil, fmt.Errorf("open worktree: %w", err)
	}
	defer root.Close()
	o := &stateReader{s: s, ctx: ctx, root: root, in: places{root: root, fixed: true}, x: area.x, staged: area.tree, find: trees.Finder{Reader: s.Objects}, raw: raw, read: read, now: make(map[string]*state, len(targets))}
	o.limits = s.boundary(ctx)
	o.names = &diskNames{in: places{root: root}, dirs: map[string]string{}, listed: map[string]*nameList{}}
	defer func() {
		o.in.close()
		o.names.in.close()
	}()
	for i := range targets {
		o.now[targets[i].Path] = &state{}
	}
	for i := range targets {
		if err := o.readPath(&targets[i]); err != nil {
			return nil, err
		}
	}
	if err := o.x.Err(); err != nil {
		return nil, err
	}
	now := func(path string) state { return *o.now[path] }
	if raw {
		return now, nil
	}
	blobs, err := s.Hash(ctx, o.asked, read)
	if err != nil {
		return nil, err
	}
	for i, f := range o.asked {
		st := o.now[f.Path]
		st.work.Hash, st.cached = blobs[i].Hash, blobs[i].Cached
		if blobs[i].Hash.IsZero() {
			st.blockage, st.work.Hash = "not readable", plumbing.NewHash("ff")
		}
	}
	return now, s.markSparse(ctx, targets, o.now)
}

func (o *stateReader) readPath(t *Target) error {
	st := o.now[t.Path]
	if o.s.configBool("core.ignorecase", false) {
		st.folded = strings.ToLower(t.Path)
	}
	entries := o.x.Lookup(t.Path)
	for _, e := range entries {
		st.index[e.Stage] = Side{Mode: uint32(e.Mode), Hash: e.Hash}
		if e.IntentToAdd {
			st.index[0] = contents.Intended
		}
		st.sparse = st.sparse || e.SkipWorktree
		st.assume = st.assume || e.AssumeValid
	}
	if wants := t.Index && t.IndexWant != (Stages{}) || t.Work && t.WorkWant != (Side{}); wants && st.index[0] == (Side{}) {
		if err := o.readIndexAround(t.Path, st); err != nil {
			return err
		}
	}
	if !t.Work {
		return nil
	}
	err := o.readFile(t, st, entries)
	if f := o.limits.Find(t.Path); f.Reason != "" {
		st.foreign, st.blockage = f.Path, f.Reason
	}
	if err != nil && passing(err) {
		return fmt.Errorf("read %q: %w", t.Path, err)
	}
	if err != nil { // an unreadable file
		st.blockage = err.Error()
	}
	return nil
}

// readIndexAround finds index entries that block a path: an entry for a parent directory,
// possibly a submodule, or entries below the path.
func (o *stateReader) readIndexAround(path string, st *state) error {
	for i := range path {
		if path[i] != '/' || st.indexAbove != "" {
			continue
		}
		above := o.x.Lookup(path[:i])
		if entriesAs(above)[0] != (Side{}) {
			st.indexAbove = path[:i]
			st.closed = above[0].Mode == trees.ModeGitlink || above[0].SkipWorktree
		}
	}
	_, toAdd := o.x.Special() // missing from trees
	for _, p := range toAdd {
		if p != path && checkpoint.IsWithin(p, path) {
			st.indexInside = append(st.indexInside, p)
		}
	}
	mode, hash, err := o.find.Lookup(o.staged, path)
	if err != nil || mode != trees.ModeTree {
		return err
	}
	files, err := trees.Diff(o.s.Objects, plumbing.ZeroHash, hash)
	for _, f := range files {
		st.indexInside = append(st.indexInside, path+"/"+f.Path)
	}
	return err
}

// passing reports whether an error is temporary or unrelated to the file.
func passing(err error) bool {
	for _, cause := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.ENOSPC, syscall.EIO} {
		if errors.Is(err, cause) {
			return true
		}
	}
	return false
}

// readFile reads the worktree state of a path, except hashes of regular files that git has to
// compute.
func (o *stateReader) readFile(t *Target, st *state, entries []index.Entry) error {
	pl, err := o.in.open(t.Path, false)
	var blocked *blockedError
	switch {
	case errors.As(err, &blocked):
		st.above = o.names.dir(blocked.path)
		return nil
	case errors.Is(err, fs.ErrNotExist):
		st.made = missing(o.root, t.Path)
		return nil
	case err != nil:
		return err
	}
	info, err := pl.dir.Lstat(pl.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	// A file system that ignores case may have opened the file of another path. The stored path is
	// another path if the index or the restore contains it. Otherwise the user has only renamed
	// the file to another case, without git.
	stored := o.names.file(pl, info, t.Path)
	switch {
	case stored != t.Path && (o.now[stored] != nil || len(o.x.Lookup(stored)) > 0):
		st.above, st.made = stored, otherDir(t.Path, stored)
		return nil
	case info.IsDir():
		st.inside = insideOf(pl.dir, stored, maxInside)
		return nil
	}
	st.disk = fileOnDisk{mode: diskMode(info), info: info}
	if st.disk.mode == 0 {
		return errors.New("neither a file nor a symlink")
	}
	if o.raw {
		st.disk, err = hashDisk(pl, info)
		return err
	}
	st.work.Mode = o.s.gitMode(info, st.index[0].Mode, t.WorkWant.Mode, t.WorkBase.Mode)
	switch {
	case len(entries) == 1 && unmodified(entries[0], info, o.x.ModTime()):
		st.work = st.index[0]
	case st.work.Mode == trees.ModeSymlink:
		d, err := hashDisk(pl, info)
		st.work.Hash = d.hash
		return err
	default:
		o.asked = append(o.asked, snapshot.WorktreeFile{Path: t.Path, Staged: st.index[0].Hash})
	}
	return nil
}

// missing returns the topmost missing parent directory of a path.
func missing(root *os.Root, name string) string {
	for i := range name {
		if name[i] != '/' {
			continue
		}
		if _, err := root.Lstat(name[:i]); errors.Is(err, fs.ErrNotExist) {
			return name[:i]
		}
	}
	return ""
}

// gitMode returns the mode that git add would use. If the file system lacks executable
// bits or symlinks, it returns a known mode of the path.
func (s *Worktree) gitMode(info fs.FileInfo, known ...uint32) uint32 {
	mode := trees.ModeOf(info)
	for _, k := range known {
		switch {
		case mode == trees.ModeSymlink:
			return mode
		case k == trees.ModeSymlink && !s.configBool("core.symlinks", true):
			return k
		case (k == trees.ModeFile || k == trees.ModeExec) && !s.configBool("core.filemode", true):
			return k
		}
	}
	return mode
}

func (s *Worktree) configBool(key string, unset bool) bool {
	value, ok := git.Last(s.Config, key)
	if !ok {
		return unset
	}
	return git.Bool(value)
}

// unmodified reports whether a file's stat data matches its index entry, so that its
// content need not be read. It follows git's rules for times, inode, owner and size.
// Files not older than the index, empty files, and files with whole-second times are
// always read. Options and flags that relax git's check are ignored: core.trustctime,
// core.checkStat, assume-unchanged, fsmonitor. A restore may overwrite the file, and one
// read is cheap.
func unmodified(e index.Entry, info fs.FileInfo, written time.Time) bool {
	if e.IntentToAdd || e.Stage != 0 || trees.ModeOf(info) != uint32(e.Mode) {
		return false
	}
	st, known := statOf(info)
	st.Dev = e.Dev // git does not compare devices
	if !known || st != e.Stat || info.Size() == 0 || info.Size() >= 1<<32 {
		return false
	}
	return st.MTime.Nsec != 0 && written.After(info.ModTime())
}
