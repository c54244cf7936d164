package trees

import "github.com/go-git/go-git/v5/plumbing"

// A room bounds what a comparison lists. Ten trees that each have many entries
// for the next one name more files than any disk holds, and one long name
// stands in every path below it: a list may only take as much memory as the
// trees account for that it was made of, each counted once.
type room struct {
	used, given int
	known       map[plumbing.Hash]bool // trees that have been counted
}

const (
	freeRoom = 128 << 20 // bytes that need no trees: folders may be there in many copies
	perByte  = 16        // bytes of a list for each byte of a tree
	perEntry = 128       // bytes that a path takes besides its name
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

// take counts a path, and reports whether there was room for it.
func (r *room) take(path string) bool {
	r.used += perEntry + len(path)
	return r.used <= freeRoom+r.given
}
