package gitstore

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

	"git-checkpoint/gitstore/gitcmd"
	"git-checkpoint/gitstore/refs"
)

// moveRefs moves refs in one transaction through git, each from the value
// named, with a reflog entry, durably. It fails with errRefMoved when a ref is not
// where it was expected, and as it was then.
func (s *Store) moveRefs(ctx context.Context, message string, moves ...refs.Move) error {
	if err := s.moveRefsHere(ctx, message, moves); !errors.Is(err, refs.ErrNeedsGit) {
		return err
	}
	m, err := s.startMove(ctx, message)
	if err != nil {
		return err
	}
	m.prepare(moves)
	return m.commit(ctx)
}

// A mover is a git that waits to be told which refs to move. It is started
// while there is still something to do, since starting takes it as long as
// moving.
type mover struct {
	s       *Store
	run     *gitcmd.Run
	message string
	moves   []refs.Move
}

// moveLimit bounds how long a git that moves refs may take for one answer. It
// waits for locks, hooks and slow disks, so the limit is generous.
const moveLimit = 10 * time.Minute

// startMove starts git. Until it is told to commit it moves nothing, and a git
// whose caller died moves nothing at all: its input ends without a commit.
func (s *Store) startMove(ctx context.Context, message string) (*mover, error) {
	return s.startMover(ctx, message, gitcmd.Git.Start, "-c", "core.fsync=reference")
}

func (s *Store) startMover(ctx context.Context, message string, start starter, config ...string) (*mover, error) {
	g := s.signed()
	g.Apart, g.Hold, g.Limit = true, s.issueLock.Locks(), moveLimit
	run, err := start(g, context.WithoutCancel(ctx), slices.Concat(config, refConfig,
		[]string{"update-ref", "--no-deref", "--create-reflog", "-m", message, "--stdin", "-z"})...)
	if err != nil {
		return nil, fmt.Errorf("move refs: %w", err)
	}
	return &mover{s: s, run: run, message: message}, nil
}

// A starter is how a git is started.
type starter func(gitcmd.Git, context.Context, ...string) (*gitcmd.Run, error)

// beginMove is startMove, beside what the caller does until it asks for the
// mover.
func (s *Store) beginMove(ctx context.Context, message string) func() (*mover, error) {
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

// abandon ends the git without a move.
func (m *mover) abandon() {
	_, err := m.run.Finish(nil)
	if m.moves != nil {
		m.s.issueLock.Failed(err)
		m.s.issueLock.Done()
	}
}

// prepare tells git the moves. It locks the refs, checks the values expected
// and writes the new ones beside them, while the caller goes on. What goes
// wrong is told by commit.
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
	m.s.issueLock.Begin(m.message, moves)
	_, _ = m.run.Write(append(in, "prepare\x00"...))
}

// commit makes git move the refs, with the errors of moveRefs.
func (m *mover) commit(ctx context.Context) error {
	said, err := m.run.Finish([]byte("commit\x00"))
	defer m.s.issueLock.Done()
	if err == nil {
		if err = m.s.removeStrayFiles(m.moves); err != nil {
			return fmt.Errorf("move %s: %w", m.moves[0].Name, err)
		}
		return afterMove(m.s.syncRefDirs(m.moves))
	}
	m.s.issueLock.Failed(err)
	return m.settle(ctx, m.moves, bytes.Contains(said, []byte("prepare: ok")), err)
}

// refConfig lets git wait for another writer's lock: it is held while a disk
// syncs, which may take longer than git's 100 ms.
var refConfig = []string{
	"-c", "core.filesRefLockTimeout=10000",
	"-c", "core.packedRefsTimeout=10000",
}

// signed is git with the identity and the time of reflog entries. A hook may
// have inherited the date of an old commit, and an old entry expires at once.
func (s *Store) signed() gitcmd.Git {
	by := s.people.Committer()
	return s.git.With("GIT_COMMITTER_NAME="+by.Name, "GIT_COMMITTER_EMAIL="+by.Email,
		fmt.Sprintf("GIT_COMMITTER_DATE=@%d +0000", s.now().Unix()))
}

// errRefMoved reports that another writer moved the ref first.
var errRefMoved = errors.New("lost the race")

// syncRefDirs makes the renames of moved refs survive power loss: git syncs a
// ref's content, not its directory. What goes to an archive, or comes from there,
// arrives before it leaves: the directories are synced in the order of the moves.
func (s *Store) syncRefDirs(moves []refs.Move) error {
	if s.repo.RefFormat != "files" {
		return s.syncTables()
	}
	archived := func(m refs.Move) bool { return strings.HasPrefix(m.Name, archiveRefs) }
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

// syncDirsOf syncs the directories of refs. A new ref may have come with new
// directories above it.
func (s *Store) syncDirsOf(moves []refs.Move) error {
	var dirs []string
	for _, m := range moves {
		dir := filepath.Dir(filepath.FromSlash(m.Name))
		dirs = append(dirs, filepath.Join(s.repo.CommonDir, dir))
		for m.Old.IsZero() && dir != "." {
			dir = filepath.Dir(dir)
			dirs = append(dirs, filepath.Join(s.repo.CommonDir, dir))
		}
	}
	// A ref that was packed or deleted meanwhile may have taken its directory
	// along; git has synced what it wrote instead.
	dirs = slices.DeleteFunc(dirs, func(dir string) bool {
		_, err := os.Lstat(dir)
		return errors.Is(err, fs.ErrNotExist)
	})
	if err := syncDirs(dirs); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// folderOf is the folder of a ref's file.
func (s *Store) folderOf(m refs.Move) string {
	return filepath.Join(s.repo.CommonDir, filepath.Dir(filepath.FromSlash(m.Name)))
}

// shorten keeps a reflog entry to one readable line.
func shorten(message string) string {
	const limit = 1000
	if len(message) <= limit {
		return message
	}
	cut := strings.LastIndex(message[:limit], ", ")
	return message[:max(cut, 0)] + " and more"
}
