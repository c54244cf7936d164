package repo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/refs"
)

// A moveHere is a set of refs that this process moves without git.
type moveHere struct {
	s     *Repo
	moves []refs.Move
	*refs.Moving

	inOrder bool // one sync makes all earlier writes durable too
}

// stage prepares a move of refs without git. It fails with refs.ErrNeedsGit if git has to
// move them.
func (s *Repo) stage(moves []refs.Move) (*moveHere, error) {
	if !s.MovesHere() {
		return nil, refs.ErrNeedsGit
	}
	staged, err := s.RefDir().Stage(moves)
	if err != nil {
		return nil, err
	}
	return &moveHere{s: s, moves: moves, Moving: staged}, nil
}

// MovesHere reports whether this process may move refs itself. The refs must be files,
// without a hook and outside of a quarantine. All affected issues must be locked: the
// issue locks exclude other processes of this program, and their notes allow a recovery
// if this process is killed.
func (s *Repo) MovesHere() bool {
	return refs.Here && s.IssueLock.HeldAll() && s.Info.RefFormat == "files" && os.Getenv("GIT_QUARANTINE_PATH") == "" && !s.hooked()
}

// hooked reports whether a reference-transaction hook may exist. Only git runs hooks.
func (s *Repo) hooked() bool {
	if slices.ContainsFunc(s.Config, func(e git.ConfigEntry) bool { return strings.HasPrefix(e.Key, "hook.") }) {
		return true
	}
	dir := filepath.Join(s.Info.CommonDir, "hooks")
	if path, set := git.Last(s.Config, "core.hookspath"); set {
		switch {
		case filepath.IsAbs(path):
			dir = path
		case path == "" || strings.ContainsAny(path[:1], "~%") || s.Info.Root == "":
			return true
		default:
			dir = filepath.Join(s.Info.Root, path)
		}
	}
	_, err := os.Lstat(filepath.Join(dir, "reference-transaction"))
	return !errors.Is(err, fs.ErrNotExist)
}

// publishHere is publishOnce without git. If the file system's journal preserves order,
// the sync of the refs' folder also makes all earlier writes durable.
func (s *Repo) publishHere(ctx context.Context, k *ObjectWriter, m *moveHere, message string) (settled bool, err error) {
	defer m.Discard()
	settle, err := k.install(ctx, m.Files()...)
	if err != nil {
		return false, err
	}
	if err := k.KeepFromGC(ctx, m.moves[0].Name); err != nil {
		return false, err
	}
	if m.inOrder = s.Objects.InOrder(m.Files()[0]) && k.batch.Len() <= packAbove; !m.inOrder {
		if err := settle(); err != nil {
			return false, err
		}
	}
	return true, m.commit(ctx, message)
}

// MoveRefsHere is MoveRefs without git. It fails with refs.ErrNeedsGit if git must move
// refs.
func (s *Repo) MoveRefsHere(ctx context.Context, message string, moves []refs.Move) error {
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

// commit moves the refs, with the errors of MoveRefs and refs.ErrNeedsGit.
func (m *moveHere) commit(ctx context.Context, message string) error {
	for _, move := range m.moves {
		if !m.s.Objects.Has(move.New) { // a gc may have deleted it
			return refs.ErrNeedsGit
		}
	}
	by := m.s.people.Committer()
	m.s.IssueLock.Begin(message, m.moves)
	defer m.s.IssueLock.Done()
	err := m.Commit(refs.ReflogEntry{Name: by.Name, Email: by.Email, At: m.s.Now(), Message: message})
	var moved *refs.MovedError
	switch {
	case err == nil && m.inOrder:
		return AfterMove(SyncNearest(m.s.folderOf(m.moves[len(m.moves)-1]))) // folder of the last rename
	case err == nil:
		return AfterMove(m.s.syncRefDirs(m.moves))
	case errors.Is(err, refs.ErrNeedsGit):
		return err
	case errors.As(err, &moved):
		return fmt.Errorf("%w: %w", ErrRefMoved, moved)
	}
	return (&mover{s: m.s, message: message}).settle(ctx, m.moves, true, err)
}
