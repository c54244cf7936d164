package web

import (
	"context"
	"sync"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// keptChains is how many whole chains are kept.
const keptChains = 4

// chains keeps the chains that were read whole for as long as their refs do
// not move: a page of a long one is a slice then.
type chains struct {
	mu   sync.Mutex
	kept []*gitstore.List // the last one used first
}

// read reads an issue's chain or archive: the newest checkpoints, up to a
// number of them, or all for 0. It may give more.
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

// find is the chain that was kept, if it is still the one that l begins.
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
