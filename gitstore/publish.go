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
		var list []refMove
		if err = k.flush(ctx); err == nil {
			list, err = moves()
		}
		if err != nil {
			m.abandon()
			return err
		}
		err = m.finish(ctx, list)
		if err == nil || errors.Is(err, errLost) || tries == collections || len(k.batch.Missing()) == 0 {
			return err
		}
	}
}
