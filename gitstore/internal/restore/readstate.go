package restore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/repository"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// maxInside limits the number of files listed in a directory that blocks a file.
const maxInside = 10_000

// A stateReader reads the current state of paths.
type stateReader struct {
	s      *worktree
	area   *lockedIndex
	now    map[string]*state
	names  *diskNames
	limits *repository.Boundary
	raw    bool     // read files without git's filters
	asked  []string // regular files whose blob hash is still missing
}

// readState reads the current state of all target paths in index and worktree. Worktree
// hashes are those of git add, or raw content if raw is set.
func (s *worktree) readState(ctx context.Context, targets []Target, area *lockedIndex, raw bool) (func(string) state, error) {
	s.in.fixed = true
	defer func() { s.in.fixed = false }()
	in, err := openPlaces(s.repo.Info.Root, true)
	if err != nil {
		return nil, fmt.Errorf("open worktree: %w", err)
	}
	defer in.close()
	o := &stateReader{s: s, area: area, raw: raw, now: make(map[string]*state, len(targets)), limits: s.repo.Boundary(ctx)}
	o.names = &diskNames{in: in, dirs: map[string]string{}, listed: map[string]map[string]bool{}}
	for i := range targets {
		o.now[targets[i].Path] = &state{}
	}
	for i := range targets {
		if err := o.readPath(&targets[i]); err != nil {
			return nil, err
		}
	}
	now := func(path string) state { return *o.now[path] }
	if raw {
		return now, nil
	}
	hashes, err := area.hash(ctx, o.asked)
	if err != nil {
		return nil, err
	}
	for _, path := range o.asked {
		st := o.now[path]
		if st.work.Hash = hashes[path]; st.work.Hash.IsZero() {
			st.unreadable, st.work.Hash = true, plumbing.NewHash("ff")
		}
	}
	return now, errors.Join(s.markSparse(ctx, targets, o.now), s.markIgnored(ctx, targets, o.now))
}

// markIgnored marks files that git neither tracks nor lists as untracked, so that it ignores them.
func (s *worktree) markIgnored(ctx context.Context, targets []Target, now map[string]*state) error {
	var listed map[string]bool
	for _, t := range targets {
		st := now[t.Path]
		if !t.Work || st.work == (Side{}) || st.index != (Stages{}) {
			continue
		}
		if listed == nil {
			paths, err := s.untracked(ctx)
			if err != nil {
				return err
			}
			listed = map[string]bool{}
			for _, path := range paths {
				listed[path] = true
			}
		}
		st.ignored = !listed[t.Path]
	}
	return nil
}

func (o *stateReader) readPath(t *Target) error {
	st := o.now[t.Path]
	if o.s.configBool("core.ignorecase", false) {
		st.folded = strings.ToLower(t.Path)
	}
	e := o.area.lookup(t.Path)
	st.index, st.sparse, st.assume = e.stages, e.sparse, e.assume
	if wants := t.Index && t.IndexWant != (Stages{}) || t.Work && t.WorkWant != (Side{}); wants && st.index[0] == (Side{}) {
		// Entries that block the path: of a parent directory, possibly a submodule, or below the path.
		for i := range t.Path {
			if t.Path[i] != '/' || st.indexAbove != "" {
				continue
			}
			if above := o.area.lookup(t.Path[:i]); above.stages[0] != (Side{}) {
				st.indexAbove = t.Path[:i]
				st.closed = above.stages[0].Mode == trees.ModeGitlink || above.sparse
			}
		}
		st.indexInside = o.area.list.inside(t.Path)
	}
	if !t.Work {
		return nil
	}
	err := o.readFile(t, st)
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
func (o *stateReader) readFile(t *Target, st *state) error {
	pl, err := o.s.in.open(t.Path, false)
	var blocked *blockedError
	switch {
	case errors.As(err, &blocked):
		st.above = o.names.dir(blocked.path)
		return nil
	case errors.Is(err, fs.ErrNotExist):
		st.made = missing(o.s.in.root, t.Path)
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
	case stored != t.Path && (o.now[stored] != nil || o.area.lookup(stored).stages != (Stages{})):
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
	if d := unread(st.disk); o.raw && slices.Contains(t.kept, d.hash) {
		st.disk = d
		return nil
	}
	if o.raw {
		st.disk, err = hashDisk(pl, info)
		return err
	}
	st.work.Mode = o.s.gitMode(info, st.index[0].Mode, t.WorkWant.Mode, t.WorkBase.Mode)
	switch {
	case st.work.Mode == trees.ModeSymlink:
		d, err := hashDisk(pl, info)
		st.work.Hash = d.hash
		return err
	default:
		o.asked = append(o.asked, t.Path)
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
func (s *worktree) gitMode(info fs.FileInfo, known ...uint32) uint32 {
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

func (s *worktree) configBool(key string, unset bool) bool {
	value, ok := git.Last(s.repo.Config, key)
	if !ok {
		return unset
	}
	return git.Bool(value)
}
