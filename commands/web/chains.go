package web

import (
	"context"
	"sync"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// keptChains limits cached complete chains.
const keptChains = 4

// chains caches completely read chains until their refs change. A page of a long chain is
// then a slice.
type chains struct {
	mu   sync.Mutex
	kept []*gitstore.List // most recently used first
}

// read returns an issue's chain or archive: at least the newest checkpoints, or all
// checkpoints if newest is 0.
func (c *chains) read(ctx context.Context, s *gitstore.Store, i checkpoint.Issue, archived bool, newest int) (*gitstore.List, error) {
	list := s.List
	if archived {
		list = s.Archived
	}
	l, err := list(ctx, i, max(newest, 1))
	if err != nil || l.Complete && newest > 0 {
		return l, err
	}
	if whole := c.find(l); whole != nil {
		return whole, nil
	}
	if newest > 0 {
		return l, nil
	}
	if l, err = list(ctx, i, 0); err == nil {
		c.keep(l)
	}
	return l, err
}

// find returns the cached chain with the ref and tip of l, or nil.
func (c *chains) find(l *gitstore.List) *gitstore.List {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, kept := range c.kept {
		if kept.Ref == l.Ref && kept.Tip == l.Tip {
			return kept
		}
	}
	return nil
}

func (c *chains) keep(l *gitstore.List) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept := []*gitstore.List{l}
	for _, old := range c.kept {
		if old.Ref != l.Ref && len(kept) < keptChains {
			kept = append(kept, old)
		}
	}
	c.kept = kept
}
