package gitstore

import (
	"github.com/go-git/go-git/v5/plumbing"
)

// readHeads bounds the commits that are read before git is asked instead: what
// stands at a ref may be a project's history.
const readHeads = 20_000

// headsOfAll is savedHeads of gifts without a git process, where all that it
// takes is here.
func (s *Store) headsOfAll(gifts []gift) (heads []string, ok bool) {
	twice := map[plumbing.Hash]bool{}
	for _, g := range gifts {
		index, ok := s.indexesAbove(g.tip, g.seen)
		if !ok {
			return nil, false
		}
		for _, hash := range index {
			c, err := s.readCommit(hash)
			if err != nil {
				return nil, false
			}
			if len(c.parents) > 0 && !twice[c.parents[0]] {
				twice[c.parents[0]] = true
				heads = append(heads, c.parents[0].String())
			}
		}
	}
	return heads, true
}

// indexesAbove are the index commits of the checkpoints at tip that are not on
// the chain of seen, which may be zero.
func (s *Store) indexesAbove(tip, seen plumbing.Hash) (index []plumbing.Hash, ok bool) {
	ours, met, ok := s.down(tip, seen)
	if !ok {
		return nil, false
	}
	theirs := map[plumbing.Hash]bool{}
	if !seen.IsZero() && !met {
		list, _, ok := s.down(seen, plumbing.ZeroHash)
		if !ok {
			return nil, false
		}
		for _, c := range list {
			theirs[c.hash] = true
		}
	}
	for _, c := range ours {
		if len(c.parents) > 1 && !theirs[c.hash] {
			index = append(index, c.parents[1])
		}
	}
	return index, true
}

// down follows first parents from tip to end, and says whether it met it.
func (s *Store) down(tip, end plumbing.Hash) (list []rawCommit, met, ok bool) {
	for at := tip; at != end; {
		c, err := s.readCommit(at)
		if err != nil || len(list) == readHeads {
			return nil, false, false
		}
		list = append(list, c)
		if len(c.parents) == 0 {
			return list, false, true
		}
		at = c.parents[0]
	}
	return list, true, true
}
