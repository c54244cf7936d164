package refs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Move is a ref that goes on from one value to another.
type Move struct {
	Name     string
	Old, New plumbing.Hash
}

// ErrNeedsGit reports that nothing was changed, and that git has to move the refs.
var ErrNeedsGit = errors.New("left to git")

// A MovedError says that a ref is not where it was expected. Nothing was
// changed.
type MovedError struct {
	Name string
	Now  plumbing.Hash // zero where there is none
}

func (e *MovedError) Error() string { return fmt.Sprintf("%s is at %s", e.Name, e.Now) }

// A Dir is a repository's folder, $GIT_COMMON_DIR, with refs that are files.
type Dir struct {
	Path  string
	Share func(paths ...string) // gives new files the modes of a shared repository
}

// A Moving is some refs that are about to move. Their new values are written,
// nothing can be seen of them. It is for one goroutine, and for one process: who
// stages has to keep others from staging the same refs.
type Moving struct {
	dir   Dir
	moves []Move
	temps []*os.File
	locks []string // that are held
}

// Stage writes the new values beside the refs. It fails with ErrNeedsGit where git
// has to move one of them.
func (d Dir) Stage(moves []Move) (*Moving, error) {
	if slices.ContainsFunc(moves, func(m Move) bool { return m.Old.IsZero() || m.New.IsZero() || !d.logged(m) }) {
		for _, m := range moves {
			_ = d.clear(m.Name) // git would wait for the lock of one who was killed
		}
		return nil, ErrNeedsGit
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

// logged reports whether a ref has a reflog. One that came with a fetch has none,
// and that is better known before anything is made for its move.
func (d Dir) logged(m Move) bool {
	info, err := os.Lstat(d.log(m.Name))
	return err == nil && info.Mode().IsRegular()
}

// write makes the file of a new value.
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

// Files are the files with the new values. Before Commit they have to be made
// durable, or to be written out where a journal keeps the order.
func (m *Moving) Files() []*os.File { return m.temps }

// Discard removes what was made for the move. It may follow Commit.
func (m *Moving) Discard() {
	for _, lock := range m.locks {
		// A lock that stays makes the next command wait in vain, and a disk that
		// failed once may not fail again.
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

// Commit moves the refs, each with an entry in its reflog. It fails with
// ErrNeedsGit or a MovedError before anything has changed; after any other error
// some of the refs have moved, in the order in which they were given.
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

// lock takes the locks of all refs. Each is the file that was staged, and none
// that somebody else put there meanwhile.
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

// rename puts the new values in their place.
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

// file is the file of a ref.
func (d Dir) file(name string) string { return filepath.Join(d.Path, filepath.FromSlash(name)) }
