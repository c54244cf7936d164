//go:build !unix

package refs

// Here says whether refs are moved here on this system. A file that somebody
// reads cannot be replaced everywhere; git knows how to.
const Here = false
