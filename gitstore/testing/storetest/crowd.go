package storetest

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/retention"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Number of concurrent writers, each with a separate handle, and of saves per writer.
const (
	writers = 4
	each    = 4
)

// together runs f for all writers concurrently and fails if a call fails.
func (t *trial) together(f func(s Subject, writer int) error) {
	t.Helper()
	var (
		start = make(chan struct{})
		done  sync.WaitGroup
		errs  = make([]error, writers)
	)
	for w := range writers {
		s := t.Open()
		done.Go(func() {
			<-start
			errs[w] = f(s, w)
		})
	}
	close(start)
	done.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
}

// crowd saves with all writers concurrently. Each save increments a counter in the
// record.
func (t *trial) crowd() (saved [][]checkpoint.ID) {
	t.Helper()
	saved = make([][]checkpoint.ID, writers)
	t.together(func(s Subject, w int) error {
		for range each {
			t.clock.Add(1)
			got, err := s.Save(t.ctx, request(issue, checkpoint.Manual, countUp))
			if err != nil {
				return err
			}
			saved[w] = append(saved[w], got.ID)
		}
		return nil
	})
	return saved
}

func countUp(r *checkpoint.Record) {
	n, _ := r.Doc().Get("count")
	number, _ := n.(checkpoint.Number)
	count, _ := number.Int()
	r.Doc().Set("count", checkpoint.Int(count+1))
}

func crowdPromises() []Promise {
	return []Promise{
		{Name: "crowd/every save is there once", hold: func(t *trial) {
			var want []checkpoint.ID
			for _, ids := range t.crowd() {
				want = append(want, ids...)
			}
			assert.ElementsMatch(t, want, t.live())
		}},
		{Name: "crowd/every save starts from the one right before it", hold: func(t *trial) {
			t.crowd()
			list := t.list(issue)
			for k := range list {
				n, _ := t.record(&list[k]).Doc().Get("count")
				assert.Equal(t, checkpoint.Int(int64(len(list)-k)), n, "%d below the tip", k)
			}
		}},
		{Name: "crowd/the saves of each stay in their order", hold: func(t *trial) {
			saved, at := t.crowd(), map[checkpoint.ID]int{}
			for k, id := range t.live() {
				at[id] = k
			}
			for _, ids := range saved {
				for k := range ids[1:] {
					assert.Greater(t, at[ids[k]], at[ids[k+1]])
				}
			}
		}},
		{Name: "crowd/clocks rise", hold: func(t *trial) {
			t.crowd()
			list := t.list(issue)
			for k := range list[1:] {
				assert.Greater(t, list[k].Clock, list[k+1].Clock)
			}
		}},
		{Name: "crowd/issues do not disturb each other", hold: func(t *trial) {
			t.together(func(s Subject, w int) error {
				for range each {
					if _, err := s.Save(t.ctx, request(own(w), checkpoint.Manual)); err != nil {
						return err
					}
				}
				return nil
			})
			for w := range writers {
				assert.Len(t, t.list(own(w)), each)
			}
		}},
		{Name: "crowd/pins and drops beside saves all hold", hold: func(t *trial) {
			ids := t.chain(2 * writers)
			t.together(func(s Subject, w int) error {
				if _, err := s.Pin(t.ctx, issue, ids[2*w], true); err != nil {
					return err
				}
				if err := s.Drop(t.ctx, issue, ids[2*w+1:2*w+2]); err != nil {
					return err
				}
				_, err := s.Save(t.ctx, request(issue, checkpoint.Manual))
				return err
			})
			list := t.list(issue)
			require.Len(t, list, 2*writers)
			for k, c := range list[writers:] {
				assert.Equal(t, ids[2*k], c.ID)
				assert.True(t, c.Pinned, "%s", c.ID)
			}
		}},
		{Name: "crowd/archivings beside saves lose nothing", hold: func(t *trial) {
			ids := t.chain(writers)
			t.together(func(s Subject, w int) error {
				if _, err := s.Archive(t.ctx, issue, ids[w:w+1], retention.ReasonAsked); err != nil {
					return err
				}
				_, err := s.Save(t.ctx, request(issue, checkpoint.Manual))
				return err
			})
			assert.Equal(t, ids, idsOf(t.archived()))
			assert.Len(t, t.live(), writers)
		}},
		{Name: "crowd/a reader beside drops sees what is left in order", hold: func(t *trial) {
			all := t.chain(3 * writers)
			end := t.read(leftOf(all))
			t.together(func(s Subject, w int) error { return s.Drop(t.ctx, issue, []checkpoint.ID{all[3*w], all[3*w+2]}) })
			require.NoError(t, end())
			assert.Len(t, t.live(), writers)
		}},
		{Name: "crowd/a reader sees a whole chain at any time", hold: func(t *trial) {
			end := t.read(onTopOf(t.chain(3)))
			t.crowd()
			require.NoError(t, end())
		}},
	}
}

func own(writer int) checkpoint.Issue { return checkpoint.Issue(fmt.Sprint("own-", writer)) }

// A look checks a chain and returns an error if the chain is invalid.
type look func(s Subject, list []gitstore.Checkpoint) error

// onTopOf checks that existing checkpoints remain and new checkpoints are added at the
// tip.
func onTopOf(below []checkpoint.ID) look {
	return func(s Subject, list []gitstore.Checkpoint) error {
		ids := idsOf(list)
		from := len(ids) - len(below)
		if from < 0 || !slices.Equal(below, ids[from:]) {
			return fmt.Errorf("after %v there was %v", below, ids)
		}
		below = ids
		return readable(s, list[:from])
	}
}

// leftOf checks that no checkpoint is added, and that the remaining checkpoints keep
// their order.
func leftOf(all []checkpoint.ID) look {
	return func(_ Subject, list []gitstore.Checkpoint) error {
		ids := idsOf(list)
		left := slices.DeleteFunc(slices.Clone(all), func(id checkpoint.ID) bool { return !slices.Contains(ids, id) })
		if !slices.Equal(left, ids) {
			return fmt.Errorf("of %v there was %v", all, ids)
		}
		all = left
		return nil
	}
}

// read checks the chain repeatedly through a separate handle until end is called, then a
// final time. end returns the first error.
func (t *trial) read(f look) (end func() error) {
	s, stop, done := t.Open(), make(chan struct{}), make(chan struct{})
	err := errors.New("the reader gave up")
	go func() {
		defer close(done)
		err = t.lookUntil(stop, s, f)
	}()
	return func() error {
		close(stop)
		<-done
		return err
	}
}

func (t *trial) lookUntil(stop chan struct{}, s Subject, f look) error {
	for last := false; !last; {
		select {
		case <-stop:
			last = true
		case <-t.ctx.Done(): // the test has ended because a writer failed
			last = true
		default:
		}
		l, err := s.List(t.ctx, issue, 0)
		if err != nil {
			return err
		}
		if err := f(s, l.Checkpoints); err != nil {
			return err
		}
	}
	return nil
}

func readable(s Subject, list []gitstore.Checkpoint) error {
	for i := range list {
		if _, err := s.VerifiedRecord(&list[i]); err != nil {
			return err
		}
	}
	return nil
}
