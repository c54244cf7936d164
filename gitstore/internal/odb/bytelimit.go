package odb

import "sync"

// A byteLimit limits the memory of concurrent calls.
type byteLimit struct {
	mu    sync.Mutex
	freed *sync.Cond
	total int64
	used  int64
}

func newByteLimit(total int64) *byteLimit {
	l := &byteLimit{total: total}
	l.freed = sync.NewCond(&l.mu)
	return l
}

// acquire waits until n bytes are free. If n exceeds the limit, it waits until all bytes
// are free.
func (l *byteLimit) acquire(n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.used > 0 && l.used+n > l.total {
		l.freed.Wait()
	}
	l.used += n
}

// release frees the bytes of an acquire.
func (l *byteLimit) release(n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.used -= n
	l.freed.Broadcast()
}
