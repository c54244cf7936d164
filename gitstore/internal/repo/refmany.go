package repo

import (
	"context"
	"errors"

	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/refs"
)

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
		if err == nil || errors.Is(err, ErrRefMoved) || IsDone(err) || tries == Collections || len(k.batch.Missing()) == 0 {
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
