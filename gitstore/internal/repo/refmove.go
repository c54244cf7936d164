package repo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/odb"
	"git-checkpoint/gitstore/internal/refs"

	"github.com/go-git/go-git/v5/plumbing"
)

// refConfig makes git wait for locks of other processes. A process may hold a lock during
// a disk sync, which can exceed git's default of 100 ms.
var refConfig = []string{
	"-c", "core.filesRefLockTimeout=10000",
	"-c", "core.packedRefsTimeout=10000",
}

// syncRefDirs makes the renames of moved refs durable. Git syncs the contents of a ref,
// but not its directory. Directories are synced in the order of the moves. So a power
// loss never removes a moving checkpoint from both chain and archive.
func (s *Repo) syncRefDirs(moves []refs.Move) error {
	if s.Info.RefFormat != "files" {
		// Git syncs new tables before writing their last bytes, and never syncs directories.
		u := &unsynced{s: s, since: odb.Recent(time.Time{})}
		u.refsIn(filepath.Join(s.Info.CommonDir, "reftable"))
		return s.Objects.SyncFiles(u.files)
	}
	archived := func(m refs.Move) bool { return strings.HasPrefix(m.Name, ArchiveRefs) }
	for len(moves) > 0 {
		n := slices.IndexFunc(moves, func(m refs.Move) bool { return archived(m) != archived(moves[0]) })
		if n < 0 {
			n = len(moves)
		}
		if err := s.syncDirsOf(moves[:n]); err != nil {
			return err
		}
		moves = moves[n:]
	}
	return nil
}

// syncDirsOf syncs the directories of refs. A new ref may have new parent directories.
func (s *Repo) syncDirsOf(moves []refs.Move) error {
	var dirs []string
	for _, m := range moves {
		dir := filepath.Dir(filepath.FromSlash(m.Name))
		dirs = append(dirs, filepath.Join(s.Info.CommonDir, dir))
		for m.Old.IsZero() && dir != "." {
			dir = filepath.Dir(dir)
			dirs = append(dirs, filepath.Join(s.Info.CommonDir, dir))
		}
	}
	// If a ref was packed or deleted concurrently, its directory may be gone. Git has
	// synced its own writes then.
	dirs = slices.DeleteFunc(dirs, func(dir string) bool {
		_, err := os.Lstat(dir)
		return errors.Is(err, fs.ErrNotExist)
	})
	slices.Sort(dirs)
	dirs = slices.Compact(dirs)
	errs := make([]error, len(dirs))
	var wait sync.WaitGroup // concurrent syncs share the file system's journal commits
	for i, dir := range dirs {
		wait.Go(func() { errs[i] = fsutil.SyncDir(dir) })
	}
	wait.Wait()
	if err := errors.Join(errs...); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Shorten limits a reflog message to one readable line.
func Shorten(message string) string {
	const limit = 1000
	if len(message) <= limit {
		return message
	}
	cut := strings.LastIndex(message[:limit], ", ")
	return message[:max(cut, 0)] + " and more"
}

// checkTaken returns an error if the file system has the file of another ref under the name of a
// packed ref. Such a ref never gets its expected value.
func (s *Repo) checkTaken(moves []refs.Move) error {
	for _, move := range moves {
		if s.Refs.IsTaken(move.Name) {
			return &RefusedError{
				Reason: fmt.Sprintf("move %s: the file system treats the name of another ref as equal", move.Name),
				Hint:   "git for-each-ref " + failure.Quote(path.Dir(move.Name)+"/"),
			}
		}
	}
	return nil
}

// nameLock adds to git's error about a locked ref or reftable the lock file, and that it
// may be removed. Normally git removes the lock. The lock remains if git was killed or a
// disk failed; its owner cannot be determined.
func (s *Repo) nameLock(ref string, failed error) error {
	lock := filepath.Join(s.Info.CommonDir, "reftable", "tables.list.lock")
	if _, err := os.Lstat(lock); err != nil || !strings.Contains(failed.Error(), "cannot lock references") {
		lock = filepath.Join(s.Info.CommonDir, filepath.FromSlash(ref)+".lock")
		if _, err := os.Lstat(lock); err != nil || !strings.Contains(failed.Error(), "File exists") {
			return failed
		}
	}
	return failure.Errorf(failure.Failure, "git checkpoint doctor --fix", "%w: %s exists; if no git is running, remove it", failed, lock)
}

// DeleteRefs deletes bookkeeping refs that still equal their seen values. It uses as few
// transactions as possible: there may be thousands of refs, and each transaction is a git
// process that rewrites packed-refs. If a ref cannot be deleted, the others still are,
// and the error is returned.
func (s *Repo) DeleteRefs(ctx context.Context, seen map[string]plumbing.Hash) error {
	names := make([]string, 0, len(seen))
	for name := range seen {
		names = append(names, name)
	}
	slices.Sort(names)
	if s.IssueLock != nil {
		return s.deleteSome(ctx, names, seen)
	}
	return s.WithNamedLocks(ctx, []string{refs.Bookkeeping}, func() error { return s.deleteSome(ctx, names, seen) })
}

func (s *Repo) deleteSome(ctx context.Context, names []string, seen map[string]plumbing.Hash) error {
	if len(names) == 0 {
		return nil
	}
	var in []byte
	var moves []refs.Move
	for _, name := range names {
		in = fmt.Appendf(in, "delete %s\x00%s\x00", name, seen[name])
		moves = append(moves, refs.Move{Name: name, Old: seen[name]})
	}
	err := s.Noted("delete", moves, func(g git.Git) error {
		_, err := g.Pipe(ctx, in, "update-ref", "--no-deref", "--stdin", "-z")
		return err
	})
	if err == nil || ctx.Err() != nil {
		return err
	}
	var left []string
	for _, name := range names {
		now, err := s.ReadRef(ctx, name)
		if err != nil {
			return err
		}
		if now == seen[name] {
			left = append(left, name)
		}
	}
	switch {
	case len(left) < len(names): // another process deletes refs, too
		return s.deleteSome(ctx, left, seen)
	case len(left) == 1:
		return fmt.Errorf("remove %s: %w", left[0], err)
	}
	half := len(left) / 2
	first := s.deleteSome(ctx, left[:half], seen)
	if err := s.deleteSome(ctx, left[half:], seen); err != nil {
		return err
	}
	return first
}

// Noted runs work, a git that locks refs, under a note in the issue lock. If this git is
// killed, its stale locks can be removed.
func (s *Repo) Noted(message string, moves []refs.Move, work func(git.Git) error) error {
	g := s.Git
	g.Apart, g.Hold = true, s.IssueLock.Locks()
	s.IssueLock.Begin(message, moves)
	defer s.IssueLock.Done()
	err := work(g)
	if err != nil {
		s.IssueLock.Failed(err)
	}
	return err
}

// If git cannot open the configuration of a repository with reftables, for example
// without free file descriptors, it assumes refs in files. It finds no refs, creates new
// refs as files that no later git reads, and exits with status 0.

// ErrAsFiles reports that git assumed refs in files.
var ErrAsFiles = errors.New("git could not read the repository's configuration")

// RemoveStrayFiles removes refs that git created as files in a repository with reftables.
// If it finds such a file, it fails, since no ref has moved. Updates of existing refs
// need no check, because such a git does not find existing refs.
func (s *Repo) RemoveStrayFiles(moves []refs.Move) error {
	if !fsutil.Exists(filepath.Join(s.Info.CommonDir, "reftable", "tables.list")) {
		return nil
	}
	var err error
	for _, m := range moves {
		file := filepath.Join(s.Info.CommonDir, filepath.FromSlash(m.Name))
		data, readErr := os.ReadFile(file)
		if !m.Old.IsZero() || readErr != nil || strings.TrimSpace(string(data)) != m.New.String() {
			continue
		}
		err = ErrAsFiles
		os.Remove(file)
		os.Remove(filepath.Join(s.Info.CommonDir, "logs", filepath.FromSlash(m.Name)))
	}
	return err
}
