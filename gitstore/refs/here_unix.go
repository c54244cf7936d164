//go:build unix

package refs

// Here says whether refs are moved here on this system.
const Here = true
