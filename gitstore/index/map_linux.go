package index

import "golang.org/x/sys/unix"

// populate makes the kernel fill the page table at once: every page is going
// to be looked at, and a fault for each costs more than the walk.
const populate = unix.MAP_POPULATE
