package objects

import (
	"sync"
	"sync/atomic"
)

// waiters is how many syncs wait for the disk at the same time. Each holds a
// thread; more of them bring nothing (see BenchmarkFlush).
const waiters = 8

// parallel calls f for 0 to n-1, all of them even when one fails, and returns
// the error of the lowest number that failed.
func parallel(n int, f func(int) error) error {
	errs := make([]error, n)
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(n, waiters) {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				errs[i] = f(i)
			}
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
