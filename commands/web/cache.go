package web

import "sync"

// A cache keeps values for all requests. A full cache begins again.
type cache[K comparable, V any] struct {
	mu   sync.Mutex
	kept map[K]V
}

func (c *cache[K, V]) get(key K) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	value, ok = c.kept[key]
	return value, ok
}

func (c *cache[K, V]) put(key K, value V, limit int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil || len(c.kept) >= limit {
		c.kept = map[K]V{}
	}
	c.kept[key] = value
}
