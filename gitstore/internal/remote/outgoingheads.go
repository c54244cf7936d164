package remote

import "github.com/go-git/go-git/v5/plumbing"

// readHeads limits commits read before git runs instead, because a ref may contain a
// project's whole history.
const readHeads = 20_000

// headsOfAll is savedHeads without a git process. It returns ok only if all required
// commits are local.
func (h Here) headsOfAll(updates []RefUpdate) (heads []string, ok bool) {
	twice := map[plumbing.Hash]bool{}
	for _, g := range updates {
		index, ok := h.indexesAbove(g.Tip, g.Seen)
		if !ok {
			return nil, false
		}
		for _, hash := range index {
			parents, err := h.History.Parents(hash)
			if err != nil {
				return nil, false
			}
			if len(parents) > 0 && !twice[parents[0]] {
				twice[parents[0]] = true
				heads = append(heads, parents[0].String())
			}
		}
	}
	return heads, true
}

// indexesAbove returns index commits of the checkpoints at tip that are missing from the
// chain of seen. seen may be zero.
func (h Here) indexesAbove(tip, seen plumbing.Hash) (index []plumbing.Hash, ok bool) {
	ours, met, ok := h.down(tip, seen)
	if !ok {
		return nil, false
	}
	theirs := map[plumbing.Hash]bool{}
	if !seen.IsZero() && !met {
		list, _, ok := h.down(seen, plumbing.ZeroHash)
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

// A step is a commit of a first-parent walk.
type step struct {
	hash    plumbing.Hash
	parents []plumbing.Hash
}

// down follows first parents from tip and reports whether it reached end.
func (h Here) down(tip, end plumbing.Hash) (list []step, met, ok bool) {
	for at := tip; at != end; {
		parents, err := h.History.Parents(at)
		if err != nil || len(list) == readHeads {
			return nil, false, false
		}
		list = append(list, step{at, parents})
		if len(parents) == 0 {
			return list, false, true
		}
		at = parents[0]
	}
	return list, true, true
}
