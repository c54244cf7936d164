package repo

import (
	"context"
	"errors"

	"git-checkpoint/gitstore/internal/refs"
)

// Collections limits how many successive gc runs may delete new objects before publish
// fails.
const Collections = 20

// Publish makes the objects of k durable and then moves the refs that moves returns. A gc
// without a grace period may delete the objects before a ref points to them. Then publish
// rewrites missing objects and repeats the move.
func (s *Repo) Publish(ctx context.Context, k *ObjectWriter, message string, moves func() ([]refs.Move, error)) error {
	defer k.ReleaseKeptPack()
	for tries := 0; ; tries++ {
		settled, err := s.publishOnce(ctx, k, message, moves)
		if err == nil || !settled || errors.Is(err, ErrRefMoved) || IsDone(err) || tries == Collections || len(k.batch.Missing()) == 0 {
			return err
		}
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
	if err != nil {
		m.abandon()
		return false, err
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
