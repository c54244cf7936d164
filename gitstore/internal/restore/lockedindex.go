package restore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/contents"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// A lockedIndex is the index read by a restore. While locked, no git process can write it.
type lockedIndex struct {
	s    *worktree
	file string // index path with resolved symlinks
	lock string // path of git's lock file, "" if not locked by this process

	list     indexList
	intended []string // paths of git add -N

	compared bool          // the index was compared with HEAD
	head     plumbing.Hash // tree of HEAD, zero on an unborn branch
	changes  []trees.Change
}

// openLockedIndex reads the index. If write is set, it takes git's index lock first. It
// returns a *LockedError if another git process holds the lock.
func (s *worktree) openLockedIndex(ctx context.Context, write bool) (*lockedIndex, error) {
	a := s.lockedIndexFiles()
	if write {
		if err := a.takeLock(); err != nil {
			return nil, err
		}
	}
	err := a.read(ctx)
	if err != nil {
		err = fmt.Errorf("read index: %w", err)
	} else if s.in, err = openPlaces(s.repo.Info.Root, false); err != nil {
		err = fmt.Errorf("open worktree: %w", err)
	}
	if err != nil {
		a.freeLock()
		return nil, err
	}
	return a, nil
}

// lockedIndexFiles returns the index paths without reading the index.
func (s *worktree) lockedIndexFiles() *lockedIndex {
	a := &lockedIndex{s: s, file: s.repo.Info.Index}
	if resolved, err := filepath.EvalSymlinks(a.file); err == nil {
		a.file = resolved
	}
	return a
}

func (a *lockedIndex) close() {
	a.s.in.close()
	a.freeLock()
}

// The index lock is git's <index>.lock, created as a hard link to a file in State, or as a copy
// of it on a file system without hard links. The content shows the lock of a killed restore, which
// can be removed. Callers hold the worktree's restore lock.
func (a *lockedIndex) held() string { return filepath.Join(a.s.repo.StateDir(), "index.held") }

// copied is beside the index, so that it can replace the index by a rename.
func (a *lockedIndex) copied() string { return a.file + ".git-checkpoint" }

func (a *lockedIndex) takeLock() error {
	a.freeStale()
	lock := a.file + ".lock"
	text := fmt.Appendf(nil, "%s%d\n", lockText, os.Getpid())
	if err := os.WriteFile(a.held(), text, 0o666); err != nil {
		return fmt.Errorf("lock index: %w", err)
	}
	a.s.repo.Objects.Share(a.held())
	err := hardLink(a.held(), lock)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		err = createLock(lock, text)
	}
	if errors.Is(err, fs.ErrExist) {
		return &LockedError{Lock: lock}
	}
	if err != nil {
		return fmt.Errorf("lock index: %w", err)
	}
	a.s.repo.Objects.Share(lock) // a copy of the held file, without hard links
	a.lock = lock
	return nil
}

// lockText begins the content of the lock. An index of git, which git writes to its lock,
// begins with other bytes.
const lockText = "git-checkpoint "

// hardLink is a variable for tests.
var hardLink = os.Link

func createLock(name string, text []byte) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}

// isStale reports whether a restore of this program created the existing lock.
func (a *lockedIndex) isStale() bool {
	ours, err := os.ReadFile(a.held())
	if err != nil || !bytes.HasPrefix(ours, []byte(lockText)) {
		return false
	}
	info, err := os.Lstat(a.file + ".lock")
	if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(ours)) {
		return false
	}
	lock, err := os.ReadFile(a.file + ".lock")
	return err == nil && bytes.Equal(ours, lock)
}

// freeStale removes files of a killed restore.
func (a *lockedIndex) freeStale() {
	if a.isStale() {
		os.Remove(a.file + ".lock")
	}
	for _, name := range []string{a.held(), a.copied(), a.copied() + ".lock"} {
		os.Remove(name)
	}
}

func (a *lockedIndex) freeLock() {
	if a.lock == "" {
		return
	}
	if err := os.Remove(a.lock); err == nil || errors.Is(err, fs.ErrNotExist) {
		os.Remove(a.held())
	} // otherwise the next restore recognizes the lock as its own
	a.lock = ""
}

// An indexEdit is a change of one index entry.
type indexEdit struct {
	path           string
	want           Stages
	change         bool // write mode and hash, not only stat data
	sparse, assume bool // existing flags to keep
	fresh          bool // worktree file matches want: update its stat data
}

// A formerIndex is an index file as it was before an operation.
type formerIndex struct {
	data []byte // nil if the entry has no index file
	time time.Time
}

// edit changes index entries in a copy and then replaces the index. Git writes the copy.
// Files that match their staged content are added by git update-index, which also records
// stat data; other entries are written by hash. If the edits lead to a former index, edit writes
// the bytes of that one, with its flags and its notes about resolved conflicts.
func (a *lockedIndex) edit(ctx context.Context, edits []indexEdit, former formerIndex) error {
	if len(edits) == 0 {
		return nil
	}
	defer os.Remove(a.copied())
	w := &indexWriter{s: a.s, git: a.git().OnIndex(a.copied(), a.s.repo.Config...).With("GIT_LITERAL_PATHSPECS=1"), file: a.copied()}
	isFormer, err := a.copyFormer(ctx, w, edits, former)
	switch {
	case err != nil:
		return fmt.Errorf("write the former index: %w", err)
	case isFormer:
		w.refresh(ctx, edits)
	default:
		if err := fsutil.CopyWithTime(a.file, a.copied()); err != nil {
			return fmt.Errorf("copy index: %w", err)
		}
		if err := w.write(ctx, edits); err != nil {
			return fmt.Errorf("write index: %w", err)
		}
	}
	// After a kill, either the old or the new index exists, and the lock is recognizable.
	if err := os.Rename(a.copied(), a.file); err != nil {
		return fmt.Errorf("write index: %w", err)
	}
	return nil
}

// copyFormer writes a former index to the copy, and reports whether it differs from the present one
// only in the entries that the edits change.
func (a *lockedIndex) copyFormer(ctx context.Context, w *indexWriter, edits []indexEdit, former formerIndex) (bool, error) {
	if former.data == nil {
		return false, nil
	}
	err := fsutil.CopyWithTime(a.file, a.copied()) // with its mode
	if err == nil {
		err = os.WriteFile(a.copied(), former.data, 0o666)
	}
	if err != nil {
		return false, err
	}
	// Git compares the times of files with that of the index.
	if err := os.Chtimes(a.copied(), former.time, former.time); err != nil {
		return false, fsutil.IgnoreRefused(err)
	}
	list, err := listIndex(ctx, w.git)
	if err != nil {
		return false, ctx.Err() // git has expired the shared part of a split index
	}
	changed := map[string]bool{}
	for _, e := range edits {
		changed[e.path] = changed[e.path] || e.change
	}
	isChanged := func(line string) bool { return changed[line[pathAt:]] }
	return slices.Equal(slices.DeleteFunc(list, isChanged), slices.DeleteFunc(slices.Clone(a.list), isChanged)), nil
}

// An indexWriter changes a copy of the index.
type indexWriter struct {
	s    *worktree
	git  git.Git // for the copy, run from the worktree root
	file string
}

func (w *indexWriter) run(ctx context.Context, stdin []byte, args ...string) error {
	_, err := w.git.Pipe(ctx, stdin, args...)
	return err
}

func (w *indexWriter) write(ctx context.Context, edits []indexEdit) error {
	var byHash, fresh []indexEdit
	for _, e := range edits {
		switch {
		case e.fresh && !e.sparse && !e.assume:
			fresh = append(fresh, e)
		case e.change:
			byHash = append(byHash, e)
		}
	}
	if err := w.writeHashes(ctx, byHash); err != nil {
		return err
	}
	wrong, err := w.add(ctx, fresh)
	if err != nil {
		return err
	}
	// Git's filters turned these files into other content than staged, for example with
	// an asymmetric filter.
	if err := w.writeHashes(ctx, wrong); err != nil {
		return err
	}
	w.refresh(ctx, wrong)
	return w.flags(ctx, edits)
}

// refresh updates the stat data of entries. It is only an optimization, so errors are ignored.
func (w *indexWriter) refresh(ctx context.Context, edits []indexEdit) {
	there := slices.DeleteFunc(edits, func(e indexEdit) bool { return e.want == Stages{} })
	if len(there) > 0 {
		_ = w.run(ctx, pathsOf(there), "add", "--refresh", "--pathspec-from-file=-", "--pathspec-file-nul")
	}
}

// writeHashes writes entries by hash. It first removes all paths, so that a file can
// replace a directory and vice versa, then adds the wanted entries.
func (w *indexWriter) writeHashes(ctx context.Context, edits []indexEdit) error {
	if len(edits) == 0 {
		return nil
	}
	var info bytes.Buffer
	for _, e := range edits {
		fmt.Fprintf(&info, "0 %s\t%s\x00", plumbing.ZeroHash, e.path)
	}
	for _, e := range edits {
		for stage, f := range e.want {
			if f != (Side{}) && f != contents.Intended {
				fmt.Fprintf(&info, "%o %s %d\t%s\x00", f.Mode, f.Hash, stage, e.path)
			}
		}
	}
	return w.run(ctx, info.Bytes(), "update-index", "-z", "--index-info")
}

// add stages worktree files and returns entries whose result differs from want.
func (w *indexWriter) add(ctx context.Context, edits []indexEdit) (wrong []indexEdit, err error) {
	if len(edits) == 0 {
		return nil, nil
	}
	var gone, come []indexEdit
	for _, e := range edits {
		if e.want == (Stages{}) {
			gone = append(gone, e)
		} else {
			come = append(come, e)
		}
	}
	if err := w.run(ctx, pathsOf(append(gone, come...)), "update-index", "-z", "--add", "--remove", "--stdin"); err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return edits, fsutil.IgnoreMissing(os.Remove(w.file + ".lock"))
	}
	paths := make([]string, len(edits))
	for i, e := range edits {
		paths[i] = e.path
	}
	x, err := listIndex(ctx, w.git, paths...)
	if err != nil {
		return nil, err
	}
	for _, e := range edits {
		if x.lookup(e.path).stages != e.want {
			wrong = append(wrong, e)
		}
	}
	return wrong, nil
}

// flags restores entry flags: skip-worktree, assume-unchanged and intent-to-add.
func (w *indexWriter) flags(ctx context.Context, edits []indexEdit) error {
	var sparse, assume, intent []indexEdit
	for _, e := range edits {
		switch {
		case !e.change || e.want[0] == Side{}:
		case e.want[0] == contents.Intended:
			intent = append(intent, e)
		case e.sparse:
			sparse = append(sparse, e)
		case e.assume:
			assume = append(assume, e)
		}
	}
	for _, f := range []struct {
		edits []indexEdit
		args  []string
	}{
		{sparse, []string{"update-index", "-z", "--skip-worktree", "--stdin"}},
		{assume, []string{"update-index", "-z", "--assume-unchanged", "--stdin"}},
	} {
		if len(f.edits) == 0 {
			continue
		}
		if err := w.run(ctx, pathsOf(f.edits), f.args...); err != nil {
			return err
		}
	}
	return w.intend(ctx, intent)
}

// intend writes intent-to-add entries. Git add refuses them for paths without a file, and git reset
// makes such an entry of each path that the tree lacks.
func (w *indexWriter) intend(ctx context.Context, edits []indexEdit) error {
	if len(edits) == 0 {
		return nil
	}
	empty, err := w.git.Pipe(ctx, nil, "hash-object", "-t", "blob", "--stdin")
	if err != nil {
		return err
	}
	tree, err := w.git.Pipe(ctx, nil, "hash-object", "-t", "tree", "--stdin")
	if err != nil {
		return err
	}
	var info bytes.Buffer
	for _, e := range edits {
		fmt.Fprintf(&info, "100644 %s 0\t%s\x00", bytes.TrimSpace(empty), e.path)
	}
	if err := w.run(ctx, info.Bytes(), "update-index", "-z", "--index-info"); err != nil {
		return err
	}
	return w.run(ctx, pathsOf(edits), "reset", "-q", "-N", string(bytes.TrimSpace(tree)), "--pathspec-from-file=-", "--pathspec-file-nul")
}

func pathsOf(edits []indexEdit) []byte {
	var b strings.Builder
	for _, e := range edits {
		b.WriteString(e.path + "\x00")
	}
	return []byte(b.String())
}
