package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/refs"

	"github.com/go-git/go-git/v5/plumbing"
)

// MoveRefs durably moves refs in one transaction, each from its expected old value, with
// a reflog entry. It moves refs in files itself if possible, otherwise through git. If a
// ref does not have its old value, MoveRefs changes nothing and returns ErrRefMoved.
func (s *Repo) MoveRefs(ctx context.Context, message string, moves ...refs.Move) error {
	s.Refs.Release()
	if err := s.MoveRefsHere(ctx, message, moves); !errors.Is(err, refs.ErrNeedsGit) {
		return err
	}
	m, err := s.startMove(ctx, message)
	if err != nil {
		return err
	}
	m.prepare(moves)
	return m.commit(ctx)
}

// A mover is a git process that waits for moves. It starts early, in parallel with other
// work, since its start takes as long as the move.
type mover struct {
	s       *Repo
	run     *git.Run
	message string
	moves   []refs.Move
}

// moveLimit is the timeout per answer of git update-ref. Git may wait for locks, hooks
// and slow disks, hence the long timeout.
const moveLimit = 10 * time.Minute

// startMove starts git. Git moves no ref before it reads the commit command. If the
// caller is killed, git's input ends without this command, so no ref moves.
func (s *Repo) startMove(ctx context.Context, message string) (*mover, error) {
	return s.startMover(ctx, message, git.Git.Start, "-c", "core.fsync=reference")
}

func (s *Repo) startMover(ctx context.Context, message string, start starter, config ...string) (*mover, error) {
	g := s.signed()
	g.Apart, g.Hold, g.Limit = true, s.IssueLock.Locks(), moveLimit
	run, err := start(g, context.WithoutCancel(ctx), slices.Concat(config, refConfig,
		[]string{"update-ref", "--no-deref", "--create-reflog", "-m", message, "--stdin", "-z"})...)
	if err != nil {
		return nil, fmt.Errorf("move refs: %w", err)
	}
	return &mover{s: s, run: run, message: message}, nil
}

// A starter is a function that starts git.
type starter func(git.Git, context.Context, ...string) (*git.Run, error)

// beginMove is startMove in the background. The returned function waits for the result.
func (s *Repo) beginMove(ctx context.Context, message string) func() (*mover, error) {
	type started struct {
		m   *mover
		err error
	}
	done := make(chan started, 1)
	go func() {
		m, err := s.startMove(ctx, message)
		done <- started{m, err}
	}()
	return func() (*mover, error) {
		got := <-done
		return got.m, got.err
	}
}

// abandon ends git without a move.
func (m *mover) abandon() {
	_, err := m.run.Finish(nil)
	if m.moves != nil {
		m.s.IssueLock.Failed(err)
		m.s.IssueLock.Done()
	}
}

// prepare sends the moves to git. While the caller continues, git locks the refs, checks
// their old values, and writes the new values into the lock files. commit reports errors.
func (m *mover) prepare(moves []refs.Move) {
	m.moves = moves
	in := []byte("start\x00")
	for _, move := range moves {
		switch {
		case move.New.IsZero():
			in = fmt.Appendf(in, "delete %s\x00%s\x00", move.Name, move.Old)
		case move.Old.IsZero():
			in = fmt.Appendf(in, "create %s\x00%s\x00", move.Name, move.New)
		default:
			in = fmt.Appendf(in, "update %s\x00%s\x00%s\x00", move.Name, move.New, move.Old)
		}
	}
	m.s.IssueLock.Begin(m.message, moves)
	_, _ = m.run.Write(append(in, "prepare\x00"...))
}

// commit makes git move the refs, with the errors of MoveRefs.
func (m *mover) commit(ctx context.Context) error {
	said, err := m.run.Finish([]byte("commit\x00"))
	defer m.s.IssueLock.Done()
	if err == nil {
		if err = m.s.RemoveStrayFiles(m.moves); err != nil {
			return fmt.Errorf("move %s: %w", m.moves[0].Name, err)
		}
		m.s.noteOwn(m.moves)
		return AfterMove(m.s.syncRefDirs(m.moves))
	}
	m.s.IssueLock.Failed(err)
	return m.settle(ctx, m.moves, bytes.Contains(said, []byte("prepare: ok")), err)
}

// refConfig makes git wait for locks of other processes. A process may hold a lock during
// a disk sync, which can exceed git's default of 100 ms.
var refConfig = []string{
	"-c", "core.filesRefLockTimeout=10000",
	"-c", "core.packedRefsTimeout=10000",
}

// signed returns git with the identity and time for reflog entries. A hook may have
// inherited the date of an old commit, and git would expire an entry with an old date at
// once.
func (s *Repo) signed() git.Git {
	by := s.people.Committer()
	return s.Git.With("GIT_COMMITTER_NAME="+by.Name, "GIT_COMMITTER_EMAIL="+by.Email,
		fmt.Sprintf("GIT_COMMITTER_DATE=@%d +0000", s.Now().Unix()))
}

// ErrRefMoved reports that another process moved the ref first.
var ErrRefMoved = errors.New("lost the race")

// syncRefDirs makes the renames of moved refs durable. Git syncs the contents of a ref,
// but not its directory. Directories are synced in the order of the moves. So a power
// loss never removes a moving checkpoint from both chain and archive.
func (s *Repo) syncRefDirs(moves []refs.Move) error {
	if s.Info.RefFormat != "files" {
		return s.syncTables()
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
	if err := syncDirs(dirs); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// folderOf returns the folder of a ref's file.
func (s *Repo) folderOf(m refs.Move) string {
	return filepath.Join(s.Info.CommonDir, filepath.Dir(filepath.FromSlash(m.Name)))
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

// settle handles the failure of a git that moves refs, based on the current refs. Git
// renames one lock file after the other. If git was killed or the disk was full
// meanwhile, some refs may have moved. Then settle moves the remaining refs.
func (m *mover) settle(ctx context.Context, moves []refs.Move, prepared bool, failed error) error {
	m.s.Refs.Release()
	var left []refs.Move
	for _, move := range moves {
		now, err := m.s.ReadRef(ctx, move.Name)
		switch {
		case err != nil:
			return fmt.Errorf("move %s: %w", move.Name, failed)
		case now == move.Old:
			left = append(left, move)
		case now != move.New || !prepared:
			return fmt.Errorf("%w: %s is at %s", ErrRefMoved, move.Name, now)
		}
	}
	switch {
	case len(left) < len(moves):
		return m.moveRemaining(ctx, moves, left)
	case staleRead(failed):
		if err := m.s.checkTaken(moves); err != nil {
			return err
		}
		return fmt.Errorf("%w: %w", ErrRefMoved, failed)
	}
	return fmt.Errorf("move %s: %w", moves[0].Name, m.s.nameLock(moves[0].Name, failed))
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
	return fmt.Errorf("%w: %s exists; if no git is running, remove it", failed, lock)
}

// moveRemaining moves the remaining refs. If a ref cannot be moved, the transaction's
// note stays. The next command for the issue then completes the transaction or rolls it
// back. moveRemaining fails only if that ref is a chain or an archive; other refs, such
// as own/, are bookkeeping. The note is necessary: without it, a repair would treat an
// old own/ as lost work and revert the rewrite.
func (m *mover) moveRemaining(ctx context.Context, moves, left []refs.Move) error {
	if len(left) > 0 {
		m.s.IssueLock.Hold()
		err := m.s.MoveRefs(ctx, m.message, left...)
		switch {
		case IsDone(err):
			m.s.IssueLock.Release()
			return err
		case err == nil:
			if at, err := m.s.progressOf(ctx, left); err == nil && len(at.left) == 0 {
				m.s.IssueLock.Release() // otherwise the chain has moved, but own/ has not
			}
		case slices.ContainsFunc(left, isChain):
			return fmt.Errorf("%s was moved, but not all that belongs to it, and the next command of the issue settles that: %w", moves[0].Name, err)
		case m.s.IssueLock == nil: // without a lock there is no note
			return AfterMove(err)
		}
	}
	m.s.noteOwn(moves)
	return AfterMove(m.s.syncRefDirs(moves))
}

// isChain reports whether a move is that of a chain or an archive.
func isChain(m refs.Move) bool {
	return !strings.HasPrefix(m.Name, OwnRefs) && !strings.HasPrefix(m.Name, fetchedRefs)
}

// staleRead reports whether git used an outdated value of a packed ref. Git identifies
// packed-refs by size, date and inode. If the file was replaced twice, all three may be
// equal again. The text is git's message in the C locale.
func staleRead(err error) bool { return strings.Contains(err.Error(), " but expected ") }

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
	left, readErr := s.stillAt(ctx, names, seen)
	switch {
	case readErr != nil:
		return readErr
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

// stillAt returns the refs that still have their seen values.
func (s *Repo) stillAt(ctx context.Context, names []string, seen map[string]plumbing.Hash) ([]string, error) {
	var left []string
	for _, name := range names {
		now, err := s.ReadRef(ctx, name)
		if err != nil {
			return nil, err
		}
		if now == seen[name] {
			left = append(left, name)
		}
	}
	return left, nil
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
		if !m.Old.IsZero() || !holds(file, m) {
			continue
		}
		err = ErrAsFiles
		os.Remove(file)
		os.Remove(filepath.Join(s.Info.CommonDir, "logs", filepath.FromSlash(m.Name)))
	}
	return err
}

// holds reports whether a file contains the new value of a move.
func holds(file string, m refs.Move) bool {
	data, err := os.ReadFile(file)
	return err == nil && strings.TrimSpace(string(data)) == m.New.String()
}
