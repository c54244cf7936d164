package gitstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/gitstore/gitcmd"
	"git-checkpoint/gitstore/refs"
)

// A moveHere is refs that are about to move without a git process.
type moveHere struct {
	s     *Store
	moves []refs.Move
	*refs.Moving

	inOrder bool // one sync stands for all that was done before it
}

// stage gets refs ready to be moved here. It fails with refs.ErrNeedsGit where that
// is git's to do.
func (s *Store) stage(moves []refs.Move) (*moveHere, error) {
	if !s.movesHere() {
		return nil, refs.ErrNeedsGit
	}
	staged, err := s.refDir().Stage(moves)
	if err != nil {
		return nil, err
	}
	return &moveHere{s: s, moves: moves, Moving: staged}, nil
}

// movesHere reports whether refs are files that nobody else has a say in. The
// issue lock keeps other processes of this program from them, if it is that of all
// issues, and knows what to do when this one is killed.
func (s *Store) movesHere() bool {
	return refs.Here && s.issueLock.HeldAll() && s.repo.RefFormat == "files" && os.Getenv("GIT_QUARANTINE_PATH") == "" && !s.hooked()
}

// hooked reports whether a hook may have to be told of moves of refs: git's
// reference-transaction. It is git that runs hooks.
func (s *Store) hooked() bool {
	if slices.ContainsFunc(s.config, func(e gitcmd.ConfigEntry) bool { return strings.HasPrefix(e.Key, "hook.") }) {
		return true
	}
	dir := filepath.Join(s.repo.CommonDir, "hooks")
	if path, set := gitcmd.Last(s.config, "core.hookspath"); set {
		switch {
		case filepath.IsAbs(path):
			dir = path
		case path == "" || strings.ContainsAny(path[:1], "~%") || s.repo.Root == "":
			return true
		default:
			dir = filepath.Join(s.repo.Root, path)
		}
	}
	_, err := os.Lstat(filepath.Join(dir, "reference-transaction"))
	return !errors.Is(err, fs.ErrNotExist)
}

// publishHere is publishOnce without git. In an ordered journal the sync of the
// refs' folder takes along all that was written before.
func (s *Store) publishHere(ctx context.Context, k *objectWriter, m *moveHere, message string) (settled bool, err error) {
	defer m.Discard()
	settle, err := k.install(ctx, m.Files()...)
	if err != nil {
		return false, err
	}
	if err := k.keepFromGC(ctx, m.moves[0].Name); err != nil {
		return false, err
	}
	if m.inOrder = s.objects.InOrder(m.Files()[0]) && k.batch.Len() <= packAbove; !m.inOrder {
		if err := settle(); err != nil {
			return false, err
		}
	}
	return true, m.commit(ctx, message)
}

// moveRefsHere is moveRefs without git, or refs.ErrNeedsGit.
func (s *Store) moveRefsHere(ctx context.Context, message string, moves []refs.Move) error {
	m, err := s.stage(moves)
	if err != nil {
		return refs.ErrNeedsGit
	}
	defer m.Discard()
	if err := syncFiles(m.Files()); err != nil {
		return err
	}
	return m.commit(ctx, message)
}

// commit moves the refs, with the errors of moveRefs and refs.ErrNeedsGit.
func (m *moveHere) commit(ctx context.Context, message string) error {
	for _, move := range m.moves {
		if !m.s.objects.Has(move.New) { // a gc may have taken it
			return refs.ErrNeedsGit
		}
	}
	by := m.s.people.Committer()
	m.s.issueLock.Begin(message, m.moves)
	defer m.s.issueLock.Done()
	err := m.Commit(refs.ReflogEntry{Name: by.Name, Email: by.Email, At: m.s.now(), Message: message})
	var moved *refs.MovedError
	switch {
	case err == nil && m.inOrder:
		return afterMove(syncNearest(m.s.folderOf(m.moves[len(m.moves)-1]))) // where a name was given last
	case err == nil:
		return afterMove(m.s.syncRefDirs(m.moves))
	case errors.Is(err, refs.ErrNeedsGit):
		return err
	case errors.As(err, &moved):
		return fmt.Errorf("%w: %w", errRefMoved, moved)
	}
	return (&mover{s: m.s, message: message}).settle(ctx, m.moves, true, err)
}
