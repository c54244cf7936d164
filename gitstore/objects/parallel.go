package objects

import (
	"sync"
	"sync/atomic"
)

// waiters is how many syncs wait for the disk at the same time, each in a
// thread. The journal takes what waits together in one commit: 20 objects
// with their directories took 13 ms one by one, 7 ms by 8 and by 16 at a
// time, no less by 32; one sync for all in an ordered journal takes 4 ms.
const waiters = 16

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
