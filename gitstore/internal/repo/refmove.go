package repo

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

	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/refs"
)

// MoveRefs durably moves refs in one transaction, each from its expected old value, with
// a reflog entry. It moves refs in files itself if possible, otherwise through git. If a
// ref does not have its old value, MoveRefs changes nothing and returns ErrRefMoved.
func (s *Repo) MoveRefs(ctx context.Context, message string, moves ...refs.Move) error {
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
