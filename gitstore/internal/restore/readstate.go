package restore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/repository"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// A stateReader reads the current state of paths.
type stateReader struct {
	s         *worktree
	area      *lockedIndex
	known     map[string]bool            // paths of the targets
	untracked map[string]bool            // files that git does not ignore
	paths     map[string]string          // of stored
	listed    map[string]map[string]bool // names in directories
	limits    *repository.Boundary
	raw       bool      // read files without git's filters
	asked     []*Target // with regular files whose blob hash is still missing
}

// readState reads the current state of all targets in index and worktree. Worktree hashes are those of
// git add, or raw content if raw is set.
func (s *worktree) readState(ctx context.Context, targets []Target, area *lockedIndex, raw bool) error {
	s.in.fixed = true
	defer func() { s.in.fixed = false }()
	o := &stateReader{s: s, area: area, raw: raw, known: map[string]bool{}, limits: s.repo.Boundary(ctx)}
	o.paths, o.listed = map[string]string{}, map[string]map[string]bool{}
	for i := range targets {
		o.known[targets[i].Path] = true
	}
	if !raw {
		_, untracked, err := s.lists(ctx)
		if err != nil {
			return err
		}
		o.untracked = chain.SetOf(untracked)
	}
	for i := range targets {
		if err := o.readPath(&targets[i]); err != nil {
			return err
		}
	}
	if raw {
		return nil
	}
	paths := make([]string, len(o.asked))
	for i, t := range o.asked {
		paths[i] = t.Path
	}
	hashes, err := area.hash(ctx, paths)
	if err != nil {
		return err
	}
	for _, t := range o.asked {
		if t.now.Work.Hash = hashes[t.Path]; t.now.Work.Hash.IsZero() {
			t.now.unreadable, t.now.Work.Hash = true, plumbing.NewHash("ff")
		}
	}
	return s.markSparse(ctx, targets)
}

func (o *stateReader) readPath(t *Target) error {
	st := &t.now
	if o.s.configBool("core.ignorecase", false) {
		st.folded = strings.ToLower(t.Path)
	}
	e := o.area.lookup(t.Path)
	st.Index, st.sparse, st.assume = e.stages, e.sparse, e.assume
	if wants := t.Index && t.IndexWant != (Stages{}) || t.Work && t.WorkWant != (Side{}); wants && st.Index[0] == (Side{}) {
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
	if passing(err) {
		return fmt.Errorf("read %q: %w", t.Path, err)
	}
	if err != nil { // an unreadable file
		st.blockage = err.Error()
	}
	return nil
}

// passing reports whether an error is temporary or unrelated to the file.
func passing(err error) bool {
	causes := []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.ENOSPC, syscall.EIO}
	return slices.ContainsFunc(causes, func(cause error) bool { return errors.Is(err, cause) })
}

// readFile reads the worktree state of a path, except hashes of regular files that git has to
// compute.
func (o *stateReader) readFile(t *Target, st *state) error {
	stored := o.stored(t.Path)
	pl, err := o.s.in.open(t.Path, false)
	switch parent, isParent := errors.AsType[*fs.PathError](err); {
	case isParent && errors.Is(err, errNotDir):
		st.above = o.stored(parent.Path)
		return nil
	case isParent && errors.Is(err, fs.ErrNotExist):
		st.made = parent.Path
		return nil
	case err != nil:
		return err
	}
	info, err := pl.dir.Lstat(pl.name)
	if err != nil {
		return fsutil.IgnoreMissing(err)
	}
	// A file system that ignores case may have opened the file of another path. The stored path is
	// another path if the index or the restore contains it. Otherwise the user has only renamed
	// the file to another case, without git.
	switch {
	case stored != t.Path && (o.known[stored] || o.area.lookup(stored).stages != (Stages{})):
		st.above = stored
		if dir := path.Dir(t.Path); dir != path.Dir(stored) { // removed with its last file
			st.made = dir
		}
		return nil
	case info.IsDir():
		st.inside = insideOf(pl.path(), stored)
		return nil
	}
	st.Disk = fileOnDisk{Side: Side{Mode: diskMode(info)}, info: info}
	if st.Disk.Mode == 0 {
		return errors.New("neither a file nor a symlink")
	}
	if d := unread(st.Disk); o.raw && slices.Contains(t.kept, d.Hash) {
		st.Disk = d
		return nil
	}
	if o.raw {
		st.Disk, _, err = readDisk(pl, false)
		return err
	}
	st.ignored = st.Index == (Stages{}) && !o.untracked[t.Path]
	st.Work.Mode = o.s.gitMode(info, st.Index[0].Mode, t.WorkWant.Mode, t.WorkBase.Mode)
	if st.Work.Mode == trees.ModeSymlink {
		d, _, err := readDisk(pl, false)
		st.Work.Hash = d.Hash
		return err
	}
	o.asked = append(o.asked, t)
	return nil
}

// stored returns the path under which directories list an existing file or directory. On a file system
// that ignores case, it can differ from the path that opened the file.
func (o *stateReader) stored(name string) string {
	if name == "." {
		return ""
	}
	if stored, known := o.paths[name]; known {
		return stored
	}
	parent, stored := path.Dir(name), name
	above := o.stored(parent)
	if pl, err := o.s.in.open(name, false); err == nil {
		if info, err := pl.dir.Lstat(pl.name); err == nil {
			stored = path.Join(above, o.storedIn(parent, pl, info))
		}
	}
	o.paths[name] = stored
	return stored
}

// storedIn returns the name under which a directory lists an existing file.
func (o *stateReader) storedIn(parent string, pl place, info fs.FileInfo) string {
	if o.listed[parent] == nil {
		o.listed[parent] = map[string]bool{}
		entries, _ := fs.ReadDir(pl.dir.FS(), ".")
		for _, e := range entries {
			o.listed[parent][e.Name()] = true
		}
	}
	if o.listed[parent][pl.name] {
		return pl.name
	}
	for name := range o.listed[parent] {
		if other, err := pl.dir.Lstat(name); err == nil && os.SameFile(info, other) {
			return name
		}
	}
	return pl.name
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
