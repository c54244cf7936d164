package refs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/git"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Move is an update of a ref from an old to a new value. Zero means that the ref does not exist.
type Move struct {
	Name     string
	Old, New plumbing.Hash
}

// An Update is a transaction that moves refs.
type Update struct {
	Git     git.Git // with the committer of the reflog entries
	Message string  // of the reflog entries
	Moves   []Move
	Locked  bool // the caller has locked the issues of the refs
}

// ErrMoved reports that a ref does not have its old value. No ref was moved.
var ErrMoved = errors.New("lost the race")

// isPrepared is the answer of git to the command prepare.
const isPrepared = "prepare: ok"

// config makes git sync the new values, and wait for the locks of other processes. A process may
// hold a lock during a disk sync, which can exceed git's default of 100 ms.
var config = []string{"-c", "core.fsync=reference", "-c", "core.filesRefLockTimeout=10000", "-c", "core.packedRefsTimeout=10000"}

// manyMoves is the number of moves above which git only writes the new values out, and the sync of
// their directories flushes the disk once. Otherwise 3,000 syncs take seconds.
const manyMoves = 64

// moveLimit is the timeout of git update-ref. Git may wait for locks, hooks and slow disks, hence the
// long timeout.
const moveLimit = 10 * time.Minute

// Update moves refs with one git process. Git locks all refs, compares them with their old values,
// runs hooks, and renames the lock files in the order of the moves; deletions come last. If git is
// killed between two refs, the first ones have moved. Callers order the moves so that the next
// writer of the issue can continue: a checkpoint first arrives at a place, then leaves the other.
//
// Update fails with ErrMoved if a ref has another value. After a *failure.DoneError, the refs have
// moved. Otherwise no ref has moved, unless the error says so.
func (r *Reader) Update(ctx context.Context, u Update) error {
	if u.Locked {
		r.SetAsideLocks(u.Moves)
	}
	prepared, err := r.update(ctx, u)
	if failed, ok := errors.AsType[*git.CommandError](err); ok {
		err = r.settle(ctx, u, prepared, failed)
	}
	if err != nil {
		return err
	}
	if err := r.removeStrayFiles(u.Moves); err != nil {
		return fmt.Errorf("move %s: %w", u.Moves[0].Name, err)
	}
	if err := r.sync(u.Moves); err != nil {
		return &failure.DoneError{Err: err}
	}
	return nil
}

// update runs git. It also reports whether git has locked all refs with their old values.
func (r *Reader) update(ctx context.Context, u Update) (prepared bool, err error) {
	settings := config
	if len(u.Moves) > manyMoves {
		settings = slices.Concat(config, []string{"-c", "core.fsyncMethod=writeout-only"})
	}
	in := []byte("start\x00")
	for _, m := range u.Moves {
		switch {
		case m.New.IsZero():
			in = fmt.Appendf(in, "delete %s\x00%s\x00", m.Name, m.Old)
		case m.Old.IsZero():
			in = fmt.Appendf(in, "create %s\x00%s\x00", m.Name, m.New)
		default:
			in = fmt.Appendf(in, "update %s\x00%s\x00%s\x00", m.Name, m.New, m.Old)
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), moveLimit)
	defer cancel()
	said, err := u.Git.Pipe(ctx, append(in, "prepare\x00commit\x00"...),
		append(slices.Clone(settings), "update-ref", "--no-deref", "--create-reflog", "-m", u.Message, "--stdin", "-z")...)
	return bytes.Contains(said, []byte(isPrepared)), err
}

// settle handles the failure of git, based on the current refs. If the disk was full meanwhile, for
// example, some refs may have moved; then settle moves the others.
func (r *Reader) settle(ctx context.Context, u Update, prepared bool, failed *git.CommandError) error {
	r.Release()
	var left []Move
	for _, m := range u.Moves {
		now, err := r.Read(ctx, m.Name)
		switch {
		case err != nil:
			return fmt.Errorf("move %s: %w", m.Name, failed)
		case now == m.Old:
			left = append(left, m)
		case now != m.New || !prepared:
			return fmt.Errorf("%w: %s is at %s", ErrMoved, m.Name, now)
		}
	}
	first := u.Moves[0].Name
	switch {
	case len(left) == 0:
		return nil
	case len(left) == len(u.Moves) && strings.Contains(failed.Stderr, " but expected "):
		// Git may have read an old packed-refs, if a new one has the same size, date and inode.
		for _, m := range u.Moves { // the ref of a packed name that another file has never gets its expected value
			if r.Files && isTaken(folder(r.Path), m.Name) {
				return failure.Errorf(failure.Refused, "git for-each-ref "+failure.Quote(path.Dir(m.Name)+"/"),
					"move %s: the file system treats the name of another ref as equal", m.Name)
			}
		}
		return fmt.Errorf("%w: %w", ErrMoved, failed)
	case len(left) == len(u.Moves):
		return fmt.Errorf("move %s: %w", first, r.nameLock(first, failed))
	}
	var err error = failed
	if failed.Code >= 0 { // a killed git has left its locks
		u.Moves = left
		_, err = r.update(ctx, u)
	}
	switch {
	case err == nil:
		return nil
	case slices.ContainsFunc(left, func(m Move) bool { return !Below(m.Name, []string{bookkeeping}) }):
		return fmt.Errorf("%s was moved, but not all that belongs to it; run the command again, or git checkpoint doctor --fix: %w", first, err)
	}
	return &failure.DoneError{Err: fmt.Errorf("move %s: %w", left[0].Name, err)}
}

// nameLock adds to git's error about a lock the lock file, and that it may be removed. Normally git
// removes the lock. The lock remains if git was killed or a disk failed.
func (r *Reader) nameLock(ref string, failed error) error {
	for _, lock := range []struct{ file, message string }{
		{"reftable/tables.list.lock", "cannot lock references"},
		{"packed-refs.lock", "packed-refs.lock"},
		{"packed-refs.new", "packed-refs.new"},
		{ref + ".lock", "File exists"},
	} {
		if path := r.file(lock.file); fsutil.Exists(path) && strings.Contains(failed.Error(), lock.message) {
			return failure.Errorf(failure.Failure, "git checkpoint doctor --fix", "%w: %s exists; if no git is running, remove it", failed, path)
		}
	}
	return failed
}

// sync makes the moves durable: git syncs the file of a ref, before 2.36 not even that, and never its
// directory. They are synced in the order of the moves, so that a checkpoint arrives at a place before
// it leaves the other.
func (r *Reader) sync(moves []Move) error {
	if !r.Files {
		// Git syncs new tables before writing their last bytes.
		tables, _ := filepath.Glob(filepath.Join(r.Path, "reftable", "*"))
		for _, file := range append(tables, filepath.Join(r.Path, "reftable")) {
			if err := fsutil.IgnoreMissing(fsutil.SyncDir(file)); err != nil {
				return err
			}
		}
		return nil
	}
	synced := map[string]bool{}
	for _, m := range moves {
		if len(moves) <= manyMoves {
			if err := fsutil.IgnoreMissing(fsutil.SyncFile(r.file(m.Name))); err != nil {
				return err
			}
		}
		// A new ref may have new parent directories.
		for dir := path.Dir(m.Name); dir != "." && !synced[dir]; dir = path.Dir(dir) {
			synced[dir] = true
			if err := fsutil.IgnoreMissing(fsutil.SyncDir(r.file(dir))); err != nil {
				return err
			}
			if !m.Old.IsZero() {
				break
			}
		}
	}
	return nil
}

// If git cannot open the configuration of a repository with reftables, for example
// without free file descriptors, it assumes refs in files. It finds no refs, creates new
// refs as files that no later git reads, and exits with status 0.

// ErrAsFiles reports that git assumed refs in files.
var ErrAsFiles = errors.New("git could not read the repository's configuration")

// removeStrayFiles removes refs that git created as files in a repository with reftables.
// If it finds such a file, it fails, since no ref has moved. Updates of existing refs
// need no check, because such a git does not find existing refs.
func (r *Reader) removeStrayFiles(moves []Move) error {
	if !fsutil.Exists(filepath.Join(r.Path, "reftable", "tables.list")) {
		return nil
	}
	var err error
	for _, m := range moves {
		data, readErr := os.ReadFile(r.file(m.Name))
		if !m.Old.IsZero() || readErr != nil || strings.TrimSpace(string(data)) != m.New.String() {
			continue
		}
		err = ErrAsFiles
		os.Remove(r.file(m.Name))
		os.Remove(r.file("logs/" + m.Name))
	}
	return err
}

func (r *Reader) file(name string) string { return filepath.Join(r.Path, filepath.FromSlash(name)) }
