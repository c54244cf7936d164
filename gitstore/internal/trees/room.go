package trees

import "github.com/go-git/go-git/v5/plumbing"

// A room limits a comparison's memory. Ten nested trees with many references to the next
// tree contain more files than any disk. A long directory name repeats in all paths
// below. So the memory limit of a list depends on the total size of its distinct trees.
type room struct {
	used, given int
	known       map[plumbing.Hash]bool // counted trees
}

const (
	freeRoom = 128 << 20 // minimum limit in bytes, for many copies of directories
	perByte  = 16        // bytes of list per byte of tree
	perEntry = 128       // entry size without path
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

// take counts a path and returns false above the limit.
func (r *room) take(path string) bool {
	r.used += perEntry + len(path)
	return r.used <= freeRoom+r.given
}
