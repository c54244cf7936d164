package trees

import "github.com/go-git/go-git/v5/plumbing"

// A room limits the memory of a comparison. Ten nested trees, each with many entries for
// the next tree, contain more files than any disk, and a long name repeats in each path
// below it. So a list may only use memory in proportion to the size of its trees, and
// each tree counts once.
type room struct {
	used, given int
	known       map[plumbing.Hash]bool // counted trees
}

const (
	freeRoom = 128 << 20 // bytes allowed for any trees, because directories may have many copies
	perByte  = 16        // bytes of list per byte of tree
	perEntry = 128       // bytes of an entry beside the path
)

// give counts a tree.
func (r *room) give(tree plumbing.Hash, size int) {
	if r.known[tree] {
		return
	}
	if r.known == nil {
		r.known = map[plumbing.Hash]bool{}
	}
	r.known[tree] = true
	r.given += perByte * size
}

// take counts a path and reports whether it is within the limit.
func (r *room) take(path string) bool {
	r.used += perEntry + len(path)
	return r.used <= freeRoom+r.given
}
