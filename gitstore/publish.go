package gitstore

import (
	"context"
	"errors"
)

// collections is how many gc in a row may take what is about to be pointed to.
const collections = 20

// publish makes what k holds durable and then moves refs, as moves says. A gc
// that prunes everything may take the objects before a ref points to them:
// then both once more.
func (s *Store) publish(ctx context.Context, k *sink, message string, moves func() ([]refMove, error)) error {
	for tries := 0; ; tries++ {
		m, err := s.startMove(ctx, message)
		if err != nil {
			return err
		}
		if err := k.settle(ctx, m, moves); err != nil {
			m.abandon()
			return err
		}
		err = m.commit(ctx)
		if err == nil || errors.Is(err, errLost) || tries == collections || len(k.batch.Missing()) == 0 {
			return err
		}
	}
}

// settle makes objects durable. Git gets ready to move the refs as soon as
// they can be read, while their names are brought to the disk.
func (k *sink) settle(ctx context.Context, m *mover, moves func() ([]refMove, error)) error {
	settle, err := k.install(ctx)
	if err != nil {
		return err
	}
	list, err := moves()
	if err != nil {
		return err
	}
	m.prepare(list)
	return settle()
}
