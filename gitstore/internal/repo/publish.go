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

// Collections limits how many successive gc runs may delete new objects before publish
// fails.
const Collections = 20

// Publish makes the objects of k durable and then moves the refs that moves returns. A gc
// without a grace period may delete the objects before a ref points to them. Then Publish
// rewrites missing objects and repeats the move. If an object of another process is missing,
// Publish changes no ref and fails with ErrObjectsGone.
func (s *Repo) Publish(ctx context.Context, k *ObjectWriter, message string, moves func() ([]refs.Move, error)) error {
	defer k.ReleaseKeptPack()
	for tries := 0; ; tries++ {
		settled, err := s.publishOnce(ctx, k, message, moves)
		if err == nil {
			s.noteLoose(k)
		}
		if err == nil || !settled || errors.Is(err, ErrRefMoved) || IsDone(err) || tries == Collections || !k.vanished(err) {
			return k.goneBefore(err)
		}
	}
}

// vanished reports whether an error has the cause that a gc removed objects.
func (k *ObjectWriter) vanished(err error) bool {
	return errors.Is(err, errVanished) || len(k.batch.Missing()) > 0
}

// goneBefore is gone for an error of Publish. Other errors have their own meaning.
func (k *ObjectWriter) goneBefore(err error) error {
	if errors.Is(err, ErrRefMoved) || IsDone(err) {
		return err
	}
	return k.gone(err)
}

// takeBack moves the refs of Publish back to their former values.
func (s *Repo) takeBack(ctx context.Context, k *ObjectWriter) error {
	var back []refs.Move
	for _, m := range slices.Backward(k.moves) {
		back = append(back, refs.Move{Name: m.Name, Old: m.New, New: m.Old})
	}
	if len(back) == 0 || !s.haveAll(back) {
		return errVanished
	}
	if err := s.MoveRefs(ctx, Shorten(refs.RollbackPrefix+k.message), back...); err != nil {
		return err
	}
	for _, m := range back {
		if err := s.forgetEntries(ctx, m); err != nil {
			s.Notify("the reflog of %s has an incomplete commit: %v", m.Name, err)
		}
	}
	return nil
}

// forgetEntries removes the reflog entries of a move and of its rollback back. For git fsck,
// an entry with an incomplete commit is an error.
func (s *Repo) forgetEntries(ctx context.Context, back refs.Move) error {
	entries, err := s.EveryEntry(ctx, back.Name)
	if err != nil || back.New.IsZero() { // git deletes the reflog with the ref
		return err
	}
	return s.Noted("rollback", []refs.Move{{Name: back.Name, Old: back.New, New: back.New}}, func(g git.Git) error {
		for i, e := range slices.Backward(entries) {
			if e.Old != back.Old && e.New != back.Old {
				continue
			}
			if _, err := g.Output(ctx, "reflog", "delete", fmt.Sprintf("%s@{%d}", back.Name, i)); err != nil {
				return err
			}
		}
		return nil
	})
}

// pause calls the hook of a test.
func (s *Repo) pause(point string) {
	if s.AtPoint != nil {
		s.AtPoint(point)
	}
}

// publishOnce also reports whether objects were stored. If possible, this process moves
// refs itself. Otherwise git moves them, and starts while the objects are written.
func (s *Repo) publishOnce(ctx context.Context, k *ObjectWriter, message string, moves func() ([]refs.Move, error)) (settled bool, err error) {
	list, err := moves()
	if err != nil {
		return false, err
	}
	note, err := s.syncOthers(k, list)
	if err != nil {
		return false, err
	}
	settled, err = s.publishList(ctx, k, message, list)
	note.end(err)
	if err == nil || IsDone(err) {
		k.message, k.moves = message, list
	}
	return settled, err
}

func (s *Repo) publishList(ctx context.Context, k *ObjectWriter, message string, list []refs.Move) (settled bool, err error) {
	if m, err := s.stage(list); err == nil {
		settled, err := s.publishHere(ctx, k, m, message)
		if !errors.Is(err, refs.ErrNeedsGit) {
			return settled, err
		}
	}
	begun := s.beginMove(ctx, message)
	settle, err := k.install(ctx)
	m, startErr := begun()
	if startErr != nil {
		return false, startErr
	}
	if err == nil {
		err = k.settle(ctx, m, list, settle)
	}
	if err == nil {
		err = k.checkExist()
	}
	if err != nil {
		m.abandon()
		return errors.Is(err, errVanished), err
	}
	return true, m.commit(ctx)
}

// settle makes installed objects durable. Meanwhile git prepares the ref move.
func (k *ObjectWriter) settle(ctx context.Context, m *mover, list []refs.Move, settle func() error) error {
	if err := k.KeepFromGC(ctx, list[0].Name); err != nil {
		return err
	}
	m.prepare(list)
	return settle()
}

// manyMoves is the number of moves above which one sync of the whole disk replaces a sync
// for each ref, if the system supports it. Otherwise 3,000 syncs take seconds.
const manyMoves = 64

// PublishMany is publish for the refs of many issues. The moves are known beforehand. Git
// does not start early, because this would save negligible time.
func (s *Repo) PublishMany(ctx context.Context, k *ObjectWriter, message string, moves []refs.Move) error {
	if len(moves) <= manyMoves || !canSyncAll || !s.gitAnswers(ctx) {
		return s.Publish(ctx, k, message, func() ([]refs.Move, error) { return moves, nil })
	}
	defer k.ReleaseKeptPack()
	for tries := 0; ; tries++ {
		err := s.publishManyOnce(ctx, k, message, moves)
		if err == nil {
			s.noteLoose(k)
		}
		if err == nil || errors.Is(err, ErrRefMoved) || IsDone(err) || tries == Collections || !k.vanished(err) {
			return err
		}
	}
}

// gitAnswers reports whether git update-ref prints "prepare: ok" before it reads the
// commit command. A git before 2.34 buffers this line until it ends.
func (s *Repo) gitAnswers(ctx context.Context) bool {
	version, err := s.Git.Version(ctx)
	return err == nil && version.AtLeast(2, 34)
}

func (s *Repo) publishManyOnce(ctx context.Context, k *ObjectWriter, message string, moves []refs.Move) (err error) {
	note, err := s.syncOthers(k, moves)
	if err != nil {
		return err
	}
	defer func() { note.end(err) }()
	if err := k.Flush(ctx); err != nil {
		return err
	}
	if err := k.KeepFromGC(ctx, moves[0].Name); err != nil {
		return err
	}
	if err := k.checkExist(); err != nil {
		return err
	}
	return s.moveMany(ctx, message, moves)
}

// moveMany is MoveRefs with one whole-disk sync. The sync happens between git's writing
// and git's renaming of all lock files.
func (s *Repo) moveMany(ctx context.Context, message string, moves []refs.Move) error {
	m, err := s.startMover(ctx, message, git.Git.Talk, "-c", "core.fsync=none")
	if err != nil {
		return err
	}
	m.prepare(moves)
	if m.run.Await("prepare: ok") {
		if err := syncAll(s.Info.CommonDir); err != nil {
			m.abandon()
			return err
		}
	} // otherwise commit reports why git ended
	return m.commit(ctx)
}

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
		case path == "" || strings.ContainsAny(path[:1], "~%:") || s.Info.Root == "":
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
	if m.inOrder = s.Objects.InOrder(m.Files()[0]) && !k.batch.Packed(); !m.inOrder {
		if err := settle(); err != nil {
			return false, err
		}
	}
	if err := k.checkExist(); err != nil {
		return true, err
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
	defer traceMoves(m.moves)()
	by := m.s.people.Committer()
	m.s.IssueLock.Begin(message, m.moves)
	defer m.s.IssueLock.Done()
	err := m.Commit(refs.ReflogEntry{Name: by.Name, Email: by.Email, At: m.s.Now(), Message: message})
	if err == nil {
		m.s.noteOwn(m.moves)
	}
	var moved *refs.MovedError
	switch {
	case err == nil && m.inOrder:
		return AfterMove(SyncNearest(m.s.folderOf(m.moves[len(m.moves)-1]))) // folder of the last rename
	case err == nil:
		return AfterMove(m.s.syncRefDirs(m.moves))
	case errors.Is(err, refs.ErrNeedsGit):
		return err
	case errors.As(err, &moved):
		if err := m.s.checkTaken(m.moves); err != nil {
			return err
		}
		return fmt.Errorf("%w: %w", ErrRefMoved, moved)
	}
	return (&mover{s: m.s, message: message}).settle(ctx, m.moves, true, err)
}
