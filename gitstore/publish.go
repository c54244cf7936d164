package gitstore

import (
	"context"
	"errors"

	"git-checkpoint/gitstore/refs"
)

// collections is how many gc in a row may take what is about to be pointed to.
const collections = 20

// publish makes what k holds durable and then moves refs, as moves says. A gc
// that prunes everything may take the objects before a ref points to them:
// then both once more.
func (s *Store) publish(ctx context.Context, k *objectWriter, message string, moves func() ([]refs.Move, error)) error {
	defer k.releaseKeptPack()
	for tries := 0; ; tries++ {
		settled, err := s.publishOnce(ctx, k, message, moves)
		if err == nil || !settled || errors.Is(err, errRefMoved) || isDone(err) || tries == collections || len(k.batch.Missing()) == 0 {
			return err
		}
	}
}

// publishOnce also reports whether the objects were stored. The refs are moved
// here where that can be, else by git, which starts while objects are written.
func (s *Store) publishOnce(ctx context.Context, k *objectWriter, message string, moves func() ([]refs.Move, error)) (settled bool, err error) {
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

func (s *Store) publishList(ctx context.Context, k *objectWriter, message string, list []refs.Move) (settled bool, err error) {
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

// settle makes installed objects durable. Git gets ready to move the refs while
// they are brought to the disk.
func (k *objectWriter) settle(ctx context.Context, m *mover, list []refs.Move, settle func() error) error {
	if err := k.keepFromGC(ctx, list[0].Name); err != nil {
		return err
	}
	m.prepare(list)
	return settle()
}
