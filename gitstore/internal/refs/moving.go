package refs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/gitstore/fsutil"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Move is an update of a ref from an old to a new value.
type Move struct {
	Name     string
	Old, New plumbing.Hash
}

// ErrNeedsGit reports that no ref was changed and that git must update the refs.
var ErrNeedsGit = errors.New("left to git")

// A MovedError reports that a ref does not have the expected value. No ref was changed.
type MovedError struct {
	Name string
	Now  plumbing.Hash // zero if the ref does not exist
}

func (e *MovedError) Error() string { return fmt.Sprintf("%s is at %s", e.Name, e.Now) }

// A Dir is the common directory of a repository, $GIT_COMMON_DIR, with the files backend
// for refs.
type Dir struct {
	Path  string
	Share func(paths ...string) // sets the modes of a shared repository
}

// A Moving is a prepared update of refs: new values are written, but not visible yet. Use
// it in one goroutine. The caller must prevent other processes from staging the same
// refs.
type Moving struct {
	dir   Dir
	moves []Move
	temps []*os.File
	locks []string // held lock files
}

// Stage writes the new values to files beside the refs. It fails with ErrNeedsGit if git
// must update one of the refs.
func (d Dir) Stage(moves []Move) (*Moving, error) {
	if slices.ContainsFunc(moves, d.needsGit) {
		for _, m := range moves {
			_ = d.clear(m.Name) // git would wait for the lock file of a killed process
		}
		return nil, ErrNeedsGit
	}
	for _, m := range moves {
		if !hasNoReflog(m.Name) {
			continue
		}
		if err := d.makeFolder(filepath.Dir(d.file(m.Name))); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrNeedsGit, err)
		}
	}
	m := &Moving{dir: d, moves: moves}
	for _, move := range m.moves {
		if err := m.write(move); err != nil {
			m.Discard()
			return nil, fmt.Errorf("%w: %w", ErrNeedsGit, err)
		}
	}
	return m, nil
}

// needsGit reports whether git must move a ref: a new ref, a deleted ref, or a ref without a reflog
// that needs one.
func (d Dir) needsGit(m Move) bool {
	if m.New.IsZero() {
		return true
	}
	if hasNoReflog(m.Name) {
		return false
	}
	info, err := os.Lstat(d.log(m.Name)) // refs from a fetch have no reflog
	return m.Old.IsZero() || err != nil || !info.Mode().IsRegular()
}

// makeFolder durably creates a folder of refs with its parents.
func (d Dir) makeFolder(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := d.makeFolder(filepath.Dir(dir)); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	d.Share(dir)
	return fsutil.SyncDir(filepath.Dir(dir))
}

// Namespaces of refs that need no reflog.
const (
	Operations = "refs/git-checkpoint/operations/" // entries of operations
	HereRefs   = "refs/git-checkpoint/here/"       // files that worktrees last agreed on with checkpoints
)

func hasNoReflog(name string) bool {
	return strings.HasPrefix(name, Operations) || strings.HasPrefix(name, HereRefs)
}

// write creates the file with the new value of a ref.
func (m *Moving) write(move Move) error {
	path := m.dir.staged(move.Name)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = m.dir.makeStaged(filepath.Dir(path))
	case errors.Is(err, fs.ErrExist):
		err = m.dir.clear(move.Name)
	}
	if f == nil && err == nil {
		f, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	}
	if err != nil {
		return err
	}
	m.temps = append(m.temps, f)
	m.dir.Share(path)
	_, err = f.WriteString(move.New.String() + "\n")
	return err
}

// Files returns the files with the new values. Before Commit, the caller must make them
// durable, or write their data to disk if the journal is ordered.
func (m *Moving) Files() []*os.File { return m.temps }

// Discard removes all files of the update. It may be called after Commit.
func (m *Moving) Discard() {
	for _, lock := range m.locks {
		// A remaining lock file makes the next command wait, so retry once after a
		// temporary disk error.
		if err := os.Remove(lock); err != nil && !errors.Is(err, fs.ErrNotExist) {
			_ = os.Remove(lock)
		}
	}
	for _, f := range m.temps {
		_ = f.Close()
		_ = os.Remove(f.Name())
	}
	m.locks, m.temps = nil, nil
}

// Commit moves the refs and appends an entry to each reflog. If it fails with ErrNeedsGit
// or a MovedError, no ref has changed. After any other error, the first refs, in the
// order of moves, have moved.
func (m *Moving) Commit(e ReflogEntry) error {
	defer m.Discard()
	if err := m.lock(); err != nil {
		return fmt.Errorf("%w: %w", ErrNeedsGit, err)
	}
	for _, move := range m.moves {
		now, err := m.dir.now(move.Name)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrNeedsGit, err)
		}
		if now != move.Old {
			return &MovedError{move.Name, now}
		}
	}
	logs, err := m.dir.openLogs(m.moves)
	defer logs.close()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNeedsGit, err)
	}
	return m.rename(logs, e)
}

// lock creates the lock files of all refs as links to the staged files, and checks that
// each link is that file.
func (m *Moving) lock() error {
	for i, move := range m.moves {
		lock := m.dir.file(move.Name) + ".lock"
		if err := sameGroup(filepath.Dir(m.temps[i].Name()), filepath.Dir(lock)); err != nil {
			return err
		}
		if err := os.Link(m.temps[i].Name(), lock); err != nil {
			return err
		}
		m.locks = append(m.locks, lock)
		if !sameFile(m.temps[i], lock) {
			return fmt.Errorf("%s is another file", lock)
		}
	}
	return nil
}

// rename appends the reflog entries and renames the lock files to the refs.
func (m *Moving) rename(logs logs, e ReflogEntry) error {
	for i, move := range m.moves {
		err := logs[i].append(e.line(move))
		if err == nil {
			if err = os.Rename(m.locks[0], m.dir.file(move.Name)); err != nil {
				err = errors.Join(err, logs[i].takeBack())
			}
		}
		switch {
		case err != nil && i == 0:
			return fmt.Errorf("%w: %w", ErrNeedsGit, err)
		case err != nil:
			return fmt.Errorf("move %s: %w", move.Name, err)
		}
		m.locks = m.locks[1:]
	}
	return nil
}

// file returns the path of a ref.
func (d Dir) file(name string) string { return filepath.Join(d.Path, filepath.FromSlash(name)) }

// staged returns the path of the file with the new value of a ref. The path depends only
// on the ref, so that a remaining file identifies the lock of a killed process.
func (d Dir) staged(name string) string {
	return filepath.Join(d.stagedRoot(), filepath.FromSlash(strings.TrimPrefix(name, "refs/")))
}

func (d Dir) stagedRoot() string { return filepath.Join(d.Path, "git-checkpoint", "moving") }

// makeStaged creates the directory of staged files.
func (d Dir) makeStaged(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for top := filepath.Dir(filepath.Dir(d.stagedRoot())); dir != top; dir = filepath.Dir(dir) {
		d.Share(dir)
	}
	return nil
}

// clear removes the staged file and lock file of a killed process. The staged file may be
// a hard link to the ref itself, so it must not be overwritten.
func (d Dir) clear(name string) error {
	staged, lock := d.staged(name), d.file(name)+".lock"
	left, err := os.Lstat(staged)
	if err != nil {
		return err
	}
	if held, err := os.Lstat(lock); err == nil && os.SameFile(left, held) {
		if err := os.Remove(lock); err != nil {
			return err
		}
	}
	return os.Remove(staged)
}

// sameFile reports whether name refers to the open file f.
func sameFile(f *os.File, name string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(name)
	return err == nil && os.SameFile(open, named)
}

// now returns the value of a locked ref. The lock prevents git from packing the ref, so
// reading its file first and packed-refs second is correct.
func (d Dir) now(name string) (plumbing.Hash, error) {
	data, err := readPlain(d.file(name))
	if errors.Is(err, fs.ErrNotExist) {
		return readPacked(d.Path, name)
	}
	if err != nil {
		return plumbing.ZeroHash, err
	}
	hex, ok := bytes.CutSuffix(data, []byte("\n"))
	if !ok || !plumbing.IsHash(string(hex)) {
		return plumbing.ZeroHash, fmt.Errorf("%s is not a regular ref", name)
	}
	return plumbing.NewHash(string(hex)), nil
}

// readPlain reads the file of a ref. It fails for symbolic links.
func readPlain(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, 100))
}

// MayBe reports whether git check-ref-format accepts a name. The path of such a ref is
// always inside the directory of refs.
func MayBe(name string) bool {
	bad := func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`~^:?*[\`, r) }
	if strings.Contains(name, "..") || strings.Contains(name, "@{") || strings.ContainsFunc(name, bad) {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return !strings.HasSuffix(name, ".")
}
